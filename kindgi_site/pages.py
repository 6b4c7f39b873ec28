"""How a view answers: a whole page, or the fragment htmx asked for."""

from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _
from django_htmx.middleware import HtmxDetails

VARIES_BY = ["HX-Request", "HX-Boosted", "HX-History-Restore-Request"]


class HtmxRequest(HttpRequest):
    htmx: HtmxDetails


def wants_fragment(request: HttpRequest) -> bool:
    """Whether a fragment is swapped into a page that stands; history restores want the whole page."""
    htmx: HtmxDetails | None = getattr(request, "htmx", None)
    return bool(htmx) and not htmx.boosted and not htmx.history_restore_request  # type: ignore[union-attr]


def render_page(
    request: HttpRequest, page: str, *, fragment: str, context: dict[str, Any], status: int = 200
) -> HttpResponse:
    response = render(request, fragment if wants_fragment(request) else page, context, status=status)
    patch_vary_headers(response, VARIES_BY)
    return response


def posted(request: HttpRequest) -> QueryDict | None:
    """What a form is bound to: what was sent, an empty form too; None when the page is only looked at."""
    return request.POST if request.method == "POST" else None


def address_query(said: QueryDict, names: Iterable[str]) -> str:
    """Of what an address says, the named parameters without the empty ones, in that order."""
    given = QueryDict(mutable=True)
    for name in names:
        if said.get(name):
            given[name] = str(said[name])
    return given.urlencode()


def render_problem(request: HttpRequest, status: int, message: str) -> HttpResponse:
    """One refusal, as a page or as the fragment that lands in #messages."""
    context = {"title": _title(status), "message": message, "request_id": getattr(request, "request_id", "")}
    return render_page(request, "error.html", fragment="_error.html", context=context, status=status)


def _title(status: int) -> str:
    titles: dict[int, str] = {HTTPStatus.FORBIDDEN: _("Not allowed"), HTTPStatus.NOT_FOUND: _("Not here")}
    is_ours = status >= HTTPStatus.INTERNAL_SERVER_ERROR
    return titles.get(status) or (_("Something broke") if is_ours else _("That did not work"))
