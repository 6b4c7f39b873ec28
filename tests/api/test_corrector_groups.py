"""Corrector groups over /v1 (contract 9.2, 9.3): five routes, in the contract's order of refusals."""

from uuid import UUID, uuid4

import pytest

from corrections.models import CorrectorGroup
from corrections.vocabulary import ScopeKind
from kindgi_site.callers import Role
from kindgi_site.clock import wire_time
from kindgi_site.workspaces.services.keys import store_key
from tests.api.expect import assert_refused, nothing_stored
from tests.factories import CorrectionFactory, CorrectorGroupFactory, ProjectFactory, RunFactory, person_with
from tests.wire import WireClient

PATH = "/v1/corrector-groups"
NOWHERE = str(UUID(int=7))  # the same in each process, as it is in the names of tests
RESTRICTION = {"minReviewerRole": "senior", "principalKinds": ["user", "service"], "principalIds": ["a", "b"]}


def client_of(project, role=None, *, is_admin=False, key_role="member", limited_to=None) -> WireClient:
    person = person_with(project, role, is_admin=is_admin)
    key = store_key(workspace=project.workspace, principal=person, role=key_role, project=limited_to)
    return WireClient(key[1])


@pytest.fixture
def root(project) -> WireClient:
    """An admin key of a workspace's administrator."""
    return client_of(project, is_admin=True, key_role="admin")


@pytest.fixture
def project_admin(project) -> WireClient:
    return client_of(project, Role.ADMIN)


def record(group: CorrectorGroup, **more) -> dict:
    plain = {
        "id": str(group.id),
        "tenantId": str(group.workspace_id),
        "scope": {"kind": "tenant"},
        "name": group.name,
        "weight": 1,
        "createdAt": wire_time(group.created_at),
        "updatedAt": wire_time(group.updated_at),
    }
    return plain | more


def denied(kind: str, target: object, reason: str) -> dict:
    return {"action": "admin", "resource": {"type": kind, "id": str(target)}, "reason": reason}


NOT_PROJECT_ADMIN = "You need the admin permission on this project."
NOT_ADMIN = "The caller is not an administrator of the workspace."


def test_a_group_of_the_workspace(root, workspace):
    body = {"name": " Experts ", "weight": 2.5, "scope": {"kind": "tenant"}, "description": "Know it.",
            "assertableBy": RESTRICTION}  # fmt: skip
    response = root.post(PATH, body)

    group = CorrectorGroup.objects.get()
    restriction = RESTRICTION | {"principalCount": 2}
    assert response.status_code == 201
    assert response.json() == record(group, weight=2.5, description="Know it.", assertableBy=restriction)
    assert (group.name, group.workspace_id, group.created_at) == (" Experts ", workspace.id, group.updated_at)
    assert root.get(f"{PATH}/{group.id}").json() == response.json()


@pytest.mark.parametrize("agent", [{}, {"agentId": "support"}])
def test_a_group_of_a_project_or_an_agent(project_admin, project, agent):
    scope = {"kind": "agent" if agent else "project", "projectId": str(project.id)} | agent
    response = project_admin.post(PATH, {"name": "n", "weight": 0, "scope": scope, "assertableBy": None})

    group = CorrectorGroup.objects.get()
    assert (response.status_code, response.json()) == (201, record(group, scope=scope, weight=0))


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": None}, "name"),
        ({"name": " "}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"weight": -0.1}, "weight"),
        ({"weight": True}, "weight"),
        ({"weight": "1"}, "weight"),
        ({"scope": {}}, "scope"),
        ({"scope": {"kind": "org"}}, "scope"),
        ({"scope": {"kind": "tenant", "projectId": NOWHERE}}, "scope"),
        ({"scope": {"kind": "project"}}, "scope"),
        ({"scope": {"kind": "project", "projectId": "x"}}, "scope"),
        ({"scope": {"kind": "project", "projectId": NOWHERE, "agentId": "a"}}, "scope"),
        ({"scope": {"kind": "agent", "projectId": NOWHERE}}, "scope"),
        ({"scope": {"kind": "tenant", "x": 1}}, "scope"),
        ({"description": "x" * 2001}, "description"),
        ({"description": None}, "description"),
        ({"assertableBy": {}}, "assertableBy"),
        ({"assertableBy": {"principalKinds": []}}, "assertableBy"),
        ({"assertableBy": {"principalKinds": ["robot"]}}, "assertableBy"),
        ({"assertableBy": {"principalIds": []}}, "assertableBy"),
        ({"assertableBy": {"principalIds": [" "]}}, "assertableBy"),
        ({"assertableBy": {"principalIds": ["x"] * 101}}, "assertableBy"),
        ({"assertableBy": {"minReviewerRole": "boss"}}, "assertableBy"),
        ({"assertableBy": {"minReviewerRole": "senior", "x": 1}}, "assertableBy"),
        ({"assertableBy": []}, "assertableBy"),
    ],
)
def test_bodies_that_are_refused(root, project, change, field):
    """Also for who may not, and on a project that is not there: the body comes first."""
    body = {"name": "n", "weight": 1, "scope": {"kind": "tenant"}} | change
    viewer = client_of(project, Role.VIEWER)
    for client in (root, viewer):
        with nothing_stored():
            response = client.post(PATH, body)
        sent = response.json()["error"]
        assert (response.status_code, sent["code"]) == (400, "bad-input")
        assert sent["details"]["field"].split(".")[0] == field


@pytest.mark.parametrize("missing", ["name", "weight", "scope"])
def test_what_must_be_said(root, missing):
    body = {"name": "n", "weight": 1, "scope": {"kind": "tenant"}}
    del body[missing]
    with nothing_stored():
        assert_refused(root.post(PATH, body), 400, "bad-input", field=missing)


def test_a_weight_that_no_number_can_be(root):
    for weight in ("1e400", "NaN", "-Infinity"):
        with nothing_stored():
            response = root.post(PATH, f'{{"name": "n", "weight": {weight}, "scope": {{"kind": "tenant"}}}}')
        assert (response.status_code, response.json()["error"]["code"]) == (400, "bad-input")


def test_unknown_fields(root):
    body = {"name": "n", "weight": 1, "scope": {"kind": "tenant"}, "id": "x", "kind": "y"}
    with nothing_stored():
        assert_refused(root.post(PATH, body), 400, "unknown-field", fields=["id", "kind"])


def test_the_project_then_the_permission_then_the_name(project, workspace):
    foreign, elsewhere = ProjectFactory(), ProjectFactory(workspace=workspace)
    editor, admin = client_of(project, Role.EDITOR), client_of(project, Role.ADMIN)
    CorrectorGroupFactory(workspace=workspace, name="n", scope_kind=ScopeKind.PROJECT, project=project)

    def ask(client, project_id):
        with nothing_stored():
            scope = {"kind": "project", "projectId": str(project_id)}
            return client.post(PATH, {"name": "n", "weight": 1, "scope": scope})

    for project_id in (uuid4(), foreign.id):
        assert_refused(ask(editor, project_id), 404, "project-not-found", projectId=str(project_id))
    for client, where in ((editor, project), (admin, elsewhere)):
        reason = denied("project", where.id, NOT_PROJECT_ADMIN)
        assert_refused(ask(client, where.id), 403, "permission-denied", **reason)
    assert_refused(ask(admin, project.id), 409, "corrector-group-name-taken", name="n")


@pytest.mark.parametrize("kind", ["project admin", "member key", "limited key"])
def test_a_group_of_the_workspace_takes_its_administrator(project, workspace, kind):
    client = {
        "project admin": lambda: client_of(project, Role.ADMIN),
        "member key": lambda: client_of(project, is_admin=True),
        "limited key": lambda: client_of(project, is_admin=True, key_role="admin", limited_to=project),
    }[kind]()
    with nothing_stored():
        response = client.post(PATH, {"name": "n", "weight": 1, "scope": {"kind": "tenant"}})

    assert_refused(response, 403, "permission-denied", **denied("workspace", workspace.id, NOT_ADMIN))


def test_a_name_is_one_of_its_scope(root, project):
    scopes = [
        {"kind": "tenant"},
        {"kind": "project", "projectId": str(project.id)},
        {"kind": "agent", "projectId": str(project.id), "agentId": "a"},
        {"kind": "agent", "projectId": str(project.id), "agentId": "b"},
    ]
    for scope in scopes:
        body = {"name": "n", "weight": 1, "scope": scope}
        assert root.post(PATH, body).status_code == 201
        assert_refused(root.post(PATH, body), 409, "corrector-group-name-taken", name="n")
        assert root.post(PATH, body | {"name": "N"}).status_code == 201
    group = CorrectorGroup.objects.get(scope_kind="tenant", name="n")
    root.post(f"{PATH}/{group.id}/unregister")
    assert root.post(PATH, {"name": "n", "weight": 1, "scope": scopes[0]}).status_code == 201


def test_the_list_is_of_live_ones_newest_first(api_client, workspace, project):
    first, second = CorrectorGroupFactory(workspace=workspace), CorrectorGroupFactory(workspace=workspace)
    CorrectorGroupFactory(workspace=workspace, unregistered_at=first.created_at)
    CorrectorGroupFactory()
    elsewhere = ProjectFactory(workspace=workspace)
    CorrectorGroupFactory(workspace=workspace, scope_kind=ScopeKind.PROJECT, project=elsewhere)

    assert api_client.get(PATH).json() == {"data": [record(second), record(first)], "hasMore": False}
    page = api_client.get(f"{PATH}?limit=1").json()
    assert [row["id"] for row in page["data"]] == [str(second.id)]
    rest = api_client.get(f"{PATH}?limit=1&cursor={page['nextCursor']}").json()
    assert rest == {"data": [record(first)], "hasMore": False}


def test_the_list_of_exactly_one_scope(api_client, workspace, project):
    made = {
        "scopeKind=tenant": CorrectorGroupFactory(workspace=workspace),
        f"scopeKind=project&projectId={project.id}": CorrectorGroupFactory(
            workspace=workspace, scope_kind=ScopeKind.PROJECT, project=project
        ),
        f"scopeKind=agent&projectId={project.id}&agentId=a": CorrectorGroupFactory(
            workspace=workspace, scope_kind=ScopeKind.AGENT, project=project, agent_id="a"
        ),
    }
    for query, group in made.items():
        assert [row["id"] for row in api_client.get(f"{PATH}?{query}").json()["data"]] == [str(group.id)]
    assert api_client.get(f"{PATH}?scopeKind=project&projectId={NOWHERE}").json() == {"data": [], "hasMore": False}


@pytest.mark.parametrize(
    "query",
    [
        "scopeKind=org",
        "scopeKind=project",
        "scopeKind=project&projectId=x",
        "scopeKind=agent&agentId=a",
        "agentId=a",
        f"projectId={NOWHERE}",
        f"scopeKind=tenant&projectId={NOWHERE}",
        f"scopeKind=project&projectId={NOWHERE}&agentId=a",
        f"scopeKind=agent&projectId={NOWHERE}&agentId=%00",
    ],
)
def test_a_scope_that_names_none(api_client, query):
    assert_refused(api_client.get(f"{PATH}?{query}"), 400, "bad-input", field="scopeKind")


def test_who_may_speak_is_told_to_administrators_of_the_scope(api_client, project_admin, root, workspace, project):
    said = {"min_reviewer_role": "senior", "principal_kinds": ["user"], "principal_ids": ["a", "b"]}
    of_workspace = CorrectorGroupFactory(workspace=workspace, **said)
    of_project = CorrectorGroupFactory(workspace=workspace, scope_kind=ScopeKind.PROJECT, project=project, **said)
    others = {"minReviewerRole": "senior", "principalKinds": ["user"], "principalCount": 2}
    whole = others | {"principalIds": ["a", "b"]}
    for client, group, seen in (
        (api_client, of_workspace, others),
        (api_client, of_project, others),
        (project_admin, of_workspace, others),
        (project_admin, of_project, whole),
        (root, of_workspace, whole),
    ):
        assert client.get(f"{PATH}/{group.id}").json()["assertableBy"] == seen
        listed = {row["id"]: row["assertableBy"] for row in client.get(PATH).json()["data"]}
        assert listed[str(group.id)] == seen


def test_without_ids_there_is_no_count(api_client, workspace):
    group = CorrectorGroupFactory(workspace=workspace, principal_kinds=["service"])

    assert api_client.get(f"{PATH}/{group.id}").json()["assertableBy"] == {"principalKinds": ["service"]}


def test_a_retired_group_is_read_and_not_changed(root, workspace):
    group = CorrectorGroupFactory(workspace=workspace, unregistered_at="2026-01-02T03:04:05.678Z")

    answer = root.get(f"{PATH}/{group.id}").json()

    assert answer == record(group, unregisteredAt="2026-01-02T03:04:05.678Z")
    for ask in (
        lambda: root.patch(f"{PATH}/{group.id}", {"weight": 2}),
        lambda: root.post(f"{PATH}/{group.id}/unregister"),
    ):
        with nothing_stored():
            assert_refused(ask(), 404, "corrector-group-not-found", correctorGroupId=str(group.id))


@pytest.mark.parametrize(("method", "end"), [("GET", ""), ("PATCH", ""), ("POST", "/unregister")])
def test_not_there(api_client, foreign_client, workspace, method, end):
    mine = CorrectorGroupFactory(workspace=workspace)
    elsewhere = ProjectFactory(workspace=workspace)
    unreadable = CorrectorGroupFactory(workspace=workspace, scope_kind=ScopeKind.PROJECT, project=elsewhere)
    for client, key in (
        (api_client, uuid4()),
        (api_client, "x"),
        (api_client, unreadable.id),
        (foreign_client, mine.id),
    ):
        with nothing_stored():
            response = client.request(method, f"{PATH}/{key}{end}", {"weight": 2} if method == "PATCH" else b"")
        assert_refused(response, 404, "corrector-group-not-found", correctorGroupId=str(key))


def test_readers_change_nothing(api_client, workspace, project):
    of_workspace = CorrectorGroupFactory(workspace=workspace)
    of_project = CorrectorGroupFactory(workspace=workspace, scope_kind=ScopeKind.PROJECT, project=project)
    for group, details in (
        (of_workspace, denied("workspace", workspace.id, NOT_ADMIN)),
        (of_project, denied("project", project.id, NOT_PROJECT_ADMIN)),
    ):
        own = f"{PATH}/{group.id}"
        with nothing_stored():
            assert_refused(api_client.patch(own, {"weight": 2}), 403, "permission-denied", **details)
            assert_refused(api_client.post(f"{own}/unregister"), 403, "permission-denied", **details)
            assert api_client.patch(own, {}).json()["error"]["code"] == "bad-input"


def test_a_change_changes_what_it_says(root, workspace):
    group = CorrectorGroupFactory(workspace=workspace, description="Old.", principal_ids=["a"])
    own = f"{PATH}/{group.id}"
    unrestricted = {"description": "Old.", "weight": 3}

    weight = root.patch(own, {"weight": 3}).json()
    assert weight["assertableBy"] == {"principalIds": ["a"], "principalCount": 1}
    assert (weight["weight"], weight["description"], weight["name"]) == (3, "Old.", group.name)
    lifted = root.patch(own, {"assertableBy": None})
    group.refresh_from_db()
    assert (lifted.status_code, lifted.json()) == (200, record(group, **unrestricted))
    assert root.patch(own, {"assertableBy": {"principalKinds": ["user"]}, "description": ""}).json() == record(
        CorrectorGroup.objects.get(), weight=3, assertableBy={"principalKinds": ["user"]}
    )
    assert group.updated_at > group.created_at


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "bad-input"),
        ({"weight": None}, "bad-input"),
        ({"weight": -1}, "bad-input"),
        ({"description": "x" * 2001}, "bad-input"),
        ({"assertableBy": {}}, "bad-input"),
        ({"name": "other"}, "unknown-field"),
        ({"scope": {"kind": "tenant"}}, "unknown-field"),
    ],
)
def test_changes_that_are_refused_before_anything_is_looked_up(root, workspace, body, code):
    for key in (CorrectorGroupFactory(workspace=workspace).id, uuid4()):
        with nothing_stored():
            response = root.patch(f"{PATH}/{key}", body)
        assert (response.status_code, response.json()["error"]["code"]) == (400, code)


def test_a_restriction_does_not_make_experts_of_those_before(root, workspace, project):
    group = CorrectorGroupFactory(workspace=workspace)
    made = CorrectionFactory(copy__project=project, group=group)

    root.patch(f"{PATH}/{group.id}", {"assertableBy": {"principalKinds": ["user"]}})
    root.post(f"{PATH}/{group.id}/unregister")

    made.refresh_from_db()
    assert (made.expert, made.group) == (False, group)


def test_a_retired_group_is_no_longer_spoken_for(root, api_client, workspace, project):
    group, run = CorrectorGroupFactory(workspace=workspace), RunFactory(project=project)
    response = root.post(f"{PATH}/{group.id}/unregister")

    assert (response.status_code, response.json()) == (200, {"correctorGroupId": str(group.id), "unregistered": True})
    body = {"runId": str(run.run_id), "answer": "right", "correctorGroupId": str(group.id)}
    with nothing_stored():
        refused = api_client.post("/v1/corrections", body)
    assert_refused(refused, 400, "corrector-group-not-applicable", correctorGroupId=str(group.id))


@pytest.mark.parametrize("count", [1, 3])
def test_statements_do_not_grow_with_the_groups(api_client, workspace, project, count, django_assert_num_queries):
    CorrectorGroupFactory.create_batch(count, workspace=workspace)
    api_client.get(PATH)
    with django_assert_num_queries(3):
        assert len(api_client.get(PATH).json()["data"]) == count
