"""`POST /v1/corrections/{correctionId}/sort` (contract 7.10)."""

from uuid import uuid4

import pytest

from corrections.vocabulary import SortedTo, Status
from kindgi_site.workspaces.services.keys import store_key
from tests.api.expect import assert_refused, nothing_stored
from tests.api.records import fresh, record, sorting
from tests.factories import ProjectFactory, ServiceAccountFactory, person_with, service_with
from tests.life import LINKED, NOTED, REOPENED, correction_in
from tests.wire import WireClient

FIX_JOB = "corrections:fix-job"


def path(correction_id: object) -> str:
    return f"/v1/corrections/{correction_id}/sort"


def test_the_record_after_it(api_client, reviewer, project):
    before = correction_in(project, Status.BEING_FIXED, SortedTo.IMPROVE, **LINKED)

    response = api_client.post(path(before.id), {"to": "developer", "reason": "A bug."})

    after = fresh(before)
    by = sorting(after, kind="user", id=str(reviewer.id))
    assert response.status_code == 200
    assert response.json() == record(
        after,
        status="open",
        sortedTo="developer",
        sorted={"by": by["by"], "reason": "A bug.", "at": by["at"]},
        link={"kind": "improve-run", "id": "improve-1"},
    )


def test_it_keeps_both_marks(api_client, project):
    before = correction_in(project, Status.OPEN, **REOPENED)

    answer = api_client.post(path(before.id), {"to": "owner"}).json()

    assert answer["status"] == "with-owner"
    assert answer["fixedIn"] == {"version": "1.3.0", "how": "latest", "at": "2026-01-02T03:04:05.678Z"}
    assert answer["reopenedIn"] == {"version": "1.2.0", "how": "went-back", "at": "2026-01-02T03:04:05.678Z"}


def test_a_reason_goes_with_the_next_sort(api_client, project):
    before = correction_in(project, Status.OPEN)
    api_client.post(path(before.id), {"to": "improve", "reason": "First."})

    assert "reason" not in api_client.post(path(before.id), {"to": "improve"}).json()["sorted"]


def test_a_note_stays_unless_the_status_changes(api_client, project):
    """Decision 18."""
    before = correction_in(project, Status.OPEN, **NOTED)

    assert api_client.post(path(before.id), {"to": "improve"}).json()["statusNote"]["text"] == "Wait."
    assert "statusNote" not in api_client.post(path(before.id), {"to": "owner"}).json()


def test_the_fix_job(workspace, project):
    key = store_key(workspace=workspace, principal=service_with(project), capabilities=[FIX_JOB])[1]
    before = correction_in(project, Status.OPEN)

    answer = WireClient(key).post(path(before.id), {"to": "improve", "as": "fix-job"}).json()

    after = fresh(before)
    assert answer == record(after, sortedTo="improve", sorted=sorting(after, kind="fix-job"))


def test_a_service_that_administers_the_workspace_holds_the_capability(workspace, project):
    """Decision 12; a key that is no admin's, or is limited to a project, is not one of an administrator."""
    service = ServiceAccountFactory(workspace=workspace, is_workspace_admin=True)
    key = store_key(workspace=workspace, principal=service, role="admin")[1]
    before = correction_in(project, Status.OPEN)

    answer = WireClient(key).post(path(before.id), {"to": "improve", "as": "fix-job"}).json()

    after = fresh(before)
    assert answer == record(after, sortedTo="improve", sorted=sorting(after, kind="fix-job"))
    member = store_key(workspace=workspace, principal=service)[1]
    limited = store_key(workspace=workspace, principal=service, role="admin", project=project)[1]
    for text in (member, limited):
        with nothing_stored():
            assert WireClient(text).post(path(before.id), {"to": "owner", "as": "fix-job"}).status_code == 403


def test_nobody_else_is_the_fix_job(api_client, workspace, project):
    person = store_key(workspace=workspace, principal=person_with(project), capabilities=[FIX_JOB])[1]
    service = store_key(workspace=workspace, principal=service_with(project))[1]
    before = correction_in(project, Status.OPEN)
    for client in (api_client, WireClient(person), WireClient(service)):
        with nothing_stored():
            response = client.post(path(before.id), {"to": "improve", "as": "fix-job"})

        assert_refused(
            response,
            403,
            "permission-denied",
            action="write",
            resource={"type": "capability", "id": FIX_JOB},
            reason="The key does not carry the capability.",
        )


@pytest.mark.parametrize(
    ("body", "code", "details"),
    [
        (b"", "bad-input", {}),
        ({}, "bad-input", {"field": "to"}),
        ({"to": "none"}, "bad-input", {"field": "to"}),
        ({"to": "improve", "reason": ""}, "bad-input", {"field": "reason"}),
        ({"to": "improve", "reason": "x" * 2001}, "bad-input", {"field": "reason"}),
        ({"to": "improve", "as": "rule"}, "bad-input", {"field": "as"}),
        ({"to": "improve", "as": None}, "bad-input", {"field": "as"}),
        ({"to": "improve", "note": "x"}, "unknown-field", {"fields": ["note"]}),
    ],
)
def test_bodies_that_are_refused_before_anything_is_looked_up(api_client, project, body, code, details):
    for key in (correction_in(project, Status.OPEN).id, uuid4()):
        with nothing_stored():
            response = api_client.post(path(key), body)

        assert_refused(response, 400, code, **details)


def test_not_there_then_not_allowed_then_not_possible(api_client, viewer_client, foreign_client, workspace, project):
    fixed = correction_in(project, Status.FIXED)
    unreadable = correction_in(ProjectFactory(workspace=workspace), Status.OPEN)
    for client, key in ((api_client, uuid4()), (api_client, unreadable.id), (foreign_client, fixed.id)):
        with nothing_stored():
            response = client.post(path(key), {"to": "owner"})
        assert_refused(response, 404, "correction-not-found", correctionId=str(key))
    with nothing_stored():
        assert viewer_client.post(path(fixed.id), {"to": "owner"}).status_code == 403
        response = api_client.post(path(fixed.id), {"to": "owner"})
    assert_refused(response, 409, "invalid-transition", **{"from": "fixed", "to": "with-owner"})


def test_taking_it_from_the_owner_takes_the_owner(api_client, project):
    before = correction_in(project, Status.WITH_OWNER)
    with nothing_stored():
        assert api_client.post(path(before.id), {"to": "improve"}).status_code == 403

    assert api_client.post(path(before.id), {"to": "owner", "reason": "Yours."}).status_code == 200
