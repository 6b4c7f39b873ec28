"""People, service accounts and keys of a workspace, at the pages of its administrators."""

from datetime import UTC, datetime

import pytest
from django.test import Client

from kindgi_site.callers import ReviewerRole, Role
from kindgi_site.workspaces.models import ApiKey, AuditEntry, Membership, Person, Project, Reviewer, ServiceAccount
from kindgi_site.workspaces.services.keys import digest_of, store_key
from tests.factories import (
    MembershipFactory,
    ProjectFactory,
    ReviewerFactory,
    ServiceAccountFactory,
    caller_of,
    person_with,
    service_with,
)
from tests.pages.conftest import HTMX, root_of, text_of

NEW_PASSWORD = "a-pot-of-green-tea"
HOSTILE = "<script>alert('x')</script>"


@pytest.fixture
def boss(project: Project) -> Person:
    return person_with(project, None, is_admin=True)


@pytest.fixture
def boss_client(boss: Person, client: Client) -> Client:
    client.force_login(boss)
    return client


def told() -> list[str]:
    return list(AuditEntry.objects.order_by("id").values_list("action", flat=True))


def roles_of(person: Person) -> dict[str, str]:
    return {str(project): str(role) for project, role in caller_of(person).project_roles.items()}


@pytest.mark.parametrize("htmx", [False, True], ids=["page", "htmx"])
def test_the_lists(boss_client: Client, project: Project, reviewer: Person, htmx: bool):
    service = service_with(project)
    store_key(workspace=project.workspace, principal=service, label="Importer")
    MembershipFactory()
    ServiceAccountFactory()

    people, services, keys = (
        boss_client.get(address, headers=HTMX if htmx else {})
        for address in ("/people/", "/people/services/", "/people/keys/")
    )

    assert [response.templates[0].name for response in (people, services, keys)] == (
        [f"workspaces/_{noun}_table.html" for noun in ("member", "service", "key")]
        if htmx
        else [f"workspaces/{noun}_list.html" for noun in ("people", "service", "key")]
    )
    assert {str(member.person) for member in people.context["rows"]} == {
        reviewer.username,
        people.wsgi_request.user.username,
    }
    assert list(services.context["rows"]) == [service]
    assert f"{reviewer.username} {project.name} editor standard" in text_of(people.content.decode())
    assert f"{service.name} {project.name} editor" in text_of(services.content.decode())
    assert f"Importer acts for {service.name}" in text_of(keys.content.decode())


@pytest.mark.parametrize("htmx", [False, True], ids=["page", "htmx"])
def test_inviting_somebody(boss_client: Client, project: Project, htmx: bool):
    data = {"username": "nora", f"role-{project.id}": "editor", "reviewer_role": "senior", "display_name": "Nora N."}

    response = boss_client.post("/people/new/", data, headers=HTMX if htmx else {})

    person = Person.objects.get(username="nora")
    assert (response.status_code, response["Cache-Control"]) == (200, "no-store")
    assert not person.has_usable_password()
    assert roles_of(person) == {str(project.id): "editor"}
    assert caller_of(person).reviewer_role == ReviewerRole.SENIOR
    assert Reviewer.objects.get().display_name == "Nora N."
    assert told() == ["members.invite", "project-roles.set", "reviewers.register", "members.welcome"]
    assert root_of(response.content.decode()) == "welcome" if htmx else "<html" in response.content.decode()


def test_the_invited_set_their_password_once(boss_client: Client):
    link = boss_client.post("/people/new/", {"username": "nora"}).context["link"]
    nora, path = Client(), link.removeprefix("http://testserver")
    form = nora.get(path)["Location"]
    assert "Set it, then sign in" in text_of(nora.get(form).content.decode())

    other_words = {"new_password1": "between-two-mugs", "new_password2": "between-two-jugs"}
    assert nora.post(form, other_words).status_code == 422
    words = {"new_password1": "between-two-mugs", "new_password2": "between-two-mugs"}
    assert nora.post(form, words)["Location"] == "/login/"

    assert nora.post("/login/", {"username": "nora", "password": "between-two-mugs"})["Location"] == "/runs/"
    assert nora.get("/runs/").status_code == 200
    assert "was used already" in text_of(Client().get(path).content.decode())


REFUSED = [
    ({"username": ""}, "This field is required"),
    ({"username": "no such name"}, "Enter a valid username"),
    ({"username": "TAKEN"}, "The name “TAKEN” is taken."),
    ({"username": "nora", "reviewer_role": "king"}, "Select a valid choice"),
]


@pytest.mark.parametrize("htmx", [False, True], ids=["page", "htmx"])
@pytest.mark.parametrize(("data", "words"), REFUSED)
def test_what_makes_no_sense_invites_nobody(boss_client: Client, data: dict[str, str], words: str, htmx: bool):
    MembershipFactory(person__username="taken")
    before = Person.objects.count()

    response = boss_client.post("/people/new/", data, headers=HTMX if htmx else {})

    assert response.status_code == 422
    assert words in text_of(response.content.decode())
    assert (Person.objects.count(), told()) == (before, [])


def test_changing_what_somebody_may_do(boss_client: Client, project: Project, reviewer: Person):
    more = ProjectFactory(workspace=project.workspace)
    data = {f"role-{project.id}": "", f"role-{more.id}": "admin", "is_admin": "on", "reviewer_role": "senior"}

    response = boss_client.post(f"/people/{reviewer.id}/", data)

    assert (response.status_code, response["Location"]) == (302, "/people/")
    assert roles_of(reviewer) == {str(more.id): "admin"}
    assert caller_of(reviewer).is_workspace_admin
    assert caller_of(reviewer).reviewer_role == ReviewerRole.SENIOR
    assert sorted(told()) == ["members.update", "project-roles.set", "project-roles.set", "reviewers.register"]


@pytest.mark.parametrize("htmx", [False, True], ids=["page", "htmx"])
def test_a_name_on_the_roster_needs_a_place_on_it(boss_client: Client, project: Project, htmx: bool):
    person = person_with(project)
    data = {f"role-{project.id}": "admin", "reviewer_role": "", "display_name": "Dee"}

    refused = boss_client.post(f"/people/{person.id}/", data, headers=HTMX if htmx else {})

    assert refused.status_code == 422
    assert refused.context["form"].errors == {"display_name": ["Choose what they are on the roster of reviewers too."]}
    assert "Choose what they are on the roster" in text_of(refused.content.decode())
    assert (roles_of(person), told()) == ({str(project.id): "editor"}, [])


def test_a_name_on_the_roster_goes_with_the_place(boss_client: Client, project: Project):
    person = person_with(project)
    data = {f"role-{project.id}": "editor", "reviewer_role": "senior", "display_name": "Dee"}
    boss_client.post(f"/people/{person.id}/", data)
    assert Reviewer.objects.get(person=person).display_name == "Dee"

    assert boss_client.post(f"/people/{person.id}/", data | {"reviewer_role": ""}).status_code == 302
    assert caller_of(person).reviewer_role is None


def test_saving_it_as_it_is_changes_nothing(boss_client: Client, project: Project, reviewer: Person):
    form = boss_client.get(f"/people/{reviewer.id}/").context["form"]

    boss_client.post(
        f"/people/{reviewer.id}/", {name: form[name].value() for name in form.fields if form[name].value()}
    )

    assert told() == []
    assert roles_of(reviewer) == {str(project.id): "editor"}


def test_taking_somebody_off_the_roster_and_on_again(boss_client: Client, project: Project, reviewer: Person):
    data = {f"role-{project.id}": "editor"}
    boss_client.post(f"/people/{reviewer.id}/", data)
    assert caller_of(reviewer).reviewer_role is None

    boss_client.post(f"/people/{reviewer.id}/", data | {"reviewer_role": "standard"})
    assert caller_of(reviewer).reviewer_role == ReviewerRole.STANDARD
    assert told() == ["reviewers.unregister", "reviewers.register"]


def test_the_last_administrator_stays_one(boss_client: Client, boss: Person):
    response = boss_client.post(f"/people/{boss.id}/", {"is_admin": ""})
    removed = boss_client.post(f"/people/{boss.id}/remove/")

    for refused in (response, removed):
        assert refused.status_code == 422
        assert "The workspace needs an administrator" in text_of(refused.content.decode())
    assert Membership.objects.get(person=boss).is_admin
    assert told() == []


def test_taking_somebody_out(boss_client: Client, project: Project, reviewer: Person):
    key, _text = store_key(workspace=project.workspace, principal=reviewer)

    assert boss_client.post(f"/people/{reviewer.id}/remove/")["Location"] == "/people/"

    key.refresh_from_db()
    assert not reviewer.memberships.exists()
    assert not reviewer.project_roles.exists()
    assert key.revoked_at is not None
    assert Reviewer.objects.get().deactivated_at is not None
    assert told() == ["members.remove"]


def test_a_link_for_somebody_who_cannot_sign_in(boss_client: Client, reviewer: Person):
    response = boss_client.post(f"/people/{reviewer.id}/welcome/")

    assert (response.status_code, response["Cache-Control"]) == (200, "no-store")
    assert response.context["link"].startswith("http://testserver/welcome/")


def test_a_link_sets_one_password(boss_client: Client, reviewer: Person):
    link = boss_client.post(f"/people/{reviewer.id}/welcome/").context["link"]

    set_password(link)

    reviewer.refresh_from_db()
    assert reviewer.check_password(NEW_PASSWORD)
    assert Client().get(link).context["validlink"] is False


@pytest.mark.parametrize("since", ["joined-another", "runs-the-site", "left"])
def test_a_link_ends_once_its_person_is_not_only_ours(boss_client: Client, reviewer: Person, since: str):
    link = boss_client.post(f"/people/{reviewer.id}/welcome/").context["link"]
    if since == "joined-another":
        MembershipFactory(person=reviewer)
    elif since == "left":
        reviewer.memberships.all().delete()
    else:
        Person.objects.filter(id=reviewer.id).update(is_staff=True)

    set_password(link)

    reviewer.refresh_from_db()
    assert not reviewer.check_password(NEW_PASSWORD)


def set_password(link: str) -> None:
    """As a browser does: the link leads to an address without the token, and the form there is sent."""
    browser = Client()
    opened = browser.get(link, follow=True)
    browser.post(opened.request["PATH_INFO"], {"new_password1": NEW_PASSWORD, "new_password2": NEW_PASSWORD})


@pytest.mark.parametrize("why", ["of-two-workspaces", "runs-the-site"])
def test_no_link_for_who_is_not_only_ours(boss_client: Client, reviewer: Person, why: str):
    if why == "runs-the-site":
        Person.objects.filter(id=reviewer.id).update(is_superuser=True)
    else:
        MembershipFactory(person=reviewer)

    response = boss_client.post(f"/people/{reviewer.id}/welcome/")

    assert response.status_code == 403
    assert "link" not in response.context
    assert told() == []


def test_service_accounts(boss_client: Client, project: Project):
    boss_client.post("/people/services/new/", {"name": "importer", f"role-{project.id}": "editor"})
    service = ServiceAccount.objects.get()
    assert service.project_roles.get().role == "editor"

    again = boss_client.post("/people/services/new/", {"name": "importer"})
    assert again.status_code == 422
    assert "There is a service account “importer” already." in text_of(again.content.decode())

    assert (
        boss_client.post(f"/people/services/{service.id}/", {f"role-{project.id}": ""})["Location"]
        == "/people/services/"
    )
    assert not service.project_roles.exists()
    assert told() == ["service-accounts.create", "project-roles.set", "project-roles.set"]


@pytest.mark.parametrize("htmx", [False, True], ids=["page", "htmx"])
def test_minting_a_key(boss_client: Client, project: Project, htmx: bool):
    service = service_with(project)
    data = {
        "principal": f"service-account:{service.id}",
        "label": "Importer",
        "role": "member",
        "project": str(project.id),
        "expires": "2099-01-31",
        "capabilities": ["corrections:fix-job"],
    }

    response = boss_client.post("/people/keys/new/", data, headers=HTMX if htmx else {})

    key = ApiKey.objects.get()
    assert (response.status_code, response["Cache-Control"]) == (200, "no-store")
    assert key.digest == digest_of(response.context["text"])
    assert (key.service, key.label, key.role, key.project) == (service, "Importer", "member", project)
    assert key.capabilities == ["corrections:fix-job"]
    assert key.expires_at.date().isoformat() == "2099-01-31"
    assert f'data-copy="{response.context["text"]}"' in response.content.decode()
    assert response.context["text"] not in boss_client.get("/people/keys/").content.decode()
    assert told() == ["tokens.mint"]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"expires": "2020-01-31"}, "The key would have expired already."),
        ({"role": "admin"}, "is no administrator of the workspace"),
        ({"role": "king"}, "Select a valid choice"),
        ({"principal": "user:nobody"}, "Select a valid choice"),
    ],
)
def test_a_key_that_makes_no_sense_is_not_minted(
    boss_client: Client, reviewer: Person, data: dict[str, str], words: str
):
    said = {"principal": f"user:{reviewer.id}", "role": "member", "label": "Kept"} | data

    response = boss_client.post("/people/keys/new/", said)

    assert response.status_code == 422
    assert words in text_of(response.content.decode())
    assert 'value="Kept"' in response.content.decode()
    assert (ApiKey.objects.count(), told()) == (0, [])


def test_a_key_is_minted_for_the_last_of_many_as_its_link_says(boss_client: Client, project: Project):
    ServiceAccount.objects.bulk_create(
        ServiceAccount(workspace=project.workspace, name=f"{number:05}") for number in range(2001)
    )
    last = ServiceAccount.objects.get(name="02000")
    value = f"service-account:{last.id}"

    form = boss_client.get(f"/people/keys/new/?for={value}").context["form"]
    boss_client.post("/people/keys/new/", {"principal": value, "role": "member"})

    assert [words for key, words in form.fields["principal"].choices if key == form["principal"].value()] == ["02000"]
    assert ApiKey.objects.get().service == last


@pytest.mark.parametrize("value", ["service-account:x", "user:", "nonsense", "\0"])
def test_a_link_that_names_nobody_offers_the_others(boss_client: Client, boss: Person, value: str):
    form = boss_client.get("/people/keys/new/", {"for": value}).context["form"]

    assert form.fields["principal"].choices == [(f"user:{boss.id}", boss.username)]


def test_people_of_one_name_are_told_apart(boss_client: Client, project: Project):
    for name in ("asol", "asol2"):
        person = person_with(project)
        Person.objects.filter(id=person.id).update(username=name, first_name="Ana", last_name="Sol")

    for address in ("/people/keys/new/", "/groups/new/", f"/agents/{project.id}/support/"):
        words = text_of(boss_client.get(address).content.decode())
        assert "Ana Sol (asol)" in words
        assert "Ana Sol (asol2)" in words


def test_a_key_that_is_past_its_last_day_says_so(boss_client: Client, project: Project):
    day = datetime(2026, 1, 31, 12, tzinfo=UTC)
    store_key(workspace=project.workspace, principal=service_with(project), label="Old", expires_at=day)

    words = text_of(boss_client.get("/people/keys/").content.decode())

    assert "expired 31 Jan 2026" in words
    assert "until" not in words


def test_revoking_a_key(boss_client: Client, project: Project):
    key, _text = store_key(workspace=project.workspace, principal=service_with(project))

    assert boss_client.post(f"/people/keys/{key.id}/revoke/")["Location"] == "/people/keys/"

    key.refresh_from_db()
    assert key.revoked_at is not None
    assert "revoked just now" in text_of(boss_client.get("/people/keys/").content.decode())
    assert told() == ["tokens.revoke"]


def addresses(project: Project, person: Person) -> dict[str, list[str]]:
    service = service_with(project)
    key, _text = store_key(workspace=project.workspace, principal=service)
    of_one = [f"/people/{person.id}/", f"/people/services/{service.id}/"]
    return {
        "get": [
            *(f"/people/{noun}" for noun in ("", "services/", "keys/", "new/", "services/new/", "keys/new/")),
            *of_one,
        ],
        "post": [
            *of_one,
            f"/people/{person.id}/welcome/",
            f"/people/{person.id}/remove/",
            f"/people/keys/{key.id}/revoke/",
        ],
    }


@pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR, Role.ADMIN])
def test_others_are_refused(client: Client, project: Project, reviewer: Person, role: Role):
    known = addresses(project, reviewer)
    client.force_login(person_with(project, role))

    assert {client.get(address).status_code for address in known["get"]} == {403}
    assert {client.post(address).status_code for address in known["post"]} == {403}
    assert client.post("/people/new/", {"username": "nora"}).status_code == 403
    said = {"principal": f"user:{reviewer.id}", "role": "member"}
    assert client.post("/people/keys/new/", said).status_code == 403
    assert client.post("/people/services/new/", {"name": "new"}).status_code == 403
    assert (ApiKey.objects.get().revoked_at, told()) == (None, [])
    assert reviewer.memberships.exists()


def test_another_workspaces_are_not_there(boss_client: Client):
    elsewhere = ProjectFactory()
    stranger = person_with(elsewhere)
    ReviewerFactory(workspace=elsewhere.workspace, person=stranger)
    known = addresses(elsewhere, stranger)

    assert {boss_client.get(address).status_code for address in known["get"][6:]} == {404}
    assert {boss_client.post(address).status_code for address in known["post"]} == {404}
    said = {"principal": f"user:{stranger.id}", "role": "member"}
    assert boss_client.post("/people/keys/new/", said).status_code == 422
    assert told() == []


def test_hostile_words_are_only_words(boss_client: Client, project: Project):
    service = ServiceAccountFactory(workspace=project.workspace, name=HOSTILE)
    store_key(workspace=project.workspace, principal=service, label=HOSTILE)
    ReviewerFactory(workspace=project.workspace, person=person_with(project), display_name=HOSTILE)

    for address in (
        "/people/",
        "/people/services/",
        "/people/keys/",
        f"/people/services/{service.id}/",
        "/people/keys/new/",
    ):
        assert HOSTILE not in boss_client.get(address).content.decode()
