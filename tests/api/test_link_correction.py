"""`POST /v1/corrections/{correctionId}/link` and `…/unlink` (contract 7.11)."""

from uuid import uuid4

import pytest

from corrections.models import CorrectionEvent
from corrections.vocabulary import SortedTo, Status
from tests.api.expect import assert_refused, nothing_stored
from tests.api.records import fresh, record, sorting
from tests.factories import ProjectFactory
from tests.life import ADDRESS, LINKED, NOTED, correction_in

LONG_ADDRESS = "https://example.org/" + "x" * 1980


def path(correction_id: object, verb: str = "link") -> str:
    return f"/v1/corrections/{correction_id}/{verb}"


@pytest.mark.parametrize(
    ("link", "sorted_to"),
    [
        ({"kind": "improve-run", "id": "x" * 200}, "improve"),
        ({"kind": "suggested-change", "id": "1"}, "improve"),
        ({"kind": "pull-request", "url": "HTTP://example.org:8000/a?b#c"}, "developer"),
        ({"kind": "pull-request", "url": LONG_ADDRESS}, "developer"),
    ],
)
def test_the_record_after_it(api_client, reviewer, project, link, sorted_to):
    before = correction_in(project, Status.OPEN)

    response = api_client.post(path(before.id), link)

    after = fresh(before)
    by = sorting(after, kind="user", id=str(reviewer.id))
    assert response.status_code == 200
    assert response.json() == record(after, status="being-fixed", sortedTo=sorted_to, sorted=by, link=link)


def test_it_replaces_an_earlier_link(api_client, project):
    before = correction_in(project, Status.BEING_FIXED, SortedTo.IMPROVE, **LINKED)

    answer = api_client.post(path(before.id), {"kind": "pull-request", "url": ADDRESS}).json()

    assert (answer["link"], answer["sortedTo"]) == ({"kind": "pull-request", "url": ADDRESS}, "improve")


def test_the_same_link_again_changes_nothing(api_client, project):
    before = correction_in(project, Status.BEING_FIXED, SortedTo.IMPROVE, **LINKED)
    with nothing_stored():
        response = api_client.post(path(before.id), {"kind": "improve-run", "id": "improve-1"})

    assert response.json()["updatedAt"] == "2026-01-02T03:04:05.678Z"


@pytest.mark.parametrize(
    ("body", "code", "details"),
    [
        (b"", "bad-input", {}),
        ({}, "bad-input", {"field": "kind"}),
        ({"kind": "issue", "id": "1"}, "bad-input", {"field": "kind"}),
        ({"kind": "improve-run"}, "bad-input", {"field": "id"}),
        ({"kind": "improve-run", "id": ""}, "bad-input", {"field": "id"}),
        ({"kind": "improve-run", "id": 1}, "bad-input", {"field": "id"}),
        ({"kind": "improve-run", "id": "x" * 201}, "bad-input", {"field": "id"}),
        ({"kind": "improve-run", "url": ADDRESS}, "bad-input", {"field": "id"}),
        ({"kind": "improve-run", "id": "1", "url": ADDRESS}, "bad-input", {"field": "id"}),
        ({"kind": "pull-request"}, "bad-input", {"field": "url"}),
        ({"kind": "pull-request", "id": "1"}, "bad-input", {"field": "url"}),
        ({"kind": "pull-request", "url": "/pull/1"}, "bad-input", {"field": "url"}),
        ({"kind": "pull-request", "url": "javascript:alert(1)"}, "bad-input", {"field": "url"}),
        ({"kind": "pull-request", "url": "https://"}, "bad-input", {"field": "url"}),
        ({"kind": "pull-request", "url": "https://["}, "bad-input", {"field": "url"}),
        ({"kind": "pull-request", "url": "https://example.org/a b"}, "bad-input", {"field": "url"}),
        ({"kind": "pull-request", "url": LONG_ADDRESS + "x"}, "bad-input", {"field": "url"}),
        ({"kind": "pull-request", "url": ADDRESS, "title": "x"}, "unknown-field", {"fields": ["title"]}),
    ],
)
def test_bodies_that_are_refused_before_anything_is_looked_up(api_client, project, body, code, details):
    for key in (correction_in(project, Status.OPEN).id, uuid4()):
        with nothing_stored():
            response = api_client.post(path(key), body)

        assert_refused(response, 400, code, **details)


@pytest.mark.parametrize(("verb", "body"), [("link", {"kind": "improve-run", "id": "1"}), ("unlink", b"")])
def test_not_there_then_not_allowed_then_not_possible(
    api_client, viewer_client, foreign_client, workspace, project, verb, body
):
    removed = correction_in(project, Status.REMOVED)
    unreadable = correction_in(ProjectFactory(workspace=workspace), Status.OPEN)
    for client, key in ((api_client, uuid4()), (api_client, unreadable.id), (foreign_client, removed.id)):
        with nothing_stored():
            response = client.post(path(key, verb), body)
        assert_refused(response, 404, "correction-not-found", correctionId=str(key))
    with nothing_stored():
        assert viewer_client.post(path(removed.id, verb), body).status_code == 403
        response = api_client.post(path(removed.id, verb), body)
    assert response.json()["error"]["details"]["from"] == "removed"
    assert (response.status_code, response.json()["error"]["code"]) == (409, "invalid-transition")


@pytest.mark.parametrize("status", [Status.FIXED, Status.WONT_FIX])
def test_what_is_settled_takes_no_link(api_client, project, status):
    before = correction_in(project, status)
    with nothing_stored():
        response = api_client.post(path(before.id), {"kind": "improve-run", "id": "1"})

    assert_refused(response, 409, "invalid-transition", **{"from": status, "to": "being-fixed"})


def test_unlink_puts_it_back(api_client, project):
    before = correction_in(project, Status.BEING_FIXED, SortedTo.OWNER, **LINKED)

    response = api_client.post(path(before.id, "unlink"))

    after = fresh(before)
    by_rule = {"by": {"kind": "rule"}, "at": "2026-01-02T03:04:05.678Z"}
    assert response.status_code == 200
    assert response.json() == record(after, status="with-owner", sortedTo="owner", sorted=by_rule)


@pytest.mark.parametrize("status", [status for status in Status if status != Status.REMOVED])
def test_unlink_without_a_link_changes_nothing(api_client, project, status):
    before = correction_in(project, status, SortedTo.IMPROVE, **NOTED)
    with nothing_stored():
        response = api_client.post(path(before.id, "unlink"))

    assert (response.status_code, response.json()["status"]) == (200, status)
    assert not CorrectionEvent.objects.exists()


def test_linking_what_is_with_the_owner_takes_the_owner_and_unlinking_does_not(api_client, project):
    before = correction_in(project, Status.WITH_OWNER, **LINKED)
    with nothing_stored():
        assert api_client.post(path(before.id), {"kind": "improve-run", "id": "2"}).status_code == 403

    answer = api_client.post(path(before.id, "unlink")).json()
    assert answer["status"] == "with-owner"
    assert "link" not in answer
