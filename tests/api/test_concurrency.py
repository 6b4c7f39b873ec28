"""Clients that correct one run at the same moment, over real connections to a real server (contract 7.2, 7.4, 7.5)."""

import http.client
import json
from urllib.parse import urlsplit
from uuid import uuid4

import pytest

from corrections.models import Correction, Run, RunCopy
from kindgi_site.workspaces.services.keys import store_key
from tests.at_once import at_once
from tests.factories import ProjectFactory, RunFactory, person_with, service_with

CLIENTS = 8


def ask(server, key, method, path, body):
    """(status, body) of one request on a connection of its own."""
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=60)
    try:
        connection.request(
            method, path, json.dumps(body), {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        )
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


@pytest.fixture
def cast(live_server):
    """A run that was never corrected. The server's database is emptied after the test, so all is made anew."""
    project = ProjectFactory(default=True)
    return live_server, project, RunFactory(project=project)


def correct_at_once(server, run, keys):
    def correct(key, number):
        return lambda: ask(server, key, "POST", "/v1/corrections", {"runId": str(run.run_id), "answer": "right",
                                                                    "why": f"client {number}"})  # fmt: skip

    return at_once([correct(key, number) for number, key in enumerate(keys)])


@pytest.mark.parametrize("who", ["person", "service with two keys"])
def test_one_caller_at_once_leaves_one_live_correction_and_a_chain(cast, who):
    server, project, run = cast
    principal = person_with(project) if who == "person" else service_with(project)
    keys = [store_key(workspace=project.workspace, principal=principal)[1] for _key in range(2)]

    answers = correct_at_once(server, run, keys * (CLIENTS // 2))

    assert [status for status, _body in answers] == [201] * CLIENTS
    rows = {row.id: row for row in Correction.objects.all()}
    assert {str(key) for key in rows} == {body["id"] for _status, body in answers}
    (live,) = [row for row in rows.values() if row.unregistered_at is None]
    assert live.superseded_by_id is None
    assert Chain(rows).from_first() == sorted(rows.values(), key=lambda row: row.created_at)
    assert all(row.status == "removed" for row in rows.values() if row is not live)
    assert RunCopy.objects.get().run_id == run.run_id
    assert {row.copy_id for row in rows.values()} == {RunCopy.objects.get().id}


class Chain:
    """Corrections by whom they were superseded by."""

    def __init__(self, rows):
        self.rows = rows

    def from_first(self):
        """From the one that superseded nothing to the live one; fewer than all when it is no single chain."""
        newer = {row.superseded_by_id for row in self.rows.values()}
        (row,) = [row for row in self.rows.values() if row.id not in newer]
        chain = [row]
        while row.superseded_by_id:
            row = self.rows[row.superseded_by_id]
            chain.append(row)
        return chain


def test_eight_callers_at_once_leave_eight_live_corrections_and_one_copy(cast):
    server, project, run = cast
    people = [person_with(project) for _person in range(CLIENTS)]
    keys = [store_key(workspace=project.workspace, principal=person)[1] for person in people]

    answers = correct_at_once(server, run, keys)

    assert [status for status, _body in answers] == [201] * CLIENTS
    live = Correction.objects.filter(unregistered_at__isnull=True, superseded_by__isnull=True)
    assert {row.made_by_id for row in live} == {str(person.id) for person in people}
    assert (live.count(), Correction.objects.count(), RunCopy.objects.count()) == (CLIENTS, CLIENTS, 1)


def test_one_new_run_handed_in_by_all_at_once_is_one_run(cast):
    server, project, _run = cast
    key = store_key(workspace=project.workspace, principal=person_with(project))[1]
    run_id = uuid4()
    body = {
        "projectId": str(project.id),
        "agent": {"id": "support", "version": "1.0.0"},
        "status": "completed",
        "completedAt": "2026-03-01T09:30:00Z",
        "input": {},
        "output": 1,
    }

    answers = at_once([lambda: ask(server, key, "PUT", f"/v1/runs/{run_id}", body)] * CLIENTS)

    assert sorted(status for status, _body in answers) == [200] * (CLIENTS - 1) + [201]
    assert len({json.dumps(answer, sort_keys=True) for _status, answer in answers}) == 1
    assert Run.objects.filter(run_id=run_id).count() == 1
