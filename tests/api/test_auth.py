"""Contract 2.1, 2.4 and 2.5: who is let in, and a key that is limited to a project."""

import sqlite3
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from django.db import connection

from corrections.models import Run
from kindgi_site import clock
from kindgi_site.callers import Role
from kindgi_site.workspaces.models import ApiKey, Membership, Person, Project, Workspace
from kindgi_site.workspaces.services.keys import revoke_key, store_key
from tests.factories import ProjectFactory, ProjectRoleFactory, RunFactory, service_with
from tests.wire import WireClient

Refusal = Callable[..., dict[str, Any]]


# ---- the token ----


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"authorization": ""},
        {"authorization": "   "},
        {"authorization": "Bearer"},
        {"authorization": "Bearer "},
        {"authorization": "Bearer    "},
        {"authorization": "Basic {key}"},
        {"authorization": "{key}"},
        {"authorization": "Bearer{key}"},
        {"authorization": "Bearer\t{key}"},
        {"authorization": "Bearer {key}x"},
        {"authorization": "Bearer {key} {key}"},
        {"authorization": "Bearer kgi_nobody-knows-this"},
        {"authorization": "Bearer caf\xe9"},
        {"x_api_key": "{key}"},
    ],
)
def test_whoever_is_not_known_is_refused(sent: dict[str, str], api_key: str, refusal: Refusal) -> None:
    headers = {name: value.replace("{key}", api_key) for name, value in sent.items()}

    response = WireClient(None).get("/v1/runs", **headers)

    assert response.status_code == 401
    assert response.json() == refusal(response, "auth-missing")


@pytest.mark.parametrize("scheme", ["Bearer ", "bearer ", "BEARER ", "bEaReR    "])
def test_the_scheme_is_case_insensitive_and_followed_by_spaces(scheme: str, api_key: str) -> None:
    assert WireClient(None).get("/v1/runs", authorization=scheme + api_key).status_code == 200


def test_a_revoked_key_is_told_so_even_when_it_has_expired_too(api_client: WireClient, refusal: Refusal) -> None:
    revoke_key(key=ApiKey.objects.get())
    ApiKey.objects.update(expires_at=clock.now() - timedelta(days=1))

    response = api_client.get("/v1/runs")

    assert response.status_code == 401
    assert response.json() == refusal(response, "auth-revoked")


def test_an_expired_key_is_told_so(api_client: WireClient, refusal: Refusal) -> None:
    ApiKey.objects.update(expires_at=clock.now())

    response = api_client.get("/v1/runs")

    assert response.status_code == 401
    assert response.json() == refusal(response, "auth-expired")


def test_a_key_is_good_until_it_expires(api_client: WireClient) -> None:
    ApiKey.objects.update(expires_at=clock.now() + timedelta(seconds=30))

    assert api_client.get("/v1/runs").status_code == 200


@pytest.mark.parametrize("leave", [
    lambda: Person.objects.update(is_active=False),
    lambda: Membership.objects.all().delete(),
])  # fmt: skip
def test_a_key_opens_nothing_once_its_person_has_left(
    leave: Callable[[], object], api_client: WireClient, refusal: Refusal
) -> None:
    leave()

    response = api_client.get("/v1/runs")

    assert response.status_code == 401
    assert response.json() == refusal(response, "auth-revoked")


def test_the_text_of_a_key_is_stored_nowhere(api_key: str) -> None:
    assert all(api_key not in str(value) for value in ApiKey.objects.values().get().values())


def test_when_a_key_was_used_is_written_once_in_a_quarter_of_an_hour(api_client: WireClient) -> None:
    api_client.get("/v1/runs")
    first = ApiKey.objects.get().last_used_at
    api_client.get("/v1/runs")
    assert first is not None
    assert ApiKey.objects.get().last_used_at == first

    ApiKey.objects.update(last_used_at=first - timedelta(minutes=16))
    api_client.get("/v1/runs")
    assert ApiKey.objects.get().last_used_at >= first


@pytest.fixture
def use_cannot_be_written(transactional_db: None) -> Iterator[None]:
    """Another connection holds what writing down a key's use waits for; this one waits a tenth of a second."""
    options = connection.get_connection_params()
    other: Any
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA busy_timeout = 100")
            other = sqlite3.connect(options["database"], isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
        else:
            cursor.execute("SET lock_timeout = '100ms'")
            known = ("dbname", "user", "password", "host", "port")
            other = psycopg.connect(**{name: options[name] for name in known if name in options})
            other.execute(f"LOCK TABLE {ApiKey._meta.db_table} IN EXCLUSIVE MODE")
    try:
        yield
    finally:
        other.close()
        if connection.vendor == "postgresql":  # a pool keeps the connection as it is
            with connection.cursor() as cursor:
                cursor.execute("RESET lock_timeout")
        connection.close()


def test_a_use_that_cannot_be_written_down_stops_nobody(
    api_client: WireClient, use_cannot_be_written: None, caplog: pytest.LogCaptureFixture
) -> None:
    response = api_client.get("/v1/runs")

    assert (response.status_code, response.json()) == (200, {"data": [], "hasMore": False})
    assert ApiKey.objects.get().last_used_at is None
    assert [record.levelname for record in caplog.records] == ["WARNING"]


# ---- the workspace ----


def test_the_workspace_is_always_the_tokens(foreign_client: WireClient, run: Run, workspace: Workspace) -> None:
    theirs = f"tenantId={workspace.id}&workspaceId={workspace.id}"

    assert foreign_client.get(f"/v1/runs?{theirs}").json() == {"data": [], "hasMore": False}
    assert foreign_client.get(f"/v1/runs?scopeKind=project&scopeId={run.project_id}").json()["data"] == []


@pytest.mark.parametrize("path", ["/v1/runs/{id}", "/v1/corrections/{id}"])
def test_what_is_in_another_workspace_does_not_exist(path: str, foreign_client: WireClient, run: Run) -> None:
    there = foreign_client.get(path.format(id=run.run_id))
    nowhere = foreign_client.get(path.format(id=uuid4()))

    assert there.status_code == nowhere.status_code == 404
    assert there.json()["error"]["code"] == nowhere.json()["error"]["code"]


def test_a_project_of_another_workspace_does_not_exist(
    foreign_client: WireClient, run_path: str, run_body: dict[str, Any], refusal: Refusal
) -> None:
    response = foreign_client.put(run_path, run_body)

    assert response.status_code == 404
    assert response.json() == refusal(response, "project-not-found", {"projectId": run_body["projectId"]})
    assert not Run.objects.exists()


# ---- a key that is limited to a project ----


@pytest.fixture
def other(workspace: Workspace, reviewer: Person) -> Project:
    """Another project in which the reviewer may do everything, by another key."""
    project = ProjectFactory(workspace=workspace)
    ProjectRoleFactory(project=project, person=reviewer, role=Role.OWNER)
    return project


WAYS_TO_NAME = {
    "path": ("GET", "/v1/projects/{id}", None),
    "path below": ("DELETE", "/v1/projects/{id}/agents/x/test-set", None),
    "query": ("GET", "/v1/runs?projectId={id}", None),
    "query of HEAD": ("HEAD", "/v1/runs?projectId={id}", None),
    "one of two in the query": ("GET", "/v1/runs?projectId={own}&projectId={id}", None),
    "scope in the query": ("GET", "/v1/runs?scopeKind=project&scopeId={id}", None),
    "body of POST": ("POST", "/v1/corrections", {"projectId": "{id}"}),
    "body of PUT": ("PUT", "/v1/runs/00000000-0000-0000-0000-000000000000", {"projectId": "{id}"}),
    "body of PATCH": ("PATCH", "/v1/corrector-groups/x", {"projectId": "{id}"}),
    "scope in the body": ("POST", "/v1/corrector-groups", {"scope": {"kind": "project", "projectId": "{id}"}}),
    "scope beside an own id": ("POST", "/v1/corrector-groups", {"projectId": "{own}", "scope": {"projectId": "{id}"}}),
}


def naming(way: str, project_id: object, own_id: object, client: WireClient) -> Any:
    """The answer to a request that names a project in one of the ways."""
    method, path, body = WAYS_TO_NAME[way]
    path = path.format(id=project_id, own=own_id)
    return client.request(method, path, b"" if body is None else filled(body, id=project_id, own=own_id))


def filled(value: Any, **ids: object) -> Any:
    if isinstance(value, dict):
        return {name: filled(inner, **ids) for name, inner in value.items()}
    return value.format(**ids)


@pytest.mark.parametrize("way", WAYS_TO_NAME)
def test_a_limited_key_may_not_name_another_project(
    way: str, limited_client: WireClient, project: Project, other: Project, refusal: Refusal
) -> None:
    response = naming(way, other.id, project.id, limited_client)

    assert response.status_code == 403
    if way == "query of HEAD":
        return
    details = {
        "keyProjectId": str(project.id),
        "projectId": str(other.id),
        "action": "read" if WAYS_TO_NAME[way][0] == "GET" else "write",
        "resource": {"type": "project", "id": str(other.id)},
        "reason": "This API key is limited to another project.",
    }
    assert response.json() == refusal(response, "key-project-mismatch", details)
    assert not Run.objects.exists()


@pytest.mark.parametrize("way", WAYS_TO_NAME)
def test_a_limited_key_may_name_its_own_project(way: str, limited_client: WireClient, project: Project) -> None:
    assert naming(way, str(project.id).upper(), project.id, limited_client).status_code in (200, 400, 404)


@pytest.mark.parametrize("way", WAYS_TO_NAME)
def test_a_key_without_a_limit_may_name_any(way: str, api_client: WireClient, project: Project, other: Project) -> None:
    assert naming(way, other.id, project.id, api_client).status_code in (200, 400, 404)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/v1/runs?projectId=none", b""),
        ("GET", "/v1/runs?scopeId={id}&scopeKind=org", b""),
        ("GET", "/v1/runs", {"projectId": "{id}"}),
        ("DELETE", "/v1/nowhere", {"projectId": "{id}"}),
        ("POST", "/v1/corrections", ["{id}"]),
        ("POST", "/v1/corrections", {"projectId": ["{id}"]}),
        ("POST", "/v1/corrections", {"scope": "{id}"}),
        ("POST", "/v1/corrections", b'{"projectId": "{id}"'),
    ],
)
def test_what_names_no_project_is_the_routes_business(
    method: str, path: str, body: Any, limited_client: WireClient, other: Project
) -> None:
    sent = body
    if not isinstance(body, bytes):
        sent = [str(other.id)] if isinstance(body, list) else {
            name: [str(other.id)] if isinstance(inner, list) else str(other.id) for name, inner in body.items()
        }  # fmt: skip

    response = limited_client.request(method, path.format(id=other.id), sent)

    assert response.status_code in (200, 400, 404)


def test_a_run_of_another_project_is_caught_by_the_permission_check(
    limited_client: WireClient, api_client: WireClient, other: Project, refusal: Refusal
) -> None:
    theirs = RunFactory(project=other)

    read = limited_client.get(f"/v1/runs/{theirs.run_id}")
    corrected = limited_client.post("/v1/corrections", {"runId": str(theirs.run_id), "answer": "right"})

    assert (read.status_code, corrected.status_code) == (403, 403)
    assert read.json()["error"]["code"] == corrected.json()["error"]["code"] == "permission-denied"
    assert limited_client.get("/v1/runs").json()["data"] == []
    assert api_client.get(f"/v1/runs/{theirs.run_id}").status_code == 200


def test_a_service_has_only_what_it_was_granted(project: Project, other: Project) -> None:
    key = store_key(workspace=project.workspace, principal=service_with(project, Role.VIEWER))[1]
    seen, unseen = RunFactory(project=project), RunFactory(project=other)
    client = WireClient(key)

    assert [row["id"] for row in client.get("/v1/runs").json()["data"]] == [str(seen.run_id)]
    assert client.get(f"/v1/runs/{unseen.run_id}").status_code == 403
