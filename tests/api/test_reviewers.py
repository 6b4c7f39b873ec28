"""The roster of reviewers over /v1 (contract, section 10)."""

from uuid import uuid4

import pytest

from kindgi_site.callers import ReviewerRole, Role
from kindgi_site.clock import wire_time
from kindgi_site.workspaces.models import Reviewer
from kindgi_site.workspaces.services.keys import store_key
from tests.api.expect import assert_refused, nothing_stored
from tests.factories import CorrectorGroupFactory, ReviewerFactory, RunFactory, person_with, service_with
from tests.wire import WireClient

PATH = "/v1/approvals/reviewers"


@pytest.fixture
def root(project) -> WireClient:
    person = person_with(project, None, is_admin=True)
    return WireClient(store_key(workspace=project.workspace, principal=person, role="admin")[1])


@pytest.fixture
def outsider(project) -> WireClient:
    """An owner of the project who is no reviewer."""
    return WireClient(store_key(workspace=project.workspace, principal=person_with(project, Role.OWNER))[1])


def record(reviewer: Reviewer, **more) -> dict:
    plain = {
        "id": str(reviewer.id),
        "tenantId": str(reviewer.workspace_id),
        "userId": str(reviewer.person_id),
        "role": reviewer.role,
        "createdAt": wire_time(reviewer.created_at),
    }
    return plain | more


def denied(workspace) -> dict:
    return {
        "action": "admin",
        "resource": {"type": "workspace", "id": str(workspace.id)},
        "reason": "The caller is not an administrator of the workspace.",
    }


def test_reviewers_and_administrators_read_the_roster_newest_first(api_client, root, workspace, reviewer):
    first = Reviewer.objects.get(person=reviewer)
    second = ReviewerFactory(workspace=workspace, role=ReviewerRole.SENIOR, display_name="Ada",
                             deactivated_at="2026-01-02T03:04:05.678Z")  # fmt: skip
    ReviewerFactory()
    whole = [record(second, displayName="Ada", deactivatedAt="2026-01-02T03:04:05.678Z"), record(first)]
    for client in (api_client, root):
        assert client.get(PATH).json() == {"data": whole, "hasMore": False}
        assert client.get(f"{PATH}?role=standard").json() == {"data": whole[1:], "hasMore": False}
        assert client.get(f"{PATH}/{second.id}").json() == whole[0]
        assert_refused(client.get(f"{PATH}?role=boss"), 400, "bad-input", field="role")


def test_others_do_not(outsider, workspace, reviewer):
    for path in (PATH, f"{PATH}?role=boss", f"{PATH}/{uuid4()}", f"{PATH}/{Reviewer.objects.get().id}"):
        assert_refused(outsider.get(path), 403, "permission-denied", **denied(workspace))


def test_a_role_that_the_key_carries_is_enough_and_a_deactivated_one_is_none(api_client, workspace, project, reviewer):
    service = store_key(workspace=workspace, principal=service_with(project), reviewer_role=ReviewerRole.STANDARD)[1]
    assert WireClient(service).get(PATH).status_code == 200
    Reviewer.objects.filter(person=reviewer).update(deactivated_at="2026-01-02T03:04:05Z")
    assert_refused(api_client.get(PATH), 403, "permission-denied", **denied(workspace))


@pytest.mark.parametrize("method_end", [("GET", ""), ("POST", "/unregister")], ids=str)
def test_not_there(root, reviewer, method_end):
    method, end = method_end
    for key in (uuid4(), "x", ReviewerFactory().id):
        with nothing_stored():
            response = root.request(method, f"{PATH}/{key}{end}")
        assert_refused(response, 404, "reviewer-not-found", reviewerId=str(key))


def test_registering(root, workspace, project):
    person = person_with(project)
    response = root.post(PATH, {"userId": str(person.id), "role": "senior", "displayName": "Ada"})

    made = Reviewer.objects.get(person=person)
    assert (response.status_code, response.json()) == (201, record(made, role="senior", displayName="Ada"))


def test_registering_again_changes_it_in_place_and_makes_it_active(root, workspace, project):
    before = ReviewerFactory(workspace=workspace, person=person_with(project), display_name="Ada",
                             deactivated_at="2026-01-02T03:04:05Z")  # fmt: skip
    response = root.post(PATH, {"userId": str(before.person_id), "role": "admin"})

    assert (response.status_code, response.json()) == (201, record(before, role="admin", displayName="Ada"))
    renamed = root.post(PATH, {"userId": str(before.person_id), "role": "admin", "displayName": "A."}).json()
    assert (renamed["id"], renamed["displayName"]) == (str(before.id), "A.")


@pytest.mark.parametrize(
    ("change", "code", "field"),
    [
        ({"userId": None}, "bad-input", "userId"),
        ({"userId": "x"}, "bad-input", "userId"),
        ({"role": "boss"}, "bad-input", "role"),
        ({"displayName": ""}, "bad-input", "displayName"),
        ({"displayName": "x" * 201}, "bad-input", "displayName"),
        ({"tenantId": "x"}, "unknown-field", None),
    ],
)
def test_bodies_that_are_refused(root, outsider, project, change, code, field):
    body = {"userId": str(uuid4()), "role": "senior"} | change
    for client in (root, outsider):
        with nothing_stored():
            response = client.post(PATH, body)
        sent = response.json()["error"]
        assert (response.status_code, sent["code"], sent["details"].get("field")) == (400, code, field)


def test_only_members_are_registered_and_only_by_an_administrator(root, api_client, outsider, workspace, reviewer):
    for key in (uuid4(), ReviewerFactory().person_id):
        body = {"userId": str(key), "role": "senior"}
        with nothing_stored():
            assert_refused(root.post(PATH, body), 404, "principal-not-found", userId=str(key))
            assert_refused(api_client.post(PATH, body), 403, "permission-denied", **denied(workspace))
            assert_refused(outsider.post(PATH, body), 403, "permission-denied", **denied(workspace))


def test_unregistering(root, api_client, workspace, project, reviewer):
    place = Reviewer.objects.get(person=reviewer)
    group = CorrectorGroupFactory(workspace=workspace, min_reviewer_role="standard")
    body = {"runId": str(RunFactory(project=project).run_id), "answer": "right", "correctorGroupId": str(group.id)}
    assert api_client.post("/v1/corrections", body).status_code == 201
    with nothing_stored():
        assert_refused(api_client.post(f"{PATH}/{place.id}/unregister"), 403, "permission-denied", **denied(workspace))

    response = root.post(f"{PATH}/{place.id}/unregister")

    assert (response.status_code, response.json()) == (200, {"reviewerId": str(place.id), "unregistered": True})
    with nothing_stored():
        assert root.post(f"{PATH}/{place.id}/unregister").json() == response.json()
        assert api_client.post("/v1/corrections", body).json()["error"]["code"] == "corrector-group-not-allowed"
