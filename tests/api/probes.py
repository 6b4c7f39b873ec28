"""Routes that do what no real one does: fail in the middle, keep a secret, wait. The pipeline is the real one."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import include, path
from rest_framework.request import Request
from rest_framework.response import Response

from kindgi_site import clock
from kindgi_site import urls as site
from kindgi_site.api.pipeline import V1View
from kindgi_site.keys import new_id
from kindgi_site.workspaces.models import IdempotencyRecord, Project

handler400, handler403, handler404, handler500 = site.handler400, site.handler403, site.handler404, site.handler500

SECRET = "the exception's own text"


class _Probe(V1View):
    schema = None

    def make_project(self) -> Project:
        """The work: one row more."""
        slug = f"made-{new_id()}"
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


class HoldView(_Probe):
    """Tells of the hold under which it works."""

    def post(self, request: Request) -> Response:
        record = IdempotencyRecord.objects.get()
        return Response({"status": record.status, "held": (record.expires_at - record.created_at).total_seconds()})


class PreparedView(_Probe):
    """Prepares its work and tells how: in a transaction or not, and how long the hold lasts once it was kept up.

    `X-Prepare` has it fail there, or lose its hold to a retry.
    """

    def before_post(self, keep_hold: Callable[[], None]) -> None:
        self.in_transaction = connection.in_atomic_block
        how = self.request.headers.get("X-Prepare")
        soon = clock.now() + timedelta(seconds=1)
        IdempotencyRecord.objects.update(expires_at=soon, **({"holder": new_id()} if how == "lose" else {}))
        keep_hold()
        if how == "fail":
            raise RuntimeError(SECRET)

    def post(self, request: Request) -> Response:
        self.make_project()
        held = [(record.expires_at - clock.now()).total_seconds() > 25 for record in IdempotencyRecord.objects.all()]
        return Response({"prepared": self.in_transaction, "worked": connection.in_atomic_block, "held": held})


class OvertakenView(_Probe):
    """Sent with `X-First`, its hold lapses while it works, and a retry on another connection comes in between."""

    def post(self, request: Request) -> Response:
        made = self.make_project()
        if "X-First" in request.headers:
            with ThreadPoolExecutor(1) as thread:
                thread.submit(self._retry, request.headers).result()
        return Response({"made": made.slug}, status=201)

    def _retry(self, headers: Any) -> None:
        try:
            IdempotencyRecord.objects.update(expires_at=clock.now())
            sent = {name: headers[name] for name in ("Authorization", "Idempotency-Key")}
            response = Client().generic("POST", "/v1/probe/overtaken", headers=sent)
            assert response.status_code == 201
        finally:
            connection.close()


class CutOffView(_Probe):
    """Its connection breaks after its work, as when the server's machine goes down. PostgreSQL only."""

    def post(self, request: Request) -> Response:
        self.make_project()
        if "X-First" in request.headers:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
        return Response({"ok": True}, status=201)


class WaitView(_Probe):
    """A statement that outlasts PostgreSQL's statement timeout."""

    def get(self, request: Request) -> Response:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(20)")
        return Response({"ok": True})

    put = get


@login_not_required
def plain(_request: HttpRequest, what: str) -> HttpResponse:
    """A view that is no V1View, and raises what its address says."""
    raise {"denied": PermissionDenied, "suspicious": SuspiciousOperation, "failing": RuntimeError}[what](SECRET)


urlpatterns = [
    path("v1/plain/<str:what>", plain),
    path("plain/<str:what>", plain),
    path("v1/probe/work", WorkView.as_view()),
    path("v1/probe/elsewhere", WorkView.as_view()),
    path("v1/probe/secret", SecretView.as_view()),
    path("v1/probe/fail", FailView.as_view()),
    path("v1/probe/refuse", RefuseView.as_view()),
    path("v1/probe/hold", HoldView.as_view()),
    path("v1/probe/prepared", PreparedView.as_view()),
    path("v1/probe/overtaken", OvertakenView.as_view()),
    path("v1/probe/cut-off", CutOffView.as_view()),
    path("v1/probe/wait", WaitView.as_view()),
    path("", include(site)),
]
