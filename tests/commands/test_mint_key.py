from datetime import UTC, datetime

import pytest
from django.core.management.base import CommandError

from kindgi_site.callers import Action, Role
from kindgi_site.workspaces.models import ApiKey, ProjectRole, ServiceAccount
from tests.factories import ProjectFactory, caller_behind, person_with


@pytest.fixture
def words(project):
    return ["mint_key", "--workspace", project.workspace.slug]


@pytest.fixture
def claims(workspace):
    return ProjectFactory(workspace=workspace, slug="claims")


def minted(said):
    """The caller behind the key that was printed alone on its line."""
    assert said.out.endswith("\n")
    assert len(said.out.split()) == 1
    return caller_behind(said.out.strip())


def test_a_person_s_key_has_their_roles(manage, words, reviewer, project):
    said = manage(*words, "--user", reviewer.username)

    caller = minted(said)
    assert (caller.kind, caller.id, caller.key_is_member) == ("user", str(reviewer.id), True)
    assert caller.project_roles == {project.id: Role.EDITOR}
    assert said.err == ""


def test_only_a_digest_is_stored(manage, words, reviewer):
    said = manage(*words, "--user", reviewer.username)

    stored = ApiKey.objects.values().get()
    assert said.out.strip() not in map(str, stored.values())


def test_a_program_gets_an_account_and_a_role_in_the_default_project(manage, words, project, claims):
    caller = minted(manage(*words, "--service", "importer", "--grant", "editor"))

    assert (caller.kind, caller.name) == ("service", "importer")
    assert caller.project_roles == {project.id: Role.EDITOR}
    assert caller.key_project_id is None


def test_two_keys_of_one_program_are_one_maker(manage, words):
    first = minted(manage(*words, "--service", "importer"))
    second = minted(manage(*words, "--service", "importer"))

    assert first.id == second.id
    assert first.key_id != second.key_id


def test_project_limits_the_key_and_places_the_grant(manage, words, project, claims):
    caller = minted(manage(*words, "--service", "importer", "--grant", "viewer", "--project", "claims"))

    assert caller.project_roles == {claims.id: Role.VIEWER}
    assert caller.key_project_id == claims.id


def test_an_admin_key_of_a_program_makes_it_an_administrator_and_says_so(manage, words, workspace):
    said = manage(*words, "--service", "ops", "--role", "admin")

    assert minted(said).may_administer_workspace
    assert said.err == f"ops is an administrator of {workspace.slug} from now on.\n"
    assert manage(*words, "--service", "ops", "--role", "admin").err == ""


def test_a_member_key_of_an_administrator_keeps_admin_on_projects_only(manage, words, project):
    ada = person_with(project, None, is_admin=True)

    member = minted(manage(*words, "--user", ada.username))
    admin = minted(manage(*words, "--user", ada.username, "--role", "admin"))

    assert member.may(Action.ADMIN, project.id)
    assert (member.may_administer_workspace, admin.may_administer_workspace) == (False, True)


def test_capabilities_and_expiry_are_on_the_key(manage, words, reviewer):
    caller = minted(
        manage(
            *words,
            "--user",
            reviewer.username,
            "--capability",
            "corrections:fix-job",
            "--expires",
            "2999-01-31T12:00:00.123456+01:00",
        )
    )

    assert caller.capabilities == {"corrections:fix-job"}
    assert caller.key_expires_at == datetime(2999, 1, 31, 11, 0, 0, 123000, tzinfo=UTC)


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ([], "one of the arguments --user --service is required"),
        (["--user", "a", "--service", "b"], "not allowed with"),
        (["--user", "nobody"], "“nobody” is no member"),
        (["--service", " "], "1 to 200 characters"),
        (["--service", "x" * 201], "1 to 200 characters"),
        (["--service", "s", "--project", "nowhere"], "no project “nowhere”"),
        (["--service", "s", "--capability", "fly"], "invalid choice: 'fly'"),
        (["--service", "s", "--expires", "2020-01-01T00:00:00Z"], "expired already"),
        (["--service", "s", "--expires", "tomorrow"], "“tomorrow” is no time"),
        (["--service", "s", "--expires", "2999-01-01T00:00:00"], "no time zone"),
        (["--service", "s", "--expires", "9999-12-31T23:59:59-10:00"], "is no time"),
        (["--service", "s", "--grant", "king"], "invalid choice: 'king'"),
        (["--service", "s", "--role", "owner"], "invalid choice: 'owner'"),
        (["--service", "s", "--workspace", "nowhere"], "no workspace “nowhere”"),
    ],
)
def test_refuses_and_stores_nothing(manage, words, more, reason):
    with pytest.raises(CommandError, match=reason):
        manage(*words, *more)

    assert not ApiKey.objects.exists()
    assert not ServiceAccount.objects.exists()


def test_a_person_is_given_roles_elsewhere(manage, words, reviewer):
    with pytest.raises(CommandError, match="--grant is for a program"):
        manage(*words, "--user", reviewer.username, "--grant", "owner")

    assert not ApiKey.objects.exists()
    assert ProjectRole.objects.get().role == "editor"


def test_an_admin_key_needs_an_administrator(manage, words, reviewer):
    with pytest.raises(CommandError, match="no administrator of the workspace"):
        manage(*words, "--user", reviewer.username, "--role", "admin")

    assert not ApiKey.objects.exists()


def test_a_person_of_another_workspace_is_unknown(manage, words):
    stranger = person_with(ProjectFactory(default=True))

    with pytest.raises(CommandError, match="is no member"):
        manage(*words, "--user", stranger.username)

    assert not ApiKey.objects.exists()
