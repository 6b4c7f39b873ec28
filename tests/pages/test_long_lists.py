"""Lists of people, service accounts, keys and groups: cut by key, searched by name, told apart by address."""

import re
from collections.abc import Callable
from html import unescape

import pytest
from django.test import Client

from corrections.models import CorrectorGroup
from kindgi_site import clock
from kindgi_site.workspaces.models import ApiKey, Membership, Person, Project, ServiceAccount
from kindgi_site.workspaces.services.keys import store_key
from tests.factories import (
    CorrectorGroupFactory,
    MembershipFactory,
    PersonFactory,
    ProjectFactory,
    ReviewerFactory,
    ServiceAccountFactory,
    person_with,
)
from tests.pages.conftest import HTMX, VARY, root_of, text_of

PEOPLE, SERVICES, KEYS, GROUPS = "/people/", "/people/services/", "/people/keys/", "/groups/"
AWKWARD = "& #1+2%/é?="  # what an address takes only when it is quoted


def add_person(project: Project, name: str) -> Membership:
    place = ReviewerFactory(workspace=project.workspace, person=person_with(project))
    Person.objects.filter(id=place.person_id).update(username=name)
    return Membership.objects.get(person=place.person_id)


def add_service(project: Project, name: str) -> ServiceAccount:
    return ServiceAccountFactory(workspace=project.workspace, name=name)


def add_key(project: Project, name: str) -> ApiKey:
    service = ServiceAccountFactory(workspace=project.workspace)
    return store_key(workspace=project.workspace, principal=service, label=name)[0]


def add_group(project: Project, name: str) -> CorrectorGroup:
    return CorrectorGroupFactory(workspace=project.workspace, name=name)


ADD: dict[str, Callable[[Project, str], object]] = {
    PEOPLE: add_person,
    SERVICES: add_service,
    KEYS: add_key,
    GROUPS: add_group,
}
TABLES = {PEOPLE: "member-table", SERVICES: "service-table", KEYS: "key-table", GROUPS: "group-table"}
EACH = pytest.mark.parametrize("address", ADD)


def name_of(row: object) -> str:
    match row:
        case Membership():
            return row.person.username
        case ApiKey():
            return row.label
        case ServiceAccount():
            return row.name
    return row.group.name  # type: ignore[attr-defined]


@pytest.fixture
def boss_client(project: Project, client: Client) -> Client:
    """A browser of the workspace's administrator, who stands first among its people."""
    boss = MembershipFactory(workspace=project.workspace, is_admin=True, person=PersonFactory(username="+boss"))
    client.force_login(boss.person)
    return client


def names_at(client: Client, address: str) -> list[str]:
    return [name for name in map(name_of, client.get(address).context["rows"]) if name != "+boss"]


def link(client: Client, address: str, rel: str) -> str | None:
    """Where a link of a page leads."""
    found = re.search(rf'rel="{rel}"\s+href="([^"]+)"', client.get(address).content.decode())
    return unescape(found.group(1)) if found else None


@EACH
def test_links_lead_to_the_next_page_and_back(boss_client: Client, project: Project, address: str):
    names = [f"z{AWKWARD} {number:02}" for number in range(52)]
    for name in names:
        ADD[address](project, name)
    if address == KEYS:
        names = list(ApiKey.objects.order_by("-created_at", "-id").values_list("label", flat=True))

    second = link(boss_client, address, "next")
    back = link(boss_client, second, "prev")

    ahead = 49 if address == PEOPLE else 50
    assert names_at(boss_client, address) == names[:ahead]
    assert names_at(boss_client, second) == names[ahead:]
    assert names_at(boss_client, back) == names[:ahead]
    assert (link(boss_client, address, "prev"), link(boss_client, second, "next")) == (None, None)


@EACH
def test_page_and_fragment(boss_client: Client, project: Project, address: str):
    ADD[address](project, "Zoe")

    page = boss_client.get(address)
    fragment = boss_client.get(address, headers=HTMX)

    assert "<html" in page.content.decode()
    assert root_of(fragment.content.decode()) == TABLES[address]
    assert f'id="{TABLES[address]}"' in page.content.decode()
    assert set(fragment["Vary"].split(", ")) >= VARY


@EACH
def test_a_name_is_searched_in_the_address(boss_client: Client, project: Project, address: str):
    for name in ("Zoe Night", "zoe day", "Max"):
        ADD[address](project, name)

    html = boss_client.get(f"{address}?name=ZOE").content.decode()

    assert sorted(names_at(boss_client, f"{address}?name=ZOE")) == ["Zoe Night", "zoe day"]
    assert names_at(boss_client, f"{address}?name=night") == ["Zoe Night"]
    assert names_at(boss_client, f"{address}?name=nobody") == []
    assert len(names_at(boss_client, f"{address}?name=%00")) == 3
    assert 'value="ZOE"' in html
    assert f'hx-target="#{TABLES[address]}"' in html


@EACH
def test_pages_stay_within_what_was_searched(boss_client: Client, project: Project, address: str):
    for number in range(52):
        ADD[address](project, f"zoe & co {number:02}")
    ADD[address](project, "zzz")

    second = link(boss_client, f"{address}?name=zoe+%26+co", "next")

    assert len(names_at(boss_client, second)) == 2
    assert all("zoe & co" in name for name in names_at(boss_client, second))


@EACH
def test_what_nobody_is_called_says_so_and_leads_back(boss_client: Client, project: Project, address: str):
    ADD[address](project, "Zoe")

    html = boss_client.get(f"{address}?name=nobody").content.decode()
    past = boss_client.get(f"{address}?{'before' if address == KEYS else 'after'}={'1' if address == KEYS else 'zzz'}_"
                           "5f1c4c9e-0000-4000-8000-000000000000").content.decode()  # fmt: skip

    assert "Nothing here is called that." in text_of(html)
    assert "No more in this direction." in text_of(past)
    assert f'<a href="{address}">' in html
    assert f'<a href="{address}">' in past


@EACH
@pytest.mark.parametrize("htmx", [False, True], ids=["page", "htmx"])
def test_more_words_than_a_database_takes_are_not_searched(
    boss_client: Client, project: Project, address: str, htmx: bool
):
    ADD[address](project, "Ana")

    response = boss_client.get(f"{address}?name={'a+' * 1100}", headers=HTMX if htmx else {})

    assert response.status_code == 200
    assert text_of(response.content.decode()).count("at most 200 characters") == 1


@EACH
def test_a_page_that_comes_back_tells_what_is_wrong_once(boss_client: Client, project: Project, address: str):
    restored = HTMX | {"HX-History-Restore-Request": "true"}

    page = boss_client.get(f"{address}?name={'a' * 201}", headers=restored).content.decode()

    assert text_of(page).count("at most 200 characters") == 1


@EACH
def test_nothing_of_another_workspace_is_listed(boss_client: Client, address: str):
    ADD[address](ProjectFactory(), "Zoe")

    assert names_at(boss_client, address) == []
    assert "Zoe" not in boss_client.get(f"{address}?name=Zoe").content.decode().replace('value="Zoe"', "")


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize(("address", "statements"), [(PEOPLE, 8), (SERVICES, 7), (KEYS, 6), (GROUPS, 7)])
def test_statements_do_not_grow_with_the_rows(
    boss_client: Client, project: Project, django_assert_num_queries, address: str, statements: int, count: int
):
    for number in range(count):
        ADD[address](project, f"zoe {number}")

    with django_assert_num_queries(statements):
        rows = names_at(boss_client, f"{address}?name=zoe")

    assert len(rows) == count


def test_people_are_found_by_any_part_of_their_names(boss_client: Client, project: Project):
    ana = PersonFactory(username="asol", first_name="Ana", last_name="Sol")
    MembershipFactory(workspace=project.workspace, person=ana)
    add_person(project, "ana")

    assert names_at(boss_client, f"{PEOPLE}?name=sol+ANA") == ["asol"]
    assert names_at(boss_client, f"{PEOPLE}?name=ana") == ["ana", "asol"]


def test_keys_are_found_by_whom_they_act_for(boss_client: Client, project: Project):
    service = ServiceAccountFactory(workspace=project.workspace, name="importer")
    person = add_person(project, "zoe").person
    store_key(workspace=project.workspace, principal=service, label="one")
    store_key(workspace=project.workspace, principal=person, label="two")

    assert names_at(boss_client, f"{KEYS}?name=import") == ["one"]
    assert names_at(boss_client, f"{KEYS}?name=zoe") == ["two"]


def test_retired_groups_are_a_list_of_their_own(boss_client: Client, project: Project):
    add_group(project, "in use")
    CorrectorGroupFactory(workspace=project.workspace, name="old", unregistered_at=clock.now())

    assert names_at(boss_client, GROUPS) == ["in use"]
    assert names_at(boss_client, f"{GROUPS}?state=retired") == ["old"]
    assert names_at(boss_client, f"{GROUPS}?state=nonsense") == ["in use"]
    retired = boss_client.get(f"{GROUPS}?state=retired").content.decode()
    assert "retired just now" in text_of(retired)
    assert 'href="/groups/new/"' in retired
    assert not re.search(r'href="/groups/[0-9a-f-]{36}/"', retired)
