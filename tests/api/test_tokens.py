"""API keys over /v1 (contract, section 19): nobody mints more than they hold."""

from datetime import timedelta
from uuid import uuid4

import pytest

from kindgi_site import clock
from kindgi_site.callers import Role
from kindgi_site.clock import wire_time
from kindgi_site.workspaces.models import ApiKey
from kindgi_site.workspaces.services.keys import digest_of, store_key
from tests.api.expect import assert_refused, nothing_stored
from tests.factories import ProjectFactory, person_with, service_with
from tests.wire import WireClient

PATH = "/v1/tokens"
FIX_JOB = "corrections:fix-job"
IN_2126 = "2126-01-02T03:04:05.000Z"


class Root:
    """A workspace's administrator with an admin key."""

    def __init__(self, project) -> None:
        self.person = person_with(project, None, is_admin=True)
        self.key, text = store_key(workspace=project.workspace, principal=self.person, role="admin")
        self.client = WireClient(text)


@pytest.fixture
def root(project) -> Root:
    return Root(project)


def record(key: ApiKey, kind: str, principal: object, **more) -> dict:
    plain = {
        "tokenId": str(key.id),
        "principal": {"kind": kind, "id": str(principal)},
        "role": "member",
        "capabilities": [],
        "createdAt": wire_time(key.created_at),
    }
    return plain | more


def newest() -> ApiKey:
    return ApiKey.objects.order_by("-id")[0]


def test_one_s_own_with_an_empty_body(api_client, reviewer):
    for body in (b"", {}):
        response = api_client.post(PATH, body)
        made, text = newest(), response.json()["token"]
        own = f"user:{reviewer.id}"
        assert response.status_code == 201
        assert response.json() == record(made, "user", reviewer.id, createdBy=own, token=text)
        assert made.digest == digest_of(text)
        assert WireClient(text).get("/v1/runs").status_code == 200
        assert text not in str(ApiKey.objects.values())


def test_everything_that_can_be_said(root, workspace, project):
    service = service_with(project)
    body = {
        "for": {"kind": "service-account", "id": str(service.id)},
        "role": "member",
        "capabilities": [FIX_JOB],
        "label": "The fix job",
        "expiresAt": IN_2126,
        "projectId": str(project.id),
    }
    response = root.client.post(PATH, body)

    said = {"capabilities": [FIX_JOB], "label": "The fix job", "projectId": str(project.id), "expiresAt": IN_2126}
    expected = record(newest(), "service-account", service.id, createdBy=f"user:{root.person.id}", **said)
    assert (response.status_code, response.json()) == (201, expected | {"token": response.json()["token"]})
    assert root.client.get(f"{PATH}/{newest().id}").json() == expected


def test_a_capability_named_twice_is_one(root):
    response = root.client.post(PATH, {"capabilities": [FIX_JOB, FIX_JOB]})

    assert (response.status_code, response.json()["capabilities"]) == (201, [FIX_JOB])


def test_the_key_is_shown_once_and_never_by_a_retry(api_client):
    first = api_client.post(PATH, {"label": "x"}, idempotency_key="k")
    with nothing_stored():
        again = api_client.post(PATH, {"label": "x"}, idempotency_key="k")

    details = again.json()["error"]["details"]
    assert (first.status_code, details["status"]) == (201, 201)
    assert_refused(again, 409, "idempotency-key-replay-withheld", **details)


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        (b"[]", "bad-input", None),
        (b"null", "bad-input", None),
        ({"for": {"kind": "team", "id": "x"}}, "bad-input", "for.kind"),
        ({"for": {"kind": "user"}}, "bad-input", "for.id"),
        ({"role": "owner"}, "bad-input", "role"),
        ({"capabilities": FIX_JOB}, "bad-input", "capabilities"),
        ({"capabilities": [1]}, "bad-input", "capabilities"),
        ({"label": "x" * 201}, "bad-input", "label"),
        ({"label": None}, "bad-input", "label"),
        ({"expiresAt": "tomorrow"}, "bad-input", "expiresAt"),
        ({"expiresAt": "2020-01-01T00:00:00Z"}, "bad-input", None),
        ({"projectId": "x"}, "bad-input", "projectId"),
        ({"workspace": "x"}, "unknown-field", None),
    ],
)
def test_bodies_that_are_refused(root, body, code, field):
    with nothing_stored():
        response = root.client.post(PATH, body)

    sent = response.json()["error"]
    named = sent.get("details", {}).get("field")
    assert (response.status_code, sent["code"]) == (400, code)
    assert named == field or field in {"for.kind", "for.id"}


def test_a_project_must_be_there(root):
    for key in (uuid4(), ProjectFactory().id):
        with nothing_stored():
            response = root.client.post(PATH, {"projectId": str(key)})
        assert_refused(response, 404, "project-not-found", projectId=str(key))


def denied_admin(workspace) -> dict:
    return {
        "action": "admin",
        "resource": {"type": "workspace", "id": str(workspace.id)},
        "reason": "The caller is not an administrator of the workspace.",
    }


def test_for_others_and_with_admin_it_takes_an_administrator(api_client, workspace, project):
    admin = person_with(project, None, is_admin=True)
    member_key = WireClient(store_key(workspace=workspace, principal=admin)[1])
    other = {"for": {"kind": "user", "id": str(person_with(project).id)}}
    for client, body in ((api_client, other), (api_client, {"role": "admin"}), (member_key, {"role": "admin"}),
                         (member_key, other), (api_client, {"for": {"kind": "user", "id": "x"}})):  # fmt: skip
        with nothing_stored():
            assert_refused(client.post(PATH, body), 403, "permission-denied", **denied_admin(workspace))


def test_one_may_name_oneself(api_client, reviewer):
    body = {"for": {"kind": "user", "id": str(reviewer.id)}}

    assert api_client.post(PATH, body).json()["principal"] == body["for"]


def test_an_admin_key_is_for_administrators(root, workspace, project):
    body = {"for": {"kind": "user", "id": str(person_with(project, Role.OWNER).id)}, "role": "admin"}
    with nothing_stored():
        assert_refused(root.client.post(PATH, body), 403, "role-exceeds-principal")
    assert root.client.post(PATH, {"role": "admin"}).json()["role"] == "admin"


def test_for_nobody_known(root):
    foreign = ProjectFactory()
    for kind, key in (("user", uuid4()), ("user", "x"), ("user", person_with(foreign).id),
                      ("service-account", service_with(foreign).id), ("user", root.key.id)):  # fmt: skip
        with nothing_stored():
            response = root.client.post(PATH, {"for": {"kind": kind, "id": str(key)}})
        assert_refused(response, 404, "principal-not-found", id=str(key))


def test_only_capabilities_one_holds(api_client, root, reviewer, workspace):
    holder = WireClient(store_key(workspace=workspace, principal=reviewer, capabilities=[FIX_JOB])[1])
    assert holder.post(PATH, {"capabilities": [FIX_JOB]}).status_code == 201
    assert root.client.post(PATH, {"capabilities": [FIX_JOB]}).status_code == 201
    for client, name in ((api_client, FIX_JOB), (holder, "other"), (root.client, "other")):
        with nothing_stored():
            response = client.post(PATH, {"capabilities": [name]})
        resource = {"type": "capability", "id": name}
        reason = f"The caller does not hold the capability {name}."
        assert_refused(response, 403, "permission-denied", action="admin", resource=resource, reason=reason)


def test_a_limited_key_mints_keys_with_its_limit(limited_client, workspace, project):
    other = ProjectFactory(workspace=workspace)
    assert limited_client.post(PATH, {"projectId": str(project.id)}).status_code == 201
    for body, status in (({}, 403), ({"projectId": str(other.id)}, 403)):
        with nothing_stored():
            response = limited_client.post(PATH, body)
        assert (response.status_code, response.json()["error"]["code"]) == (status, "key-project-mismatch")


def test_no_key_outlives_the_one_that_mints_it(reviewer, workspace):
    end = clock.now() + timedelta(hours=1)
    client = WireClient(store_key(workspace=workspace, principal=reviewer, expires_at=end)[1])
    for body in ({}, {"expiresAt": wire_time(end + timedelta(milliseconds=1))}):
        with nothing_stored():
            response = client.post(PATH, body)
        assert_refused(response, 403, "token-expiry-exceeds-minter", latestExpiresAt=wire_time(end))
    assert client.post(PATH, {"expiresAt": wire_time(end)}).status_code == 201


def test_the_list_of_one_s_own_and_of_all(api_client, root, reviewer, workspace, project):
    mine = ApiKey.objects.get(person=reviewer)
    service = service_with(project)
    theirs = store_key(workspace=workspace, principal=service)[0]
    store_key(workspace=(foreign := ProjectFactory()).workspace, principal=person_with(foreign))
    api_client.get(PATH), root.client.get(PATH)

    def listed(client, query=""):
        return [row["tokenId"] for row in client.get(PATH + query).json()["data"]]

    whole = [str(key.id) for key in ApiKey.objects.filter(workspace=workspace).order_by("-created_at", "-id")]
    assert listed(root.client) == whole
    assert listed(root.client, f"?principal=user:{reviewer.id}") == [str(mine.id)]
    assert listed(root.client, f"?principal=service_account:{service.id}") == [str(theirs.id)]
    assert listed(root.client, "?principal=user:x") == []
    assert listed(api_client) == [str(mine.id)]
    assert listed(api_client, f"?principal=service_account:{service.id}") == []
    mine.refresh_from_db()
    used = wire_time(mine.last_used_at)
    assert api_client.get(PATH).json()["data"] == [record(mine, "user", reviewer.id, lastUsedAt=used)]
    for bad in ("user", "robot:1", ":"):
        assert_refused(root.client.get(f"{PATH}?principal={bad}"), 400, "bad-input", field="principal")


@pytest.mark.parametrize("method_end", [("GET", ""), ("POST", "/revoke")], ids=str)
def test_somebody_else_s_is_not_there(api_client, root, project, method_end):
    method, end = method_end
    foreign = ProjectFactory()
    theirs = store_key(workspace=foreign.workspace, principal=person_with(foreign))[0]
    for client, key in ((api_client, root.key.id), (api_client, uuid4()), (api_client, "x"), (root.client, theirs.id)):
        with nothing_stored():
            response = client.request(method, f"{PATH}/{key}{end}")
        assert_refused(response, 404, "not-found", id=str(key))


def test_revoking(api_client, root, reviewer, workspace):
    key, text = store_key(workspace=workspace, principal=reviewer)
    response = api_client.post(f"{PATH}/{key.id}/revoke")

    assert (response.status_code, response.json()) == (200, {"tokenId": str(key.id), "revoked": True})
    assert_refused(WireClient(text).get("/v1/runs"), 401, "auth-revoked")
    revoked_at = wire_time(ApiKey.objects.get(id=key.id).revoked_at)
    with nothing_stored():
        assert root.client.post(f"{PATH}/{key.id}/revoke").json() == response.json()
    assert api_client.get(f"{PATH}/{key.id}").json()["revokedAt"] == revoked_at


def test_an_administrator_revokes_any_key_of_the_workspace(root, reviewer, api_client):
    key = ApiKey.objects.get(person=reviewer)

    assert root.client.post(f"{PATH}/{key.id}/revoke").status_code == 200
    assert_refused(api_client.get("/v1/runs"), 401, "auth-revoked")
