"""Django's own refusals, in the contract's envelope for programs and as a page for people."""

from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from kindgi_site import pages
from kindgi_site.api.errors import error_response, server_error, wants_json
from kindgi_site.errors import Code
from kindgi_site.workspaces.requests import open_workspace


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _refused(request, 400, Code.BAD_INPUT, _("The request cannot be understood."))


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _refused(request, 403, Code.PERMISSION_DENIED, _("You may not do this."))


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """No view was chosen for an unknown address, so nobody has opened the workspace whose pages one may go on to."""
    if request.user.is_authenticated and not hasattr(request, "membership") and not wants_json(request):
        open_workspace(request)
    return _refused(request, 404, Code.ROUTE_NOT_FOUND, _("There is nothing at this address."))


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    message = _("This form is too old or came from elsewhere. Load the page again and repeat what you did.")
    return _refused(request, 403, Code.PERMISSION_DENIED, message)


def too_many_guesses(request: HttpRequest, _answer: HttpResponse, _credentials: dict[str, str]) -> HttpResponse:
    """Instead of the answer to a sign-in, right or wrong, that came after too many wrong ones."""
    wait: timedelta = settings.AXES_COOLOFF_TIME
    minutes = round(wait.total_seconds() / 60)
    message = ngettext(
        "Too many attempts to sign in with this name. Try again in %(count)d minute.",
        "Too many attempts to sign in with this name. Try again in %(count)d minutes.",
        minutes,
    ) % {"count": minutes}
    response = pages.render_problem(request, 429, message)
    response["Retry-After"] = str(minutes * 60)
    return response


def server_failed(request: HttpRequest) -> HttpResponse:
    if wants_json(request):
        return server_error(request)
    if not hasattr(request, "membership"):
        # What failed may be the look for who is signed in; the page must not look again.
        request.user = AnonymousUser()
    return pages.render_problem(request, 500, _("Something went wrong on the server. What you typed was not saved."))


def _refused(request: HttpRequest, status: int, code: Code, message: str) -> HttpResponse:
    if wants_json(request):
        return error_response(request, status, code, message)
    return pages.render_problem(request, status, message)
