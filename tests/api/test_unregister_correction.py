"""`POST /v1/corrections/{correctionId}/unregister` (contract 7.8)."""

from uuid import uuid4

import pytest

from corrections.models import Correction
from corrections.vocabulary import SortedTo, Status
from kindgi_site.callers import Action
from kindgi_site.clock import wire_time
from kindgi_site.workspaces.services.keys import store_key
from tests.api.expect import assert_refused, nothing_stored
from tests.api.records import fresh, record
from tests.factories import ProjectFactory, person_with
from tests.life import LINKED, LONG_AGO, NOTED, REOPENED, correction_in
from tests.wire import WireClient


def path(correction_id: object) -> str:
    return f"/v1/corrections/{correction_id}/unregister"


def denied(project) -> dict:
    reason = "You need the write permission on this project."
    return {"action": Action.WRITE, "resource": {"type": "project", "id": str(project.id)}, "reason": reason}


def test_it_is_removed_and_all_else_stays(api_client, project):
    before = correction_in(project, Status.OPEN, SortedTo.IMPROVE, **REOPENED | LINKED | NOTED)

    response = api_client.post(path(before.id))

    assert (response.status_code, response.json()) == (200, {"correctionId": str(before.id), "unregistered": True})
    after = fresh(before)
    changed = {name for name, value in vars(after).items() if value != vars(before).get(name)} - {"_state"}
    assert changed == {"status", "unregistered_at", "updated_at"}
    assert (after.status, after.unregistered_at) == ("removed", after.updated_at)
    assert after.updated_at > LONG_AGO


def test_it_is_still_there_to_be_read(api_client, project):
    before = correction_in(project, Status.OPEN)
    api_client.post(path(before.id))
    after = fresh(before)

    answer = api_client.get(f"/v1/corrections/{before.id}").json()

    answer.pop("run")
    assert answer == record(after, status="removed", unregisteredAt=wire_time(after.updated_at))
    assert api_client.get("/v1/corrections").json() == {"data": [], "hasMore": False}


def test_a_body_is_not_looked_at(api_client, project):
    assert api_client.post(path(correction_in(project, Status.OPEN).id), b"[1").status_code == 200


def test_not_there(api_client, foreign_client, workspace, project):
    removed = correction_in(project, Status.REMOVED)
    unreadable = correction_in(ProjectFactory(workspace=workspace), Status.OPEN)
    mine = correction_in(project, Status.OPEN)
    for client, key in (
        (api_client, uuid4()),
        (api_client, "x"),
        (api_client, removed.id),
        (api_client, unreadable.id),
        (foreign_client, mine.id),
    ):
        with nothing_stored():
            response = client.post(path(key))

        assert_refused(response, 404, "correction-not-found", correctionId=str(key))


def test_readers_remove_nothing(viewer_client, project):
    mine = correction_in(project, Status.OPEN)
    with nothing_stored():
        response = viewer_client.post(path(mine.id))

    assert_refused(response, 403, "permission-denied", **denied(project))


def test_a_removed_one_is_not_there_before_it_is_forbidden(viewer_client, project):
    response = viewer_client.post(path(correction_in(project, Status.REMOVED).id))

    assert response.status_code == 404


def test_it_is_removed_once_for_one_key_of_idempotency(api_client, project):
    before = correction_in(project, Status.OPEN)
    first, second = (api_client.post(path(before.id), idempotency_key="k") for _time in range(2))

    assert (first.status_code, second.status_code, second.content) == (200, 200, first.content)
    assert second["X-Idempotent-Replay"] == "true"


@pytest.mark.parametrize("status", [status for status in Status if status != Status.REMOVED])
def test_an_editor_removes_one_in_any_state_with_the_owner_too(project, workspace, status):
    client = WireClient(store_key(workspace=workspace, principal=person_with(project))[1])
    before = correction_in(project, status)

    assert client.post(path(before.id)).status_code == 200
    assert Correction.objects.get().status == "removed"
