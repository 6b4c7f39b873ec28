"""V1View: every /v1 request passes the contract's stages in the contract's order (section 1).

Stages 1 to 3 (request id, body limit, no-store) are middleware, since they hold for every answer.
"""

import re
from collections.abc import Callable
from typing import Any, ClassVar
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from rest_framework.response import Response
from rest_framework.views import APIView

from kindgi_site.api.auth import authenticate
from kindgi_site.api.bodies import uuid_of
from kindgi_site.api.cursors import CursorPlace, Paging, limit_of, open_cursor
from kindgi_site.api.documents import Document, read_document
from kindgi_site.api.errors import HttpRefusal, response_to
from kindgi_site.api.idempotency import answered_once
from kindgi_site.api.limits import count_request
from kindgi_site.callers import Action, Caller
from kindgi_site.errors import Code, ForbiddenError, InvalidError
from kindgi_site.workspaces.models import Workspace
from kindgi_site.workspaces.queries.projects import project_in_workspace

_METHODS = frozenset({"get", "head", "post", "put", "patch", "delete"})
_PATH_PROJECT = re.compile(r"/projects/([^/]+)")


class V1View(APIView):
    """A route of /v1. Handlers read `self.caller`, `self.document`, `self.paging` and return a Response."""

    # Routes whose POST or PUT names its project in the body (stage 11).
    project_in_body: ClassVar[bool] = False

    caller: Caller
    workspace: Workspace
    document: Document
    paging: Paging

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        self.args, self.kwargs, self.headers = args, kwargs, {}
        self.request = self.initialize_request(request, *args, **kwargs)
        try:
            return self._staged(request)
        except Exception as problem:  # stage 13: whatever it is, the client gets the contract's shape
            return response_to(request, problem)

    def _staged(self, request: HttpRequest) -> HttpResponse:
        self.caller, key = authenticate(request)  # 4
        self.workspace = key.workspace
        self.document = read_document(request.body)  # 5, 6
        self._check_key_project(request)  # 7
        self._open_cursor(request)  # 8
        count_request(self.workspace)  # 9
        return answered_once(request, self.caller, self.document.raw, self._prepare, self._route)  # 10

    def _prepare(self, keep_hold: Callable[[], None]) -> None:
        """A route with a `before_post` does there what must not be waited for in a transaction."""
        prepare = getattr(self, f"before_{(self.request.method or '').lower()}", None)
        if prepare is not None:
            prepare(keep_hold, *self.args, **self.kwargs)

    def _route(self) -> HttpResponse:
        method = (self.request.method or "").lower()
        handler = getattr(self, method, None) if method in _METHODS else None
        if handler is None:
            raise route_not_found()
        self.check_path()
        self._check_body_project()  # 11
        answer: Response = handler(self.request, *self.args, **self.kwargs)  # 12
        response: Response = self.finalize_response(self.request, answer, *self.args, **self.kwargs)
        response.render()
        return response

    def _check_key_project(self, request: HttpRequest) -> None:
        limited_to = self.caller.key_project_id
        if limited_to is None:
            return
        for named in self._projects_named(request):
            if named != limited_to:
                reason = "This API key is limited to another project."
                raise ForbiddenError(
                    Code.KEY_PROJECT_MISMATCH,
                    reason,
                    keyProjectId=str(limited_to),
                    projectId=str(named),
                    action=Action.READ if request.method in ("GET", "HEAD") else Action.WRITE,
                    resource={"type": "project", "id": str(named)},
                    reason=reason,
                )

    def _projects_named(self, request: HttpRequest) -> list[UUID]:
        """The projects a request names in its path, its query or its body; what is no UUID is the route's to refuse."""
        in_path = _PATH_PROJECT.search(request.path)
        named: list[Any] = [in_path[1] if in_path else None, *request.GET.getlist("projectId")]
        if "project" in request.GET.getlist("scopeKind"):
            named += request.GET.getlist("scopeId")
        body = self.document.value
        if request.method in ("POST", "PUT", "PATCH") and isinstance(body, dict):
            scope = body.get("scope")
            named += [body.get("projectId"), scope.get("projectId") if isinstance(scope, dict) else None]
        return [found for name in named if (found := uuid_of(name)) is not None]

    def _open_cursor(self, request: HttpRequest) -> None:
        place = CursorPlace.of(request, self.caller)
        sealed = request.GET.get("cursor", "") if request.method in ("GET", "HEAD") else ""
        self.paging = Paging(
            limit=limit_of(request.GET.get("limit")),
            after=open_cursor(sealed, place) if sealed else None,
            place=place,
        )

    def check_path(self) -> None:
        """A route whose path is refused before the project that its body names does so here."""

    def _check_body_project(self) -> None:
        body = self.document.value
        if not self.project_in_body or self.request.method not in ("POST", "PUT") or not isinstance(body, dict):
            return
        if "projectId" in body:
            project_id = uuid_of(body["projectId"])
            if project_id is None:
                raise InvalidError(Code.BAD_INPUT, "projectId must be a UUID.", field="projectId")
            project_in_workspace(self.caller.workspace_id, project_id)


class SecretResponse(Response):
    """An answer that is shown once: idempotency keeps none of it."""

    is_secret = True


class UnknownRouteView(V1View):
    """Any other path under /v1: known callers learn that there is nothing here, others that they are not known."""

    schema = None


def route_not_found() -> HttpRefusal:
    return HttpRefusal(404, Code.ROUTE_NOT_FOUND, "There is nothing at this address for this method.")


def path_uuid(text: str, name: str) -> UUID:
    """A path id that must be a UUID (contract 1.1); InvalidError `bad-input` otherwise."""
    found = uuid_of(text)
    if found is None:
        raise InvalidError(Code.BAD_INPUT, f"{name} must be a UUID.", field=name)
    return found
