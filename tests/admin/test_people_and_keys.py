"""People, roles, reviewers and keys, as an operator writes them in the admin site."""

import re

import pytest
from django.contrib import admin
from django.urls import reverse

from kindgi_site.callers import Role
from kindgi_site.workspaces.models import (
    ApiKey,
    Membership,
    Person,
    ProjectRole,
    Reviewer,
    ServiceAccount,
)
from tests.factories import (
    ProjectFactory,
    ReviewerFactory,
    caller_behind,
    person_with,
    service_with,
)
from tests.wire import WireClient


def address(name, *args):
    return reverse(f"admin:workspaces_{name}", args=args)


def problems(answer):
    """What a form that was not taken says; it is shown again."""
    assert answer.status_code == 200
    return answer.context["adminform"].form.errors


@pytest.fixture
def key_said(project):
    """A form for a new key of a program."""
    return {
        "workspace": project.workspace.pk,
        "person": "",
        "service": service_with(project).pk,
        "role": "member",
        "reviewer_role": "",
        "project": "",
        "capabilities": ["corrections:fix-job"],
        "expires_at_0": "2999-01-31",
        "expires_at_1": "12:00:00",
        "label": "nightly",
    }


def test_makes_a_person_and_a_member(admin_client, workspace):
    password = {"usable_password": "true", "password1": "a river in spring", "password2": "a river in spring"}
    admin_client.post(address("person_add"), {"username": "bo", **password})
    bo = Person.objects.get(username="bo")
    admin_client.post(address("membership_add"), {"person": bo.pk, "workspace": workspace.pk, "is_admin": "on"})

    assert bo.check_password("a river in spring")
    assert (bo.is_staff, bo.is_superuser) == (False, False)
    assert list(Membership.objects.values_list("person", "workspace", "is_admin")) == [(bo.pk, workspace.pk, True)]


def test_changes_a_person(admin_client, reviewer):
    said = {"username": reviewer.username, "first_name": "Bo", "last_name": "B", "email": ""}

    admin_client.post(address("person_change", reviewer.pk), said)

    reviewer.refresh_from_db()
    assert (reviewer.first_name, reviewer.is_active) == ("Bo", False)


def test_gives_and_changes_a_role(admin_client, project):
    bo = person_with(project, None)
    said = {"project": project.pk, "person": bo.pk, "service": "", "role": "viewer"}

    admin_client.post(address("projectrole_add"), said)
    given = ProjectRole.objects.get()
    admin_client.post(address("projectrole_change", given.pk), {"role": "owner"})

    assert list(ProjectRole.objects.values_list("id", "project", "person", "role")) == [
        (given.pk, project.pk, bo.pk, "owner")
    ]


@pytest.mark.parametrize("who", ["nobody", "both", "stranger"])
def test_refuses_a_role_of_nobody_of_two_or_of_a_stranger(admin_client, project, who):
    bo, stranger = person_with(project, None), person_with(ProjectFactory(), None)
    person = {"nobody": "", "both": bo.pk, "stranger": stranger.pk}[who]
    service = service_with(project, None).pk if who == "both" else ""
    said = {"project": project.pk, "person": person, "service": service, "role": "viewer"}

    answer = admin_client.post(address("projectrole_add"), said)

    assert problems(answer)
    assert not ProjectRole.objects.exists()


def test_puts_a_member_on_the_roster_and_takes_them_off(admin_client, workspace, project):
    bo = person_with(project)
    said = {"workspace": workspace.pk, "person": bo.pk, "role": "senior", "display_name": "Bo B."}
    admin_client.post(address("reviewer_add"), said)
    place = Reviewer.objects.get()
    assert (place.person, place.role, place.display_name, place.deactivated_at) == (bo, "senior", "Bo B.", None)

    chosen = {"_selected_action": [str(place.pk)]}
    admin_client.post(address("reviewer_changelist"), {"action": "deactivate", **chosen})
    place.refresh_from_db()
    assert place.deactivated_at is not None

    admin_client.post(address("reviewer_change", place.pk), {"role": "admin", "display_name": ""})
    place.refresh_from_db()
    assert (place.role, place.display_name) == ("admin", "")
    assert place.deactivated_at is not None

    admin_client.post(address("reviewer_changelist"), {"action": "activate", **chosen})
    place.refresh_from_db()
    assert (place.role, place.deactivated_at) == ("admin", None)


def test_a_reviewer_is_a_member(admin_client, workspace):
    stranger = person_with(ProjectFactory())
    said = {"workspace": workspace.pk, "person": stranger.pk, "role": "senior", "display_name": ""}

    answer = admin_client.post(address("reviewer_add"), said)

    assert problems(answer) == {"__all__": [f"“{stranger}” is not of this workspace."]}
    assert not Reviewer.objects.exists()


def test_makes_a_service_account_whose_name_stays(admin_client, workspace):
    admin_client.post(address("serviceaccount_add"), {"workspace": workspace.pk, "name": "importer"})
    account = ServiceAccount.objects.get()

    admin_client.post(address("serviceaccount_change", account.pk), {"name": "other", "is_workspace_admin": "on"})

    account.refresh_from_db()
    assert (account.name, account.is_workspace_admin) == ("importer", True)


def test_a_new_key_is_shown_once_and_works(admin_client, key_said, operator, project):
    answer = admin_client.post(address("apikey_add"), key_said, follow=True)

    (text,) = re.findall(r"kgi_[\w-]{43}", answer.content.decode())
    caller = caller_behind(text)
    assert caller.project_roles == {project.id: Role.EDITOR}
    assert caller.capabilities == {"corrections:fix-job"}
    assert WireClient(text).request("GET", "/v1/runs").status_code == 200
    key = ApiKey.objects.get()
    assert (key.label, key.created_by, str(key.expires_at)) == (
        "nightly",
        f"user:{operator.pk}",
        "2999-01-31 12:00:00+00:00",
    )

    for page in ("apikey_changelist", "apikey_add"):
        assert "kgi_" not in admin_client.get(address(page)).content.decode()
    assert "kgi_" not in admin_client.get(address("apikey_change", key.pk)).content.decode()


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"service": ""}, "Choose either a person or a service account."),
        ({"expires_at_0": "2020-01-31"}, "The key would have expired already."),
        ({"role": "admin"}, "is no administrator of the workspace"),
    ],
)
def test_refuses_a_key(admin_client, key_said, said, reason):
    answer = admin_client.post(address("apikey_add"), {**key_said, **said})

    assert reason in str(problems(answer))
    assert not ApiKey.objects.exists()


def test_refuses_a_key_across_workspaces(admin_client, key_said):
    elsewhere = ProjectFactory()

    answers = [
        admin_client.post(address("apikey_add"), {**key_said, "project": elsewhere.pk}),
        admin_client.post(address("apikey_add"), {**key_said, "service": service_with(elsewhere).pk}),
        admin_client.post(address("apikey_add"), {**key_said, "service": "", "person": person_with(elsewhere).pk}),
    ]

    assert ["is not of this workspace" in str(problems(answer)) for answer in answers] == [True] * 3
    assert not ApiKey.objects.exists()


def test_a_key_is_revoked_and_never_changed(admin_client, key_said):
    admin_client.post(address("apikey_add"), key_said)
    key = ApiKey.objects.get()

    assert admin_client.post(address("apikey_change", key.pk), {**key_said, "label": "x"}).status_code == 403
    revoke = {"action": "revoke", "_selected_action": [str(key.pk)]}
    answer = admin_client.post(address("apikey_changelist"), revoke, follow=True)

    key.refresh_from_db()
    assert "1 key was revoked." in answer.content.decode()
    assert (key.label, key.revoked_at is not None) == ("nightly", True)
    first = key.revoked_at
    admin_client.post(address("apikey_changelist"), revoke)
    key.refresh_from_db()
    assert key.revoked_at == first


def test_those_who_may_only_look_revoke_nothing(client, key_said, admin_client, reviewer):
    admin_client.post(address("apikey_add"), key_said)
    key = ApiKey.objects.get()
    Person.objects.filter(pk=reviewer.pk).update(is_staff=True)
    reviewer.user_permissions.add(*admin_permissions("view_apikey"))
    client.force_login(reviewer)

    assert client.get(address("apikey_changelist")).status_code == 200
    client.post(address("apikey_changelist"), {"action": "revoke", "_selected_action": [str(key.pk)]})

    key.refresh_from_db()
    assert key.revoked_at is None


def admin_permissions(codename):
    permissions = Person._meta.get_field("user_permissions").related_model
    return permissions.objects.filter(codename=codename)


def test_sets_the_rate_limit_of_a_workspace_and_nothing_else(admin_client, workspace):
    change = address("workspace_change", workspace.pk)

    admin_client.post(change, {"requests_per_minute": "90", "slug": "other", "name": "Other"})
    before = workspace.slug
    workspace.refresh_from_db()
    assert (workspace.requests_per_minute, workspace.slug, workspace.name) == (90, before, before)

    admin_client.post(change, {"requests_per_minute": ""})
    workspace.refresh_from_db()
    assert workspace.requests_per_minute is None


def test_roles_come_in_one_kind():
    assert "auth.Group" not in {model._meta.label for model in admin.site._registry}


def test_the_roster_is_searched_by_word(admin_client, workspace, reviewer):
    ReviewerFactory(workspace=workspace, display_name="Somebody Else")

    for page in ("reviewer_changelist", "membership_changelist", "projectrole_changelist", "person_changelist"):
        answer = admin_client.get(address(page), {"q": reviewer.username})
        assert [str(row) for row in answer.context["cl"].result_list] != []
