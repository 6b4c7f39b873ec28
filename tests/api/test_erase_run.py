"""`POST /v1/runs/{runId}/erase` (contract 12.1); what it does is in domain/test_erasure.py."""

from uuid import uuid4

import pytest

from corrections.models import Run
from kindgi_site.callers import Role
from kindgi_site.clock import wire_time
from kindgi_site.workspaces.services.keys import store_key
from tests.api.expect import assert_refused, nothing_stored
from tests.factories import RunFactory, person_with
from tests.wire import WireClient


@pytest.fixture
def root(project) -> WireClient:
    person = person_with(project, None, is_admin=True)
    return WireClient(store_key(workspace=project.workspace, principal=person, role="admin")[1])


def path(run_id: object) -> str:
    return f"/v1/runs/{run_id}/erase"


def test_the_answer_and_what_is_read_afterwards(root, api_client, run):
    made = api_client.post("/v1/corrections", {"runId": str(run.run_id), "answer": "wrong", "why": "No."}).json()
    before = api_client.get(f"/v1/runs/{run.run_id}").json()
    response = root.post(path(str(run.run_id).upper()))

    at = wire_time(Run.objects.get().erased_at)
    answer = {"runId": str(run.run_id), "contentErasedAt": at, "erased": True}
    assert (response.status_code, response.json()) == (200, answer)
    with nothing_stored():
        assert root.post(path(run.run_id)).json() == answer | {"erased": False}
    seen = api_client.get(f"/v1/runs/{run.run_id}?include=input,output,calls,context").json()
    # Its status, ids, times and agent stay (12.3).
    assert seen == {name: said for name, said in before.items() if name != "output"} | {"contentErasedAt": at}
    correction = api_client.get(f"/v1/corrections/{made['id']}").json()
    copy = correction.pop("run")
    assert copy == {"runId": str(run.run_id), "subject": made["subject"], "input": None, "output": None,
                    "capturedAt": copy["capturedAt"]}  # fmt: skip
    del made["why"]
    assert correction == made | {"updatedAt": at}
    refused = api_client.post("/v1/corrections", {"runId": str(run.run_id), "answer": "right"})
    assert_refused(refused, 410, "run-erased", runId=str(run.run_id))


def test_not_there(root, run):
    assert_refused(root.post(path("x")), 400, "bad-input", field="runId")
    for key in (uuid4(), RunFactory().run_id):
        with nothing_stored():
            assert_refused(root.post(path(key)), 404, "run-not-found", runId=str(key))


def test_only_the_workspace_s_administrator(project, workspace, run):
    owner = store_key(workspace=workspace, principal=person_with(project, Role.OWNER))[1]
    admin = person_with(project, None, is_admin=True)
    member_key = store_key(workspace=workspace, principal=admin)[1]
    limited = store_key(workspace=workspace, principal=admin, role="admin", project=project)[1]
    details = {
        "action": "admin",
        "resource": {"type": "workspace", "id": str(workspace.id)},
        "reason": "The caller is not an administrator of the workspace.",
    }
    for key in (owner, member_key, limited):
        for run_id in (run.run_id, uuid4()):
            with nothing_stored():
                assert_refused(WireClient(key).post(path(run_id)), 403, "permission-denied", **details)


def test_once_for_one_key_of_idempotency(root, run):
    first, second = (root.post(path(run.run_id), idempotency_key="k") for _time in range(2))

    # The erasure's own answer names the run and nothing else, and is not taken for one of the run's words.
    assert (first.status_code, second.status_code, second.content) == (200, 200, first.content)
