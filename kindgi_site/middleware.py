"""What every request passes: its id, the contract's headers, the limit on bodies, sign-in, refusals as pages."""

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext as _
from django_htmx.http import HttpResponseClientRedirect

from kindgi_site import pages
from kindgi_site.api.errors import error_response, wants_json
from kindgi_site.errors import Code, DomainError
from kindgi_site.http_status import status_of
from kindgi_site.keys import new_id
from kindgi_site.workspaces.models import Membership
from kindgi_site.workspaces.queries.callers import caller_of_membership, memberships_of

GetResponse = Callable[[HttpRequest], HttpResponseBase]

_REQUEST_ID = re.compile(r"[\x21-\x7e]{1,200}")
WORKSPACE_SESSION_KEY = "workspace"


class RequestIdMiddleware:
    """Contract stage 1. Outermost, so that every answer carries the id, refusals of other middleware too."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        sent = request.headers.get("X-Request-Id", "")
        request.request_id = sent if _REQUEST_ID.fullmatch(sent) else f"req-{new_id()}"  # type: ignore[attr-defined]
        response = self.get_response(request)
        response["X-Request-Id"] = request.request_id  # type: ignore[attr-defined]
        return response


class WireHeadersMiddleware:
    """Contract stage 3 and HEAD: no answer of /v1 is stored anywhere, and HEAD is GET without its body."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if is_wire_path(request.path_info):
            response["Cache-Control"] = "no-store"
        if request.method == "HEAD" and isinstance(response, HttpResponse):
            length = str(len(response.content))
            response.content = b""
            response["Content-Length"] = length
        return response


class BodyLimitMiddleware:
    """Contract stage 2, before anybody is authenticated: a body over the limit is refused unread."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        limit = settings.MAX_BODY_BYTES
        try:
            length = int(request.META.get("CONTENT_LENGTH") or 0)
        except ValueError:
            length = 0
        if length <= limit:
            return self.get_response(request)
        message = _("The request is larger than the %(limit)d bytes this server takes.") % {"limit": limit}
        response: HttpResponse
        if wants_json(request):
            response = error_response(request, 413, Code.REQUEST_TOO_LARGE, message, {"maxBytes": limit})
        else:
            response = pages.render_problem(request, 413, message)
        # The body was not read, so the connection cannot carry another request.
        response["Connection"] = "close"
        return response


class SignedInMiddleware:
    """Pages are for signed-in members of a workspace; views that say `login_required = False` are for anybody.

    Sets `request.caller` and `request.membership`.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], _args: object, _kwargs: object
    ) -> HttpResponseBase | None:
        if not getattr(view, "login_required", True) or request.path_info.startswith(reverse("admin:index")):
            return None
        if not request.user.is_authenticated:
            return _to_login(request)
        membership = _open_membership(request)
        if membership is None:
            message = _("You are not a member of any workspace yet. Ask an administrator to add you.")
            return pages.render_problem(request, 403, message)
        request.membership = membership  # type: ignore[attr-defined]
        request.caller = caller_of_membership(membership, request.request_id)  # type: ignore[attr-defined]
        return None


class DomainErrorMiddleware:
    """A refusal of the domain that a page did not catch becomes the error page or fragment."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, problem: Exception) -> HttpResponse | None:
        if not isinstance(problem, DomainError):
            return None
        return pages.render_problem(request, status_of(problem), problem.message)


def is_wire_path(path: str) -> bool:
    return path == "/v1" or path.startswith("/v1/")


def _open_membership(request: HttpRequest) -> Membership | None:
    """The membership of the workspace chosen in this session, else the oldest one."""
    memberships = list(memberships_of(request.user))  # type: ignore[arg-type]
    chosen = request.session.get(WORKSPACE_SESSION_KEY)
    request.memberships = memberships  # type: ignore[attr-defined]
    return next((m for m in memberships if str(m.workspace_id) == chosen), memberships[0] if memberships else None)


def _to_login(request: HttpRequest) -> HttpResponseBase:
    """To the sign-in page and back: for htmx to the page the person sees, not to the fragment's address."""
    if not request.headers.get("HX-Request"):
        return redirect_to_login(request.get_full_path())
    seen = urlsplit(request.headers.get("HX-Current-URL", ""))
    back = seen.path + (f"?{seen.query}" if seen.query else "")
    return HttpResponseClientRedirect(f"{reverse('login')}?{urlencode({'next': back or '/'})}")
