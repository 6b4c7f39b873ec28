"""Routes that do what no real one does: fail in the middle, keep a secret, wait. The pipeline is the real one."""

from typing import Any

from django.db import connection
from django.urls import include, path
from rest_framework.request import Request
from rest_framework.response import Response

from kindgi_site import urls as site
from kindgi_site.api.pipeline import V1View
from kindgi_site.workspaces.models import IdempotencyRecord, Project

handler400, handler403, handler404, handler500 = site.handler400, site.handler403, site.handler404, site.handler500

SECRET = "the exception's own text"


class _Probe(V1View):
    schema = None

    def make_project(self) -> Project:
        """The work: one row more."""
        slug = f"made-{Project.objects.count()}"
        return Project.objects.create(workspace_id=self.caller.workspace_id, name=slug, slug=slug)


class WorkView(_Probe):
    def post(self, request: Request) -> Response:
        return Response({"made": str(self.make_project().id)}, status=201)

    put = patch = post

    def delete(self, request: Request) -> Response:
        self.make_project()
        return Response(status=204)


class SecretView(_Probe):
    def post(self, request: Request) -> Response:
        response = Response({"key": SECRET, "made": str(self.make_project().id)}, status=201)
        response.is_secret = True
        return response


class FailView(_Probe):
    """Fails after its work, as often as there is no project `healed`."""

    def get(self, request: Request) -> Response:
        raise RuntimeError(SECRET)

    def post(self, request: Request) -> Response:
        self.make_project()
        if not Project.objects.filter(slug="healed").exists():
            raise RuntimeError(SECRET)
        return Response({"ok": True})


class RefuseView(_Probe):
    """Answers a refusal as a plain response, after its work."""

    def post(self, request: Request) -> Response:
        self.make_project()
        return Response({"error": "made by hand"}, status=418)


class LosesItsHoldView(_Probe):
    """While it works, its hold lapses and goes to a retry."""

    def post(self, request: Request) -> Response:
        self.make_project()
        others = dict.fromkeys(["holder"], "00000000-0000-0000-0000-000000000001")
        IdempotencyRecord.objects.update(**others)
        return Response({"ok": True}, status=201)


class WaitView(_Probe):
    """A statement that outlasts PostgreSQL's statement timeout."""

    def get(self, request: Request) -> Response:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(20)")
        return Response({"ok": True})

    put = get


class EchoView(_Probe):
    def post(self, request: Request) -> Response:
        document: Any = self.document
        return Response({"bytes": len(document.raw), "isJson": document.is_json, "value": document.value})


urlpatterns = [
    path("v1/probe/work", WorkView.as_view()),
    path("v1/probe/elsewhere", WorkView.as_view()),
    path("v1/probe/secret", SecretView.as_view()),
    path("v1/probe/fail", FailView.as_view()),
    path("v1/probe/refuse", RefuseView.as_view()),
    path("v1/probe/loses-its-hold", LosesItsHoldView.as_view()),
    path("v1/probe/wait", WaitView.as_view()),
    path("v1/probe/echo", EchoView.as_view()),
    path("", include(site)),
]
