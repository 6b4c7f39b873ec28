"""`manage.py grade --url`: at another server, which may be busy, lose answers, or be none."""

import json
import logging
from contextlib import contextmanager
from uuid import uuid4

import httpx
import pytest

from kindgi_site.callers import Role
from kindgi_site.workspaces.services.keys import store_key
from tests.api.expect import nothing_stored
from tests.commands.conftest import Manage
from tests.commands.grading import RIGHT, WRONG, Grading
from tests.factories import ProjectFactory, person_with
from tests.fake_http import served
from tests.loop import Loop, graded_again
from tests.wire import WireClient
from testsets.models import TestRun, TestRunOutput

pytestmark = pytest.mark.usefixtures("pauses")


@pytest.fixture
def remote(live_server, tmp_path, monkeypatch):
    """The same over HTTP, with a key of the project's administrator."""
    monkeypatch.setenv("NO_PROXY", "*")
    project = ProjectFactory(default=True)
    key = store_key(workspace=project.workspace, principal=person_with(project, Role.ADMIN))[1]
    where = ["--url", live_server.url, "--key", key, "--project", project.id]
    return Grading(Loop(WireClient(key), project), Manage(), tmp_path, where)


def test_over_http(remote, caplog):
    caplog.set_level(logging.INFO, "root")
    remote.freeze(2)
    assert remote("1.0.0", RIGHT, WRONG)[0] == 1

    status, lines = remote("1.1.0", RIGHT, RIGHT)

    assert (status, lines) == (
        0,
        ["Against version 1.0.0.", "           fixed  1", "           right  1", "     share right  100.0%"],
    )
    assert remote.reported().attrib["tests"] == "2"
    # The log goes to standard output too: a line for each request would stand in the table's midst.
    assert [record for record in caplog.records if record.name == "httpx"] == []


def test_the_version_before_is_found_behind_any_number_of_test_runs_of_this_one(remote):
    remote.freeze(1)
    remote("1.0.0", RIGHT)
    remote("1.1.0", RIGHT)
    graded_again(TestRun.objects.get(subject_version="1.1.0").id, 120)

    assert remote("1.1.0", WRONG)[1][:2] == ["Against version 1.0.0.", "       regressed  1"]


def test_a_run_that_waits_is_fed_over_http(remote):
    """The run knows its project."""
    remote.freeze(1)
    waiting = remote.loop.start("1.1.0")
    remote.where = remote.where[:4]

    assert remote.feed(waiting, RIGHT)[0] == 0
    assert TestRun.objects.get().status == "completed"


def test_refusals_over_http(remote, live_server):
    remote.freeze(1)
    assert remote.refused(RIGHT, name="nothing") == "404 test-set-not-found: There is no such test set."
    assert remote.refused(RIGHT, name="a/../b?c#d").startswith("404 ")
    remote.where = ["--url", live_server.url, "--key", "wrong", "--project", uuid4()]
    assert remote.refused(RIGHT).startswith("401 auth-missing: ")
    remote.where = ["--url", f"{live_server.url}/static/css/site.css?", "--key", "wrong", "--project", uuid4()]
    assert remote.refused(RIGHT).endswith("without an answer in JSON: this is no such server.")
    remote.where = ["--url", "http://127.0.0.1:9", "--key", "k", "--project", uuid4()]
    assert remote.refused(RIGHT) == "The server could not be asked: ConnectError."
    remote.where = ["--url", "http://[", "--key", "k", "--project", uuid4()]
    assert remote.refused(RIGHT).startswith("The server could not be asked: ")
    assert TestRun.objects.count() == 0


def test_outputs_refused_over_http_leave_no_run_waiting(remote):
    remote.freeze(1)
    remote.write('{"caseId": "x", "output": 1}')

    assert remote.refused().startswith("Line 1: 400 bad-input: ")
    assert TestRun.objects.get().status == "cancelled"


class InFront:
    """Stands before the server. `first` are what comes of the first requests, all others are passed on.

    A status, a Retry-After and perhaps a code are answered; "lost" does the work and loses the answer; "broken" does
    nothing.
    """

    def __init__(self, url, *first):
        self.url, self.first, self.keys = url, list(first), []

    def respond(self, handler):
        body = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        self.keys.append((handler.command, handler.path, handler.headers.get("Idempotency-Key")))
        what = self.first.pop(0) if self.first else None
        if isinstance(what, tuple):
            status, retry_after, code = (*what, "busy")[:3]
            refusal = json.dumps({"error": {"code": code, "message": "Later."}}).encode()
            self.answer(handler, status, refusal, {"Retry-After": retry_after})
        elif what != "broken":
            sent = {
                name: handler.headers[name] for name in ("Authorization", "Idempotency-Key") if handler.headers[name]
            }
            answer = httpx.request(handler.command, self.url + handler.path, content=body, headers=sent)
            if what != "lost":
                self.answer(handler, answer.status_code, answer.content, {})

    def answer(self, handler, status, body, headers):
        handler.send_response(status)
        for name, value in (headers | {"Content-Length": str(len(body))}).items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)


@contextmanager
def behind(remote, *first):
    server = remote.where[1]
    endpoint = InFront(server, *first)
    with served(endpoint) as url:
        remote.where[1] = url
        yield endpoint
        remote.where[1] = server


@pytest.mark.parametrize("busy", [(429,), (502,), (503,), (504,), (409, "idempotency-key-in-flight")])
def test_a_busy_server_is_asked_again(remote, pauses, busy):
    remote.freeze(1)
    status, *code = busy
    with behind(remote, (status, "3", *code), (status, "2", *code)) as endpoint:
        assert remote("1.1.0", RIGHT)[0] == 0

    assert pauses == [3, 2]
    assert len(set(endpoint.keys[:3])) == 1
    assert TestRun.objects.count() == 1


@pytest.mark.parametrize("what", ["lost", "broken"])
def test_a_connection_that_breaks_does_nothing_twice(remote, pauses, what):
    """Each request but the last is sent twice, with one key: the start, the outputs, the reading of the result."""
    remote.freeze(1)
    steps = [what, None, what, None, what]
    with behind(remote, *steps) as endpoint:
        assert remote("1.1.0", RIGHT)[0] == 0

    assert len(pauses) == 3
    posts = [key for method, _path, key in endpoint.keys if method == "POST"]
    assert (len(posts), len(set(posts)), None in posts) == (4, 2, False)
    assert (TestRun.objects.count(), TestRunOutput.objects.count()) == (1, 1)


@pytest.mark.parametrize("status", [400, 409, 500])
def test_a_refusal_is_not_asked_about_again(remote, pauses, status):
    remote.freeze(1)
    with behind(remote, (status, "1")):
        assert remote.refused(RIGHT) == f"{status} busy: Later."

    assert pauses == []
    assert TestRun.objects.count() == 0


def test_a_server_that_stays_busy_is_left_in_the_end(remote, pauses):
    remote.freeze(1)
    with behind(remote, *[(503, "1")] * 20) as endpoint:
        assert remote.refused(RIGHT) == "503 busy: Later."

    assert len(endpoint.keys) == len(pauses) + 1 == 6
    with behind(remote, (429, "3600")):
        assert remote.refused(RIGHT) == "429 busy: Later."
    assert len(pauses) == 5


@pytest.mark.parametrize("key", ["schlüssel", "two\nlines", ""])
def test_a_key_that_cannot_be_sent(remote, key):
    remote.freeze(1)
    remote.where[3] = key
    with nothing_stored():
        remote.refused(RIGHT)
