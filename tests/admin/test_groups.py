"""Corrector groups in the admin site: through the same services as every other way."""

import pytest
from django.urls import reverse

from corrections.models import CorrectorGroup
from tests.factories import CorrectorGroupFactory, ProjectFactory, WorkspaceFactory

ADD = "admin:corrections_correctorgroup_add"
LIST = "admin:corrections_correctorgroup_changelist"


def change_address(group):
    return reverse("admin:corrections_correctorgroup_change", args=[group.pk])


def problems(answer):
    assert answer.status_code == 200
    return str(answer.context["adminform"].form.errors)


@pytest.fixture
def said(project):
    """A form for a group of one agent."""
    return {
        "workspace": project.workspace.pk,
        "scope_kind": "agent",
        "project": project.pk,
        "agent_id": "claims.intake",
        "name": "Experts",
        "weight": "3",
        "description": "They know.",
        "min_reviewer_role": "senior",
        "principal_kinds": ["user"],
        "principal_ids": "one\n\n two \none",
    }


def test_makes_a_group(admin_client, said, project):
    admin_client.post(reverse(ADD), said)

    stored = CorrectorGroup.objects.values().get()
    assert stored == {
        "id": stored["id"],
        "workspace_id": project.workspace_id,
        "scope_kind": "agent",
        "project_id": project.pk,
        "agent_id": "claims.intake",
        "name": "Experts",
        "weight": 3.0,
        "description": "They know.",
        "min_reviewer_role": "senior",
        "principal_kinds": ["user"],
        "principal_ids": ["one", "two"],
        "created_at": stored["created_at"],
        "updated_at": stored["created_at"],
        "unregistered_at": None,
    }


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ({"weight": "-1"}, "weight is a number from 0."),
        ({"weight": "nan"}, "Enter a number."),
        ({"name": " "}, "This field is required."),
        ({"project": ""}, "scope is a tenant alone"),
        ({"scope_kind": "tenant"}, "scope is a tenant alone"),
        ({"agent_id": ""}, "scope is a tenant alone"),
        ({"description": "d" * 2001}, "longer than 2000"),
        ({"principal_ids": "\n".join(map(str, range(101)))}, "more than 100"),
        ({"principal_kinds": ["robot"]}, "robot is not one of the available choices"),
    ],
)
def test_refuses_a_group(admin_client, said, other, reason):
    answer = admin_client.post(reverse(ADD), {**said, **other})

    assert reason in problems(answer)
    assert not CorrectorGroup.objects.exists()


def test_refuses_a_project_of_another_workspace(admin_client, said):
    answer = admin_client.post(reverse(ADD), {**said, "project": ProjectFactory().pk})

    assert "This project is of another workspace." in problems(answer)
    assert not CorrectorGroup.objects.exists()


def test_refuses_a_name_that_is_taken_in_the_scope(admin_client, said):
    admin_client.post(reverse(ADD), said)

    answer = admin_client.post(reverse(ADD), said)

    assert "There is a corrector group of this name already." in problems(answer)
    assert CorrectorGroup.objects.count() == 1


def test_changes_weight_description_and_restriction_but_not_name_and_scope(admin_client, said):
    admin_client.post(reverse(ADD), said)
    group = CorrectorGroup.objects.get()
    before = CorrectorGroup.objects.values().get()

    admin_client.post(
        change_address(group),
        {"name": "Other", "workspace": WorkspaceFactory().pk, "scope_kind": "tenant", "weight": "0.5"},
    )

    after = CorrectorGroup.objects.values().get()
    assert after["updated_at"] >= before["updated_at"]
    assert after == {
        **before,
        "weight": 0.5,
        "description": "",
        "min_reviewer_role": "",
        "principal_kinds": [],
        "principal_ids": [],
        "updated_at": after["updated_at"],
    }


def test_refuses_a_change(admin_client):
    group = CorrectorGroupFactory(weight=1)

    answer = admin_client.post(change_address(group), {"weight": "-1"})

    assert "weight is a number from 0." in problems(answer)
    group.refresh_from_db()
    assert group.weight == 1


def test_the_form_shows_what_is_stored(admin_client, said):
    admin_client.post(reverse(ADD), said)

    page = admin_client.get(change_address(CorrectorGroup.objects.get())).content.decode()

    assert "one\ntwo</textarea>" in page
    assert 'value="user"' in page


def test_retires_the_chosen_groups_once(admin_client):
    group, other = CorrectorGroupFactory(), CorrectorGroupFactory()
    chosen = {"action": "retire", "_selected_action": [str(group.pk)]}

    answer = admin_client.post(reverse(LIST), chosen, follow=True)
    group.refresh_from_db()
    retired_at = group.unregistered_at
    admin_client.post(reverse(LIST), chosen)

    group.refresh_from_db()
    other.refresh_from_db()
    assert "1 group was retired." in answer.content.decode()
    assert retired_at is not None
    assert (group.unregistered_at, other.unregistered_at) == (retired_at, None)


def test_a_retired_group_is_only_looked_at_and_none_is_deleted(admin_client):
    live = CorrectorGroupFactory()
    retired = CorrectorGroupFactory(unregistered_at=live.created_at)
    before = list(CorrectorGroup.objects.order_by("id").values())

    assert admin_client.get(change_address(retired)).status_code == 200
    answers = [admin_client.post(change_address(retired), {"weight": "9"})]
    for group in (live, retired):
        delete = reverse("admin:corrections_correctorgroup_delete", args=[group.pk])
        answers.append(admin_client.post(delete, {"post": "yes"}))

    assert [answer.status_code for answer in answers] == [403] * 3
    assert list(CorrectorGroup.objects.order_by("id").values()) == before


def test_projects_are_offered_by_the_name_of_their_workspace_too(admin_client, project):
    page = admin_client.get(reverse(ADD)).content.decode()

    assert f">{project.workspace} / Default</option>" in page
