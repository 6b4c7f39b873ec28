"""`/v1/memory/erasures` (contract 12.2); what they do is in domain/test_erasure.py."""

from uuid import UUID, uuid4

import pytest

from corrections.models import Erasure, Run
from kindgi_site.callers import Role
from kindgi_site.clock import wire_time
from kindgi_site.workspaces.services.keys import store_key
from tests.api.expect import assert_refused, nothing_stored
from tests.factories import RunFactory, WorkspaceFactory, person_with
from tests.wire import WireClient

PATH = "/v1/memory/erasures"
NOWHERE = str(UUID(int=7))  # the same in each process, as it is in the names of tests
PARTICIPANT = {"subject": {"kind": "participant", "id": "p"}}


@pytest.fixture
def admin(project):
    return person_with(project, None, is_admin=True)


@pytest.fixture
def root(project, admin) -> WireClient:
    return WireClient(store_key(workspace=project.workspace, principal=admin, role="admin")[1])


def record(erasure: Erasure, admin, **more) -> dict:
    nothing = ("runs", "copies", "corrections", "queue", "answers", "testCases", "handCases", "testRunOutputs")
    at = wire_time(erasure.created_at)
    plain = {
        "id": str(erasure.id),
        "selectorKind": "participant",
        "status": "completed",
        "phase": "done",
        "requestedBy": {"kind": "user", "id": str(admin.id)},
        "matchable": False,
        "counts": dict.fromkeys(nothing, 0),
        "attempts": 1,
        "createdAt": at,
        "completedAt": at,
    }
    return plain | more


def test_a_participant(root, admin, project):
    RunFactory(project=project, participant_id="p")
    response = root.post(PATH, PARTICIPANT)

    made = Erasure.objects.get()
    expected = record(made, admin)
    expected["counts"]["runs"] = 1
    assert (response.status_code, response.json()) == (202, expected)
    assert root.get(f"{PATH}/{made.id}").json() == expected
    assert Run.objects.get().erased_at == made.completed_at


def test_a_conversation(root, admin, project):
    conversation = uuid4()
    RunFactory(project=project, conversation_id=conversation)
    response = root.post(PATH, {"conversationId": str(conversation)})

    expected = record(Erasure.objects.get(), admin, selectorKind="conversation")
    expected["counts"]["runs"] = 1
    assert (response.status_code, response.json()) == (202, expected)
    assert str(conversation) not in response.content.decode()


def test_the_list_is_newest_first_and_without_single_runs(root, admin, project, run):
    first, second = (root.post(PATH, PARTICIPANT).json() for _time in range(2))
    assert root.post(f"/v1/runs/{run.run_id}/erase").status_code == 200
    Erasure.objects.create(
        workspace=WorkspaceFactory(), selector_kind="participant", status="completed", requested_by_kind="user",
        requested_by_id="x",
    )  # fmt: skip

    assert root.get(PATH).json() == {"data": [second, first], "hasMore": False}
    page = root.get(f"{PATH}?limit=1").json()
    assert root.get(f"{PATH}?limit=1&cursor={page['nextCursor']}").json() == {"data": [first], "hasMore": False}
    alone = Erasure.objects.get(selector_kind="run")
    assert_refused(root.get(f"{PATH}/{alone.id}"), 404, "not-found", id=str(alone.id))


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "bad-input"),
        ({}, "bad-input"),
        (PARTICIPANT | {"conversationId": NOWHERE}, "bad-input"),
        ({"subject": {"kind": "user", "id": "x"}}, "bad-input"),
        ({"subject": {"kind": "participant"}}, "bad-input"),
        ({"subject": {"kind": "participant", "id": ""}}, "bad-input"),
        ({"subject": {"kind": "participant", "id": "x" * 257}}, "bad-input"),
        ({"subject": {"kind": "participant", "id": "x", "y": 1}}, "bad-input"),
        ({"subject": None}, "bad-input"),
        ({"conversationId": "x"}, "bad-input"),
        (PARTICIPANT | {"reason": "x"}, "unknown-field"),
    ],
)
def test_bodies_that_are_refused(root, body, code):
    with nothing_stored():
        response = root.post(PATH, body)

    assert (response.status_code, response.json()["error"]["code"]) == (400, code)


def test_only_the_workspace_s_administrator(project, workspace, admin):
    owner = store_key(workspace=workspace, principal=person_with(project, Role.OWNER))[1]
    details = {
        "action": "admin",
        "resource": {"type": "workspace", "id": str(workspace.id)},
        "reason": "The caller is not an administrator of the workspace.",
    }
    for key in (owner, store_key(workspace=workspace, principal=admin)[1]):
        for method, path, body in (("GET", PATH, b""), ("GET", f"{PATH}/{uuid4()}", b""), ("POST", PATH, PARTICIPANT)):
            with nothing_stored():
                response = WireClient(key).request(method, path, body)
            assert_refused(response, 403, "permission-denied", **details)


def test_not_there(root):
    for key in (uuid4(), "x"):
        assert_refused(root.get(f"{PATH}/{key}"), 404, "not-found", id=str(key))
