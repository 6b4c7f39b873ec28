import json
import sys
from collections.abc import Iterator

import pytest
from django.core.management.base import CommandError

from kindgi_site.workspaces.models import Membership, Person, Project, Workspace
from tests.factories import PersonFactory, WorkspaceFactory

WORDS = ["create_workspace", "acme", "--admin", "ada"]


@pytest.fixture
def password_in_environment(monkeypatch):
    monkeypatch.setenv("ADA_PASSWORD", "short")


def asked_at_a_terminal(monkeypatch, *answers):
    given: Iterator[str] = iter(answers)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("kindgi_site.workspaces.management.operators.getpass", lambda _prompt: next(given))
    return given


def nothing_is_stored():
    return not (Workspace.objects.exists() or Person.objects.exists() or Project.objects.exists())


def test_prints_the_ids_as_one_line(manage, password_in_environment):
    said = manage(*WORDS, "--password-env", "ADA_PASSWORD")

    workspace, person = Workspace.objects.get(), Person.objects.get()
    assert said.out.count("\n") == 1
    assert json.loads(said.out) == {
        "workspaceId": str(workspace.id),
        "projectId": str(Project.objects.get().id),
        "userId": str(person.id),
    }
    assert said.err == ""


def test_makes_an_administrator_who_can_sign_in_and_a_default_project(manage, password_in_environment):
    manage(*WORDS, "--password-env", "ADA_PASSWORD")

    workspace, person = Workspace.objects.get(slug="acme"), Person.objects.get(username="ada")
    assert person.check_password("short")  # one from the environment is taken as it stands
    assert (person.is_staff, person.is_superuser) == (False, False)
    assert list(person.memberships.values_list("workspace", "is_admin")) == [(workspace.id, True)]
    assert list(workspace.projects.values_list("slug", "is_default")) == [("default", True)]


def test_a_known_person_keeps_their_password_and_needs_none(manage):
    ada = PersonFactory(username="ada")
    ada.set_password("of old")
    ada.save()

    said = manage(*WORDS)

    ada.refresh_from_db()
    assert json.loads(said.out)["userId"] == str(ada.id)
    assert ada.check_password("of old")
    assert list(ada.memberships.values_list("workspace__slug", "is_admin")) == [("acme", True)]


def test_a_slug_that_is_taken_is_refused_before_a_password_is_asked_for(manage):
    WorkspaceFactory(slug="acme")

    with pytest.raises(CommandError, match="There is a workspace “acme” already"):
        manage(*WORDS)

    assert Workspace.objects.count() == 1
    assert not Person.objects.exists()


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["create_workspace", "no slug!", "--admin", "ada"], "no slug"),
        (["create_workspace", "x" * 101, "--admin", "ada"], "at most 100"),
        (["create_workspace", "acme", "--admin", "a d a"], "username"),
        (["create_workspace", "acme"], "--admin"),
        ([*WORDS, "--password-env", "NOT_SET"], "NOT_SET holds no password"),
        (WORDS, "no terminal"),
    ],
)
def test_refuses_and_stores_nothing(manage, password_in_environment, words, reason):
    with pytest.raises(CommandError, match=reason):
        manage(*words)

    assert nothing_is_stored()


def test_asks_twice_for_a_password(manage, monkeypatch):
    asked_at_a_terminal(monkeypatch, "a river in spring", "a river in spring")

    manage(*WORDS)

    assert Person.objects.get().check_password("a river in spring")


@pytest.mark.parametrize(
    ("answers", "reason"),
    [(["a river in spring", "a river in autumn"], "not the same"), (["12345678", "12345678"], "too common")],
)
def test_a_mistyped_or_weak_password_is_refused(manage, monkeypatch, answers, reason):
    asked_at_a_terminal(monkeypatch, *answers)

    with pytest.raises(CommandError, match=reason):
        manage(*WORDS)

    assert nothing_is_stored()


def test_the_same_person_may_administer_two_workspaces(manage, password_in_environment):
    manage(*WORDS, "--password-env", "ADA_PASSWORD")
    manage("create_workspace", "other", "--admin", "ada")

    assert Membership.objects.filter(person__username="ada", is_admin=True).count() == 2
