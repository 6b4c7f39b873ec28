"""Corrector groups at their pages."""

from typing import Any

import pytest
from django.test import Client

from corrections.models import CorrectorGroup
from kindgi_site.callers import Role
from kindgi_site.workspaces.models import AuditEntry, Person, Project
from tests.factories import CorrectorGroupFactory, ProjectFactory, person_with
from tests.pages.conftest import HTMX, root_of, text_of

HOSTILE = "<script>alert('x')</script>"


@pytest.fixture
def boss_client(project: Project, client: Client) -> Client:
    """A browser of the workspace's administrator."""
    client.force_login(person_with(project, None, is_admin=True))
    return client


def in_project(project: Project, **more: Any) -> CorrectorGroup:
    return CorrectorGroupFactory(workspace=project.workspace, scope_kind="project", project=project, **more)


def said(**more: Any) -> dict[str, Any]:
    return {"name": "Experts", "scope": "workspace", "agent": "", "weight": "2.5", "description": "", **more}


def test_page_and_fragment(reviewer_client: Client, project: Project):
    in_project(project)

    page = reviewer_client.get("/groups/")
    fragment = reviewer_client.get("/groups/", headers=HTMX)

    assert page.templates[0].name == "corrections/group_list.html"
    assert fragment.templates[0].name == "corrections/_group_table.html"
    assert root_of(fragment.content.decode()) == "group-table"


@pytest.mark.parametrize("is_admin", [True, False])
def test_only_administrators_read_who_is_named(client: Client, project: Project, reviewer: Person, is_admin: bool):
    group = in_project(
        project, name="Leads", weight=3, min_reviewer_role="senior", principal_ids=[str(reviewer.id), "gone"]
    )
    client.force_login(person_with(project, Role.ADMIN if is_admin else Role.EDITOR))

    page = client.get("/groups/").content.decode()

    words = text_of(page)
    assert "Leads expert" in words
    assert f"3 project {project.name} senior reviewers and above, 2 by name" in words
    assert (f"{reviewer.username}, gone" in words) is is_admin
    assert (f'href="/groups/{group.id}/"' in page) is is_admin
    assert ("gone" in page) is is_admin


@pytest.mark.parametrize("htmx", [False, True], ids=["page", "htmx"])
def test_making_one(boss_client: Client, project: Project, reviewer: Person, htmx: bool):
    data = said(min_reviewer_role="senior", principal_kinds=["user"], principals=[str(reviewer.id)])

    response = boss_client.post("/groups/new/", data, headers=HTMX if htmx else {})

    assert (response.status_code, response["Location"]) == (302, "/groups/")
    group = CorrectorGroup.objects.get()
    assert (group.name, group.weight, group.scope_kind, group.project, group.agent_id) == (
        "Experts", 2.5, "tenant", None, "",
    )  # fmt: skip
    assert (group.min_reviewer_role, group.principal_kinds, group.principal_ids) == (
        "senior", ["user"], [str(reviewer.id)],
    )  # fmt: skip
    assert AuditEntry.objects.get().action == "corrector-groups.create"


def test_making_one_for_an_agent(boss_client: Client, project: Project):
    boss_client.post("/groups/new/", said(scope=str(project.id), agent="support"))

    group = CorrectorGroup.objects.get()
    assert (group.scope_kind, group.project, group.agent_id, group.is_restricted) == (
        "agent",
        project,
        "support",
        False,
    )


REFUSED = [
    (said(name=""), "This field is required"),
    (said(weight="-1"), "greater than or equal to 0"),
    (said(weight="nan"), "Enter a number"),
    (said(scope="5f1c4c9e-0000-0000-0000-000000000000"), "Select a valid choice"),
    (said(agent="support"), "An agent belongs to a project"),
    (said(principals=["stranger"]), "Select a valid choice"),
]


@pytest.mark.parametrize(("data", "words"), REFUSED)
def test_what_makes_no_sense_is_refused(boss_client: Client, data: dict[str, Any], words: str):
    response = boss_client.post("/groups/new/", data)

    assert response.status_code == 422
    assert words in text_of(response.content.decode())
    assert not CorrectorGroup.objects.exists()


@pytest.mark.parametrize("htmx", [False, True], ids=["page", "htmx"])
def test_a_name_that_is_taken_is_refused_and_kept(boss_client: Client, project: Project, htmx: bool):
    CorrectorGroupFactory(workspace=project.workspace, name="Experts")

    response = boss_client.post("/groups/new/", said(description="Kept."), headers=HTMX if htmx else {})

    assert response.status_code == 422
    page = response.content.decode()
    assert "There is a corrector group of this name already." in text_of(page)
    assert ">\nKept.</textarea>" in page
    assert ("<html" in page) is not htmx
    assert CorrectorGroup.objects.count() == 1


def test_an_administrator_of_a_project_makes_only_its_own(client: Client, admin: Person, project: Project):
    client.force_login(admin)

    assert client.post("/groups/new/", said()).status_code == 422
    assert client.post("/groups/new/", said(scope=str(project.id))).status_code == 302
    assert CorrectorGroup.objects.get().project == project


def test_changing_one(boss_client: Client, project: Project, reviewer: Person):
    group = in_project(project, weight=1, principal_ids=["gone"], min_reviewer_role="standard")
    assert boss_client.get(f"/groups/{group.id}/").context["form"]["principals"].value() == ["gone"]

    response = boss_client.post(
        f"/groups/{group.id}/",
        {"weight": "4", "description": "New.", "min_reviewer_role": "", "principals": ["gone", str(reviewer.id)]},
    )

    assert (response.status_code, response["Location"]) == (302, "/groups/")
    group.refresh_from_db()
    assert (group.weight, group.description, group.min_reviewer_role) == (4, "New.", "")
    assert group.principal_ids == ["gone", str(reviewer.id)]


def test_a_change_that_makes_no_sense_stores_nothing(boss_client: Client, project: Project):
    group = in_project(project, weight=1)

    assert boss_client.post(f"/groups/{group.id}/", {"weight": "-4"}).status_code == 422
    group.refresh_from_db()
    assert group.weight == 1


def test_retiring_one(boss_client: Client, project: Project):
    group = in_project(project)

    assert boss_client.post(f"/groups/{group.id}/retire/")["Location"] == "/groups/"

    group.refresh_from_db()
    assert group.unregistered_at is not None
    assert boss_client.get(f"/groups/{group.id}/").status_code == 404


@pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR])
def test_others_change_nothing(client: Client, project: Project, role: Role):
    group = in_project(project, weight=1)
    client.force_login(person_with(project, role))

    assert client.get("/groups/new/").status_code == 403
    assert client.post("/groups/new/", said(scope=str(project.id))).status_code == 403
    assert client.get(f"/groups/{group.id}/").status_code == 403
    assert client.post(f"/groups/{group.id}/", {"weight": "9"}).status_code == 403
    assert client.post(f"/groups/{group.id}/retire/").status_code == 403
    group.refresh_from_db()
    assert (CorrectorGroup.objects.count(), group.weight, group.unregistered_at) == (1, 1, None)


def test_another_workspaces_is_not_there(boss_client: Client):
    group = in_project(ProjectFactory())

    assert boss_client.get(f"/groups/{group.id}/").status_code == 404
    assert boss_client.post(f"/groups/{group.id}/retire/").status_code == 404
    assert boss_client.get("/groups/").context["rows"] == []


def test_hostile_words_are_only_words(boss_client: Client, project: Project):
    group = in_project(project, name=HOSTILE, description=HOSTILE, principal_ids=[HOSTILE])

    for address in ("/groups/", f"/groups/{group.id}/"):
        assert HOSTILE not in boss_client.get(address).content.decode()
