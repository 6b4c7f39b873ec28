"""A request whose process is killed in the middle of its work (contract 6.7, decision 8)."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.db import connection

from corrections.models import Correction, RunCopy
from kindgi_site import clock
from kindgi_site.workspaces.models import AuditEntry, IdempotencyRecord
from kindgi_site.workspaces.services.keys import store_key
from tests.api.expect import assert_refused
from tests.factories import ProjectFactory, RunFactory, person_with
from tests.wire import WireClient

PROJECT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.django_db(transaction=True)


def database_url() -> str:
    if connection.vendor == "sqlite":
        return f"sqlite:///{connection.settings_dict['NAME']}"
    return "postgresql://{USER}:{PASSWORD}@{HOST}:{PORT}/{NAME}".format(**connection.settings_dict)


@contextmanager
def at_work(key: str, body: str) -> Iterator[subprocess.Popen[str]]:
    """A process that holds the key of idempotency and has done its work without committing it."""
    environment = os.environ | {
        "DATABASE_URL": database_url(),
        "SECRET_KEY": "for this test only, and known to everybody",
    }
    environment["DJANGO_SETTINGS_MODULE"] = "kindgi_site.settings"
    command = [sys.executable, "-m", "tests.api.slow_worker", key, "k", body]
    process = subprocess.Popen(  # noqa: S603 - our own command
        command, cwd=PROJECT, env=environment, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        said = process.stdout.readline()
        assert said == "working\n", (said, process.communicate()[1])
        yield process
    finally:
        process.kill()
        process.communicate()


def test_the_retry_does_the_work_once_the_hold_has_lapsed():
    project = ProjectFactory(default=True)
    run = RunFactory(project=project)
    key = store_key(workspace=project.workspace, principal=person_with(project))[1]
    client, body = WireClient(key), json.dumps({"runId": str(run.run_id), "answer": "right"})

    def retry(said: str = body):
        return client.post("/v1/corrections", said, idempotency_key="k")

    with at_work(key, body) as process:
        waiting = retry()
        assert (waiting.status_code, waiting["Retry-After"]) == (409, "5")
        assert_refused(waiting, 409, "idempotency-key-in-flight")
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=30)

    assert (Correction.objects.count(), RunCopy.objects.count(), AuditEntry.objects.count()) == (0, 0, 0)
    hold = IdempotencyRecord.objects.get()
    assert (hold.status, hold.body) == (None, None)
    assert_refused(retry(), 409, "idempotency-key-in-flight")  # nobody knows yet that it was killed
    assert_refused(retry("{}"), 409, "idempotency-key-body-mismatch")

    IdempotencyRecord.objects.update(expires_at=clock.now())
    first, second = retry(), retry()

    assert first.status_code == 201
    assert "X-Idempotent-Replay" not in first
    assert (second.status_code, second.content, second["X-Idempotent-Replay"]) == (201, first.content, "true")
    assert Correction.objects.get().run_id == run.run_id
