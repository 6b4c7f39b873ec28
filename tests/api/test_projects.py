"""Projects over /v1 (contract, section 19)."""

from uuid import uuid4

import pytest

from kindgi_site.callers import Role
from kindgi_site.clock import wire_time
from kindgi_site.workspaces.models import Project
from kindgi_site.workspaces.services.keys import store_key
from tests.api.expect import assert_refused, nothing_stored
from tests.factories import ProjectFactory, ProjectRoleFactory, person_with
from tests.wire import WireClient

PATH = "/v1/projects"


@pytest.fixture
def root(project) -> WireClient:
    person = person_with(project, None, is_admin=True)
    return WireClient(store_key(workspace=project.workspace, principal=person, role="admin")[1])


def record(project: Project, **more) -> dict:
    plain = {
        "id": str(project.id),
        "tenantId": str(project.workspace_id),
        "name": project.name,
        "slug": project.slug,
        "isDefault": project.is_default,
        "createdAt": wire_time(project.created_at),
        "updatedAt": wire_time(project.updated_at),
    }
    return plain | more


def test_the_list_is_of_readable_ones_newest_first(api_client, root, reviewer, workspace, project):
    other = ProjectFactory(workspace=workspace)
    ProjectRoleFactory(project=other, person=reviewer, role=Role.VIEWER)
    unreadable = ProjectFactory(workspace=workspace, description="Said.")
    ProjectFactory()

    assert api_client.get(PATH).json() == {"data": [record(other), record(project)], "hasMore": False}
    whole = [record(unreadable, description="Said."), record(other), record(project)]
    assert root.get(PATH).json() == {"data": whole, "hasMore": False}


def test_by_a_part_of_the_name(root, workspace, project):
    found = ProjectFactory(workspace=workspace, name="50%_Sales")
    for part in ("sales", "SALES", "%25_", "50%25"):
        assert [row["id"] for row in root.get(f"{PATH}?nameContains={part}").json()["data"]] == [str(found.id)]
    assert root.get(f"{PATH}?nameContains=%00").json() == {"data": [], "hasMore": False}
    assert len(root.get(f"{PATH}?nameContains=").json()["data"]) == 2


def test_one(api_client, project):
    for name in (project.id, str(project.id).upper(), "default"):
        response = api_client.get(f"{PATH}/{name}")
        assert (response.status_code, response.json()) == (200, record(project))


def test_not_there(api_client, foreign_client, workspace, project):
    for client, key in ((api_client, uuid4()), (api_client, ProjectFactory(workspace=workspace).id),
                        (foreign_client, project.id)):  # fmt: skip
        assert_refused(client.get(f"{PATH}/{key}"), 404, "project-not-found", projectId=str(key))
    assert_refused(api_client.get(f"{PATH}/x"), 400, "bad-input", field="projectId")


def test_no_default_or_none_to_read(api_client, workspace, project):
    stranger = person_with(project, None)
    client = WireClient(store_key(workspace=workspace, principal=stranger)[1])
    assert_refused(client.get(f"{PATH}/default"), 404, "project-not-found", projectId="default")
    Project.objects.update(is_default=False)
    assert_refused(api_client.get(f"{PATH}/default"), 404, "project-not-found", projectId="default")


@pytest.mark.parametrize("more", [{}, {"description": "For the shop.", "isDefault": False}])
def test_making_one(root, workspace, more):
    response = root.post(PATH, {"name": " The shop ", "slug": "the-shop-2", **more})

    made = Project.objects.get(slug="the-shop-2")
    assert (response.status_code, response.json()) == (201, {"id": str(made.id)})
    said = {"description": more["description"]} if more else {}
    assert root.get(f"{PATH}/{made.id}").json() == record(made, name=" The shop ", isDefault=False, **said)
    assert (made.workspace, made.created_at) == (workspace, made.updated_at)


def test_making_the_default_one(root, project):
    assert_refused(
        root.post(PATH, {"name": "x", "slug": "x", "isDefault": True}), 409, "project-default-already-exists"
    )
    Project.objects.update(is_default=False)
    made = root.post(PATH, {"name": "x", "slug": "x", "isDefault": True}).json()
    assert root.get(f"{PATH}/default").json()["id"] == made["id"]


def test_a_slug_is_one_of_its_workspace(root, project):
    ProjectFactory(slug="theirs")
    with nothing_stored():
        response = root.post(PATH, {"name": "x", "slug": "default", "isDefault": True})
    assert_refused(response, 409, "slug-conflict", slug="default")
    assert root.post(PATH, {"name": "x", "slug": "theirs"}).status_code == 201


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        (b"", "bad-input", None),
        ({"slug": "x"}, "bad-input", "name"),
        ({"name": "x"}, "bad-input", "slug"),
        ({"name": " ", "slug": "x"}, "bad-input", "name"),
        ({"name": "x" * 201, "slug": "x"}, "bad-input", "name"),
        ({"name": "x", "slug": "A"}, "bad-input", "slug"),
        ({"name": "x", "slug": "a--b"}, "bad-input", "slug"),
        ({"name": "x", "slug": "-a"}, "bad-input", "slug"),
        ({"name": "x", "slug": "a\n"}, "bad-input", "slug"),
        ({"name": "x", "slug": "a" * 101}, "bad-input", "slug"),
        ({"name": "x", "slug": "x", "description": None}, "bad-input", "description"),
        ({"name": "x", "slug": "x", "isDefault": 1}, "bad-input", "isDefault"),
        ({"name": "x", "slug": "x", "tenantId": "x"}, "unknown-field", None),
    ],
)
def test_bodies_that_are_refused(root, body, code, field):
    with nothing_stored():
        response = root.post(PATH, body)

    sent = response.json()["error"]
    assert (response.status_code, sent["code"], sent.get("details", {}).get("field")) == (400, code, field)


def test_only_the_workspace_s_administrator_makes_one_and_that_comes_before_the_body(project, workspace):
    owner = store_key(workspace=workspace, principal=person_with(project, Role.OWNER))[1]
    admin = person_with(project, None, is_admin=True)
    member_key = store_key(workspace=workspace, principal=admin)[1]
    limited = store_key(workspace=workspace, principal=admin, role="admin", project=project)[1]
    reason = "The caller is not an administrator of the workspace."
    resource = {"type": "workspace", "id": str(workspace.id)}
    for key in (owner, member_key, limited):
        with nothing_stored():
            response = WireClient(key).post(PATH, b"[1")
        assert_refused(response, 403, "permission-denied", action="admin", resource=resource, reason=reason)


def test_a_key_limited_to_a_project_sees_that_one(limited_client, reviewer, workspace, project):
    other = ProjectFactory(workspace=workspace)
    ProjectRoleFactory(project=other, person=reviewer)

    assert limited_client.get(PATH).json() == {"data": [record(project)], "hasMore": False}
    assert limited_client.get(f"{PATH}/{other.id}").json()["error"]["code"] == "key-project-mismatch"
