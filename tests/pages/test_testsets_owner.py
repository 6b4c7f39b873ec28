"""Who owns an agent, shown and set on its page."""

import pytest
from django.test import Client

from corrections.models import AgentOwner
from kindgi_site.callers import Role
from kindgi_site.workspaces.models import AuditEntry, Person, Project, ServiceAccount
from tests.factories import MembershipFactory, ProjectFactory, ServiceAccountFactory, person_with, service_with
from tests.pages.conftest import HTMX, VARY, root_of, text_of

NOBODY = "nobody yet: only project admins can move what is with the owner"
BOTH = pytest.mark.parametrize("htmx", [False, True], ids=["page", "htmx"])


@pytest.fixture
def admin_client(admin: Person, client: Client) -> Client:
    client.force_login(admin)
    return client


@pytest.fixture
def agent(project: Project) -> str:
    """The address of the agent's page."""
    return f"/agents/{project.id}/support/"


def owned_by(project: Project, kind: str, owner_id: object) -> None:
    AgentOwner.objects.create(project=project, agent_id="support", owner_kind=kind, owner_id=str(owner_id))


def owners() -> list[tuple[str, str, str]]:
    return list(AgentOwner.objects.values_list("agent_id", "owner_kind", "owner_id"))


def told() -> list[tuple[str, str, str, str]]:
    return list(AuditEntry.objects.values_list("action", "target_kind", "target_id", "fields"))


def offered(client: Client, agent: str) -> list[tuple[str, str]]:
    """(value, words) of everybody who can be chosen."""
    rows: list[tuple[str, str]] = []
    for value, words in client.get(agent).context["owner_form"].fields["owner"].choices:
        rows += words if isinstance(words, list) else [(value, str(words))]
    return rows


@BOTH
def test_a_person_becomes_the_owner(admin_client: Client, agent: str, reviewer: Person, htmx: bool):
    response = admin_client.post(f"{agent}owner/", {"owner": f"user:{reviewer.id}"}, headers=HTMX if htmx else {})

    assert owners() == [("support", "user", str(reviewer.id))]
    assert told() == [("agents.set-owner", "agent", "support", "owner")]
    if htmx:
        assert (response.status_code, root_of(response.content.decode())) == (200, "agent-owner")
        assert f"Owner {reviewer.username}" in text_of(response.content.decode())
        assert set(response["Vary"].split(", ")) >= VARY
    else:
        assert (response.status_code, response["Location"]) == (302, agent)
    page = text_of(admin_client.get(agent).content.decode())
    assert f"Owner {reviewer.username}" in page
    assert NOBODY not in page


def test_a_service_account_takes_the_place_of_a_person(
    admin_client: Client, agent: str, project: Project, reviewer: Person
):
    owned_by(project, "user", reviewer.id)
    service = service_with(project, Role.VIEWER)

    admin_client.post(f"{agent}owner/", {"owner": f"service:{service.id}"})

    assert owners() == [("support", "service", str(service.id))]
    assert f"Owner {service.name}" in text_of(admin_client.get(agent).content.decode())


@BOTH
def test_an_agent_is_owned_by_nobody_again(
    admin_client: Client, agent: str, project: Project, reviewer: Person, htmx: bool
):
    owned_by(project, "user", reviewer.id)

    response = admin_client.post(f"{agent}owner/", {"owner": "nobody"}, headers=HTMX if htmx else {})

    assert owners() == []
    assert told() == [("agents.set-owner", "agent", "support", "owner")]
    shown = response if htmx else admin_client.get(agent)
    assert NOBODY in text_of(shown.content.decode())


def test_whoever_can_read_the_project_is_offered(admin_client: Client, admin: Person, agent: str, project: Project):
    reader, reading = person_with(project, Role.VIEWER), service_with(project, Role.VIEWER)
    boss = person_with(project, None, is_admin=True)
    bossy = ServiceAccountFactory(workspace=project.workspace, is_workspace_admin=True)
    beside = ProjectFactory(workspace=project.workspace)
    for one in (beside, ProjectFactory()):
        person_with(one), service_with(one)
    of_no_role = MembershipFactory(workspace=project.workspace).person
    MembershipFactory(person=of_no_role, is_admin=True)
    gone = person_with(project)
    gone.is_active = False
    gone.save()

    def value(one: Person | ServiceAccount) -> tuple[str, str]:
        return (f"{'user' if isinstance(one, Person) else 'service'}:{one.id}", str(one))

    people = sorted((admin, reader, boss), key=str)
    services = sorted((reading, bossy), key=str)
    assert offered(admin_client, agent) == [("nobody", "nobody"), *map(value, people), *map(value, services)]


@pytest.mark.parametrize("kind", ["user", "service"])
def test_an_owner_who_is_not_offered_stays_until_another_is_chosen(
    admin_client: Client, agent: str, project: Project, kind: str
):
    owned_by(project, kind, "<b>robot")

    html = admin_client.get(agent).content.decode()

    assert f'value="{kind}:&lt;b&gt;robot" selected' in html
    assert "Owner <b>robot cannot read this project" in text_of(html)
    admin_client.post(f"{agent}owner/", {"owner": f"{kind}:<b>robot"})
    assert owners() == [("support", kind, "<b>robot")]


@BOTH
@pytest.mark.parametrize("said", ["", "user:", "user:nobody", "robot:x", "stranger", "\0"])
def test_who_cannot_read_the_project_is_refused_beside_the_form(
    admin_client: Client, agent: str, project: Project, reviewer: Person, said: str, htmx: bool
):
    owned_by(project, "user", reviewer.id)
    value = f"user:{person_with(ProjectFactory()).id}" if said == "stranger" else said

    response = admin_client.post(f"{agent}owner/", {"owner": value}, headers=HTMX if htmx else {})

    html = response.content.decode()
    assert response.status_code == 422
    assert ("<html" in html) is not htmx
    assert "field-problem" in html
    assert f"Owner {reviewer.username}" in text_of(html)
    assert (owners(), told()) == ([("support", "user", str(reviewer.id))], [])


@BOTH
@pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR])
def test_others_read_who_it_is_and_set_nobody(
    client: Client, agent: str, project: Project, reviewer: Person, role: Role, htmx: bool
):
    client.force_login(person_with(project, role))
    page = client.get(agent)

    response = client.post(f"{agent}owner/", {"owner": f"user:{reviewer.id}"}, headers=HTMX if htmx else {})

    assert NOBODY in text_of(page.content.decode())
    assert f"{agent}owner/" not in page.content.decode()
    assert response.status_code == 403
    assert (owners(), told()) == ([], [])


@pytest.mark.parametrize("is_near", [True, False], ids=["another-project", "another-workspace"])
def test_an_agent_of_a_project_one_cannot_read_is_not_there(
    client: Client, agent: str, project: Project, reviewer: Person, is_near: bool
):
    elsewhere = ProjectFactory(workspace=project.workspace) if is_near else ProjectFactory()
    client.force_login(person_with(elsewhere, Role.ADMIN))

    response = client.post(f"{agent}owner/", {"owner": f"user:{reviewer.id}"})

    assert response.status_code == 404
    assert (owners(), told()) == ([], [])


def test_it_is_set_by_posting_only(admin_client: Client, agent: str):
    assert admin_client.get(f"{agent}owner/").status_code == 405


@pytest.mark.parametrize("count", [1, 3])
def test_statements_do_not_grow_with_those_who_can_be_chosen(
    admin_client: Client, agent: str, project: Project, django_assert_num_queries, count: int
):
    for _number in range(count):
        person_with(project), service_with(project)

    with django_assert_num_queries(22):
        assert len(offered(admin_client, agent)) == 2 * count + 2
