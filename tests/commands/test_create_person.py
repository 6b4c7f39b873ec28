import json

import pytest
from django.core.management.base import CommandError

from kindgi_site.workspaces.models import Membership, Person, ProjectRole, Reviewer
from tests.factories import PersonFactory, ProjectFactory, ReviewerFactory, person_with


@pytest.fixture
def words(project, monkeypatch):
    """The words that make a person named `bo`, with a password."""
    monkeypatch.setenv("BO_PASSWORD", "secret of bo")
    return ["create_person", "bo", "--workspace", project.workspace.slug, "--password-env", "BO_PASSWORD"]


def rights_of(person):
    return {
        "admin": person.memberships.get().is_admin,
        "roles": {role.project.slug: role.role for role in person.project_roles.all()},
        "reviewer": [place.role for place in person.reviewer_places.all()],
    }


def test_prints_the_ids_as_one_line(manage, words, workspace):
    said = manage(*words)

    person = Person.objects.get(username="bo")
    assert said.out.count("\n") == 1
    assert json.loads(said.out) == {"userId": str(person.id), "workspaceId": str(workspace.id)}


def test_makes_a_member_without_any_role(manage, words):
    manage(*words)

    person = Person.objects.get(username="bo")
    assert person.check_password("secret of bo")
    assert rights_of(person) == {"admin": False, "roles": {}, "reviewer": []}


def test_gives_the_role_in_the_default_project(manage, words):
    manage(*words, "--role", "editor", "--reviewer", "senior", "--workspace-admin")

    assert rights_of(Person.objects.get(username="bo")) == {
        "admin": True,
        "roles": {"default": "editor"},
        "reviewer": ["senior"],
    }


def test_gives_the_role_in_the_named_project(manage, words, workspace):
    ProjectFactory(workspace=workspace, slug="claims")

    manage(*words, "--role", "admin", "--project", "claims")

    assert rights_of(Person.objects.get(username="bo"))["roles"] == {"claims": "admin"}


def test_adds_to_what_a_member_has_and_says_so(manage, project):
    bo = person_with(project, "viewer", is_admin=True)
    ReviewerFactory(workspace=project.workspace, person=bo, role="standard", display_name="Bo B.")
    ProjectFactory(workspace=project.workspace, slug="claims")

    said = manage(
        "create_person",
        bo.username,
        "--workspace",
        project.workspace.slug,
        "--role",
        "owner",
        "--project",
        "claims",
        "--reviewer",
        "senior",
    )

    assert rights_of(bo) == {"admin": True, "roles": {"default": "viewer", "claims": "owner"}, "reviewer": ["senior"]}
    assert Reviewer.objects.get().display_name == "Bo B."
    assert said.err == (f"{bo.username}: owner in the project claims.\n{bo.username}: senior reviewer.\n")


def test_run_again_it_changes_nothing(manage, words):
    words += ["--role", "editor", "--reviewer", "standard"]
    first = manage(*words)
    before = [*Person.objects.values(), *Membership.objects.values(), *ProjectRole.objects.values()]

    second = manage(*words)

    assert second.out == first.out
    assert [*Person.objects.values(), *Membership.objects.values(), *ProjectRole.objects.values()] == before
    assert Reviewer.objects.count() == 1


def test_a_known_person_joins_with_their_password(manage, words):
    bo = PersonFactory(username="bo")

    said = manage(*words)

    bo.refresh_from_db()
    assert bo.password == "!"
    assert "with the password they have" in said.err
    assert bo.memberships.count() == 1


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (["--role", "king"], "invalid choice"),
        (["--reviewer", "junior"], "invalid choice"),
        (["--role", "editor", "--project", "nowhere"], "no project “nowhere”"),
        (["--project", "default"], "name the role too"),
        (["--workspace", "nowhere"], "no workspace “nowhere”"),
    ],
)
def test_refuses_and_stores_nothing(manage, words, more, reason):
    with pytest.raises(CommandError, match=reason):
        manage(*words, *more)

    assert not Person.objects.exists()


def test_a_project_of_another_workspace_is_no_project(manage, words):
    ProjectFactory(slug="elsewhere")

    with pytest.raises(CommandError, match="no project “elsewhere”"):
        manage(*words, "--role", "editor", "--project", "elsewhere")

    assert not Person.objects.exists()


def test_where_nobody_can_be_asked_they_have_no_password_yet(manage, words):
    said = manage(*words[: words.index("--password-env")])

    bo = Person.objects.get(username="bo")
    assert (bo.has_usable_password(), bo.memberships.count()) == (False, 1)
    assert "manage.py changepassword bo" in said.err
