"""What /v1 has for everybody: its document, the redirect of stray slashes, and the answer to unknown addresses."""

from functools import cache
from typing import Any

import orjson
from django.http import Http404, HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.http.response import HttpResponseBase
from django.urls import include, path, re_path
from django.views.decorators.csrf import csrf_exempt
from drf_spectacular.generators import SchemaGenerator

from kindgi_site.api.pipeline import UnknownRouteView
from kindgi_site.api.projects import DefaultProjectView, ProjectsView, ProjectView
from kindgi_site.api.reviewers import ReviewersView, ReviewerView, UnregisterReviewerView
from kindgi_site.api.tokens import RevokeTokenView, TokensView, TokenView

_unknown = UnknownRouteView.as_view()


def openapi_document(request: HttpRequest) -> HttpResponseBase:
    if request.method not in ("GET", "HEAD"):
        return _unknown(request)
    return HttpResponse(_document_text(), content_type="application/json")


def document() -> dict[str, Any]:
    generator: Any = SchemaGenerator
    return dict(generator().get_schema(request=None, public=True))


@cache
def _document_text() -> bytes:
    return orjson.dumps(document())


@csrf_exempt
def without_slash(request: HttpRequest) -> HttpResponseBase:
    """A stray slash at the end (contract 1.1): readers are sent on; a redirect would turn a POST into a GET."""
    if request.method not in ("GET", "HEAD"):
        return _unknown(request)
    path_part, _, query = request.get_full_path().partition("?")
    return HttpResponsePermanentRedirect(path_part.removesuffix("/") + (f"?{query}" if query else ""))


@csrf_exempt
def health(request: HttpRequest) -> HttpResponse:
    if request.method not in ("GET", "HEAD"):
        raise Http404
    return HttpResponse(b'{"ok":true}', content_type="application/json")


_public: tuple[Any, ...] = (openapi_document, without_slash, health)
for _view in _public:
    _view.login_required = False

urlpatterns = [
    path("openapi.json", csrf_exempt(openapi_document), name="openapi"),
    path("projects", ProjectsView.as_view(), name="projects"),
    path("projects/default", DefaultProjectView.as_view(), name="default_project"),
    path("projects/<str:project_id>", ProjectView.as_view(), name="project"),
    path("tokens", TokensView.as_view(), name="tokens"),
    path("tokens/<str:token_id>", TokenView.as_view(), name="token"),
    path("tokens/<str:token_id>/revoke", RevokeTokenView.as_view(), name="token_revoke"),
    path("approvals/reviewers", ReviewersView.as_view(), name="reviewers"),
    path("approvals/reviewers/<str:reviewer_id>", ReviewerView.as_view(), name="reviewer"),
    path(
        "approvals/reviewers/<str:reviewer_id>/unregister", UnregisterReviewerView.as_view(), name="reviewer_unregister"
    ),
    path("", include("corrections.api.urls")),
    path("", include("testsets.api.urls")),
    path("", without_slash),
    re_path(r"^[\s\S]*/\Z", without_slash),
    re_path(r"", _unknown),
]
