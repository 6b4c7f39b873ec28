"""`POST /v1/corrections/{correctionId}/status` (contract 7.9); the moves are in domain/test_transitions.py."""

from uuid import uuid4

import pytest

from corrections.models import Correction
from corrections.vocabulary import SortedTo, Status
from kindgi_site.callers import Role
from kindgi_site.clock import wire_time
from kindgi_site.workspaces.services.keys import store_key
from tests.api.expect import assert_refused, nothing_stored
from tests.api.records import fresh, record, sorting
from tests.factories import ProjectFactory, person_with
from tests.life import LINKED, LONG_AGO, NOTED, REOPENED, correction_in
from tests.wire import WireClient

LONG_AGO_WIRE = "2026-01-02T03:04:05.678Z"
BY_RULE = {"by": {"kind": "rule"}, "at": LONG_AGO_WIRE}


def path(correction_id: object) -> str:
    return f"/v1/corrections/{correction_id}/status"


def test_the_record_after_it(api_client, reviewer, project):
    before = correction_in(project, Status.OPEN, SortedTo.IMPROVE, **LINKED | REOPENED)

    response = api_client.post(path(before.id), {"status": "wont-fix", "note": " Not ours. "})

    after = fresh(before)
    me = {"kind": "user", "id": str(reviewer.id)}
    assert response.status_code == 200
    assert response.json() == record(
        after,
        status="wont-fix",
        sortedTo="improve",
        sorted=BY_RULE,
        link={"kind": "improve-run", "id": "improve-1"},
        statusNote={"text": " Not ours. ", "by": me, "at": wire_time(after.updated_at)},
    )
    assert after.updated_at > LONG_AGO


def test_handing_it_to_the_owner_sorts_it(api_client, reviewer, project):
    before = correction_in(project, Status.OPEN)

    answer = api_client.post(path(before.id), {"status": "with-owner"}).json()

    after = fresh(before)
    me = sorting(after, kind="user", id=str(reviewer.id))
    assert answer == record(after, status="with-owner", sortedTo="owner", sorted=me)


def test_the_state_it_is_in_changes_nothing(api_client, project):
    before = correction_in(project, Status.OPEN)
    with nothing_stored():
        response = api_client.post(path(before.id), {"status": "open"})

    assert response.json() == record(before)


def test_the_state_it_is_in_takes_a_note_and_clears_both_marks(api_client, reviewer, project):
    before = correction_in(project, Status.OPEN, **REOPENED)

    answer = api_client.post(path(before.id), {"status": "open", "note": "Hm."}).json()

    after = fresh(before)
    note = {"text": "Hm.", "by": {"kind": "user", "id": str(reviewer.id)}, "at": wire_time(after.updated_at)}
    assert answer == record(after, statusNote=note)
    assert after.updated_at > LONG_AGO


def test_a_status_without_a_note_drops_the_note(api_client, project):
    before = correction_in(project, Status.OPEN, **NOTED)

    assert "statusNote" not in api_client.post(path(before.id), {"status": "open"}).json()
    assert (fresh(before).note_text, fresh(before).note_at) == ("", None)


@pytest.mark.parametrize("length", [1, 2000])
def test_notes_at_their_limits(api_client, project, length):
    before = correction_in(project, Status.OPEN)

    answer = api_client.post(path(before.id), {"status": "wont-fix", "note": "ß" * length}).json()

    assert answer["statusNote"]["text"] == "ß" * length


@pytest.mark.parametrize(
    ("body", "code", "details"),
    [
        (b"", "bad-input", {}),
        (b"[]", "bad-input", {}),
        ({}, "bad-input", {"field": "status"}),
        ({"status": "fixed"}, "bad-input", {"field": "status"}),
        ({"status": "removed"}, "bad-input", {"field": "status"}),
        ({"status": "closed"}, "bad-input", {"field": "status"}),
        ({"status": None}, "bad-input", {"field": "status"}),
        ({"status": ["open"]}, "bad-input", {"field": "status"}),
        ({"status": "wont-fix", "note": ""}, "bad-input", {"field": "note"}),
        ({"status": "wont-fix", "note": None}, "bad-input", {"field": "note"}),
        ({"status": "wont-fix", "note": "x" * 2001}, "bad-input", {"field": "note"}),
        ({"status": "wont-fix", "note": "\0"}, "bad-input", {"field": "note"}),
        ({"status": "wont-fix", "why": "x", "at": 1}, "unknown-field", {"fields": ["why", "at"]}),
    ],
)
def test_bodies_that_are_refused_before_anything_is_looked_up(api_client, project, body, code, details):
    for key in (correction_in(project, Status.OPEN).id, uuid4()):
        with nothing_stored():
            response = api_client.post(path(key), body)

        assert_refused(response, 400, code, **details)


def test_not_there_then_not_allowed_then_not_possible(api_client, viewer_client, foreign_client, workspace, project):
    body = {"status": "wont-fix"}
    fixed = correction_in(project, Status.FIXED)
    unreadable = correction_in(ProjectFactory(workspace=workspace), Status.FIXED)
    for client, key in ((api_client, uuid4()), (api_client, unreadable.id), (foreign_client, fixed.id)):
        with nothing_stored():
            response = client.post(path(key), body)
        assert_refused(response, 404, "correction-not-found", correctionId=str(key))
    with nothing_stored():
        assert viewer_client.post(path(fixed.id), body).json()["error"]["code"] == "permission-denied"
        response = api_client.post(path(fixed.id), body)
    assert_refused(response, 409, "invalid-transition", **{"from": "fixed", "to": "wont-fix"})


def test_a_removed_one(api_client, project):
    response = api_client.post(path(correction_in(project, Status.REMOVED).id), {"status": "open"})

    assert_refused(response, 409, "invalid-transition", **{"from": "removed", "to": "open"})


def test_what_the_owner_decides(api_client, workspace, project):
    before = correction_in(project, Status.WITH_OWNER)
    reason = "Only the agent's owner or an administrator of the project decides on this."
    resource = {"type": "project", "id": str(project.id)}
    for status in ("open", "being-fixed", "wont-fix"):
        with nothing_stored():
            response = api_client.post(path(before.id), {"status": status})
        assert_refused(response, 403, "permission-denied", action="admin", resource=resource, reason=reason)

    admin = WireClient(store_key(workspace=workspace, principal=person_with(project, Role.ADMIN))[1])
    response = admin.post(path(before.id), {"status": "open"})
    assert_refused(response, 409, "invalid-transition", **{"from": "with-owner", "to": "open"})
    assert admin.post(path(before.id), {"status": "being-fixed"}).json()["sortedTo"] == "owner"


def test_a_key_of_idempotency_does_it_once(api_client, project):
    before = correction_in(project, Status.OPEN)
    body = {"status": "wont-fix", "note": "Once."}
    first, second = (api_client.post(path(before.id), body, idempotency_key="k") for _time in range(2))

    assert second.content == first.content
    assert Correction.objects.get().events.count() == 1
