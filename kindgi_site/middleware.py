"""What every request passes: its id, the contract's headers, the limit on bodies, sign-in, refusals as pages."""

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.urls import reverse
from django.utils.translation import gettext as _
from django_htmx.http import HttpResponseClientRedirect

from kindgi_site import pages
from kindgi_site.api.errors import error_response, wants_json
from kindgi_site.errors import Code, DomainError
from kindgi_site.http_status import status_of
from kindgi_site.keys import new_id
from kindgi_site.workspaces.requests import open_workspace

GetResponse = Callable[[HttpRequest], HttpResponseBase]

_REQUEST_ID = re.compile(r"[\x21-\x7e]{1,200}")


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


class PackedPagesMiddleware(GZipMiddleware):
    """Pages go packed to browsers that take it. What programs read stays as it is written."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        is_page = response.get("Content-Type", "").startswith("text/html")
        return super().process_response(request, response) if is_page else response


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
        if not open_workspace(request):
            message = _("You are not a member of any workspace yet. Ask an administrator to add you.")
            return pages.render_problem(request, 403, message)
        return None


class DomainErrorMiddleware:
    """A refusal that a page did not catch, of the domain or of a method, becomes the error page or fragment."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if not isinstance(response, HttpResponseNotAllowed) or wants_json(request):
            return response
        message = _("There is nothing to read at this address: it only takes what a form sends.")
        refused = pages.render_problem(request, response.status_code, message)
        refused["Allow"] = response["Allow"]
        return refused

    def process_exception(self, request: HttpRequest, problem: Exception) -> HttpResponse | None:
        if not isinstance(problem, DomainError):
            return None
        return pages.render_problem(request, status_of(problem), problem.message)


def is_wire_path(path: str) -> bool:
    return path == "/v1" or path.startswith("/v1/")


def _to_login(request: HttpRequest) -> HttpResponseBase:
    """To the sign-in page and back to the page the person sees: the address of a fragment or a form shows none."""
    is_htmx = bool(request.headers.get("HX-Request"))
    is_read = request.method in ("GET", "HEAD")
    if not is_read:
        messages.warning(
            request, _("You were signed out, and what you just sent was not saved. Sign in and repeat it.")
        )
    if is_read and not is_htmx:
        return redirect_to_login(request.get_full_path())
    back = _path_of(request.headers.get("HX-Current-URL" if is_htmx else "Referer", ""))
    address = f"{reverse('login')}?{urlencode({'next': back or '/'})}"
    return HttpResponseClientRedirect(address) if is_htmx else HttpResponseRedirect(address)


def _path_of(address: str) -> str:
    """What stands behind the host, with the query; '' for what is no address."""
    try:
        seen = urlsplit(address)
    except ValueError:
        return ""
    return seen.path + (f"?{seen.query}" if seen.query else "")
