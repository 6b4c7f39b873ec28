"""Making, changing and retiring corrector groups: contract 9.2 and 9.3, rules and services."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier
from uuid import uuid4

import pytest
from django.db import connection

from corrections.drafts import AssertableBy, GroupChange, GroupDraft
from corrections.models import CorrectorGroup
from corrections.rules.groups import check_change, check_group
from corrections.services.groups import change_group, create_group, retire_group
from corrections.vocabulary import ScopeKind
from kindgi_site.callers import ReviewerRole, Role
from kindgi_site.errors import Code, ConflictError, ForbiddenError, InvalidError, NotFoundError
from kindgi_site.workspaces.models import AuditEntry
from tests.factories import CorrectionFactory, CorrectorGroupFactory, ProjectFactory, caller_of, person_with

SOMEWHERE = uuid4()
TENANT = GroupDraft(name="Support leads", weight=2, scope_kind=ScopeKind.TENANT)


@pytest.fixture
def admin(project):
    """A workspace admin, as services know them."""
    return caller_of(person_with(project, None, is_admin=True))


@pytest.fixture
def owner(project):
    """An admin of the project, not of the workspace."""
    return caller_of(person_with(project, Role.ADMIN))


def in_project(project, name="Support leads"):
    return GroupDraft(name=name, weight=2, scope_kind=ScopeKind.PROJECT, project_id=project.id)


@pytest.mark.parametrize(
    "said",
    [
        {"name": "n" * 100},
        {"weight": 0},
        {"weight": 0.5},
        {"description": "d" * 2000},
        {"scope_kind": ScopeKind.PROJECT, "project_id": SOMEWHERE},
        {"scope_kind": ScopeKind.AGENT, "project_id": SOMEWHERE, "agent_id": "a" * 200},
        {"assertable_by": AssertableBy(min_reviewer_role=ReviewerRole.SENIOR)},
        {"assertable_by": AssertableBy(principal_kinds=("user", "service"))},
        {"assertable_by": AssertableBy(principal_ids=tuple(map(str, range(100))))},
    ],
)
def test_accepts(said):
    check_group(replace(TENANT, **said))


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "n" * 101}, "name"),
        ({"name": "a\0b"}, "name"),
        ({"weight": -0.1}, "weight"),
        ({"weight": float("nan")}, "weight"),
        ({"weight": float("inf")}, "weight"),
        ({"description": "d" * 2001}, "description"),
        ({"description": "\ud800"}, "description"),
        ({"project_id": SOMEWHERE}, "scope"),
        ({"agent_id": "a"}, "scope"),
        ({"scope_kind": ScopeKind.PROJECT}, "scope"),
        ({"scope_kind": ScopeKind.PROJECT, "project_id": SOMEWHERE, "agent_id": "a"}, "scope"),
        ({"scope_kind": ScopeKind.AGENT, "project_id": SOMEWHERE}, "scope"),
        ({"scope_kind": ScopeKind.AGENT, "project_id": SOMEWHERE, "agent_id": " "}, "scope"),
        ({"scope_kind": ScopeKind.AGENT, "project_id": SOMEWHERE, "agent_id": "a" * 201}, "scope"),
        ({"scope_kind": ScopeKind.AGENT, "project_id": SOMEWHERE, "agent_id": "a\0"}, "scope"),
        ({"assertable_by": AssertableBy()}, "assertableBy"),
        ({"assertable_by": AssertableBy(principal_kinds=("robot",))}, "assertableBy"),
        ({"assertable_by": AssertableBy(principal_ids=(" ",))}, "assertableBy"),
        ({"assertable_by": AssertableBy(principal_ids=("a\0",))}, "assertableBy"),
        ({"assertable_by": AssertableBy(principal_ids=tuple(map(str, range(101))))}, "assertableBy"),
    ],
)
def test_refuses_what_is_said(said, field):
    with pytest.raises(InvalidError) as refused:
        check_group(replace(TENANT, **said))

    assert (refused.value.code, refused.value.details) == (Code.BAD_INPUT, {"field": field})


@pytest.mark.parametrize(
    "change",
    [
        GroupChange(),
        GroupChange(weight=-1),
        GroupChange(description="d" * 2001),
        GroupChange(assertable_by=AssertableBy()),
    ],
)
def test_refuses_a_change(change):
    with pytest.raises(InvalidError):
        check_change(change)


def test_makes_a_group(admin, project):
    restriction = AssertableBy(
        min_reviewer_role=ReviewerRole.SENIOR, principal_kinds=("user",), principal_ids=("a", "b")
    )
    draft = GroupDraft(
        name="Experts",
        weight=3,
        scope_kind=ScopeKind.AGENT,
        project_id=project.id,
        agent_id="claims.intake",
        description="They know.",
        assertable_by=restriction,
    )

    made = create_group(caller=admin, draft=draft)

    stored = CorrectorGroup.objects.values().get()
    assert stored == {
        "id": made.id,
        "workspace_id": project.workspace_id,
        "scope_kind": "agent",
        "project_id": project.id,
        "agent_id": "claims.intake",
        "name": "Experts",
        "weight": 3.0,
        "description": "They know.",
        "min_reviewer_role": "senior",
        "principal_kinds": ["user"],
        "principal_ids": ["a", "b"],
        "created_at": made.created_at,
        "updated_at": made.created_at,
        "unregistered_at": None,
    }


def test_each_write_is_on_record_without_what_was_written(admin):
    group = create_group(caller=admin, draft=TENANT)
    change = GroupChange(weight=9, assertable_by=AssertableBy(principal_ids=("somebody",)))
    change_group(caller=admin, group_id=str(group.id), change=change)
    retire_group(caller=admin, group_id=str(group.id))

    kept = AuditEntry.objects.order_by("id").values_list("by_id", "action", "target_kind", "target_id", "fields")
    assert list(kept) == [
        (admin.id, "corrector-groups.create", "corrector-group", str(group.id), ""),
        (admin.id, "corrector-groups.update", "corrector-group", str(group.id), "weight assertable_by"),
        (admin.id, "corrector-groups.unregister", "corrector-group", str(group.id), ""),
    ]


def test_a_project_admin_makes_groups_of_the_project_only(owner, project):
    create_group(caller=owner, draft=in_project(project))

    with pytest.raises(ForbiddenError) as refused:
        create_group(caller=owner, draft=TENANT)

    assert refused.value.code == Code.PERMISSION_DENIED
    assert refused.value.details["resource"] == {"type": "workspace", "id": str(project.workspace_id)}
    assert CorrectorGroup.objects.count() == 1


def test_an_editor_makes_none(caller, project):
    with pytest.raises(ForbiddenError):
        create_group(caller=caller, draft=in_project(project))

    assert not CorrectorGroup.objects.exists()


def test_a_project_of_another_workspace_does_not_exist(admin):
    with pytest.raises(NotFoundError) as refused:
        create_group(caller=admin, draft=in_project(ProjectFactory()))

    assert refused.value.code == Code.PROJECT_NOT_FOUND
    assert not CorrectorGroup.objects.exists()


def test_a_name_is_given_once_in_a_scope(admin, project):
    create_group(caller=admin, draft=TENANT)
    create_group(caller=admin, draft=replace(TENANT, name="support leads"))
    create_group(caller=admin, draft=in_project(project))
    create_group(caller=admin, draft=in_project(ProjectFactory(workspace=project.workspace)))
    create_group(caller=admin, draft=replace(in_project(project), scope_kind=ScopeKind.AGENT, agent_id="a"))

    for draft in (TENANT, in_project(project)):
        with pytest.raises(ConflictError) as refused:
            create_group(caller=admin, draft=draft)
        assert refused.value.code == Code.CORRECTOR_GROUP_NAME_TAKEN

    assert CorrectorGroup.objects.count() == 5


def test_the_name_of_a_retired_group_is_free(admin):
    first = create_group(caller=admin, draft=TENANT)
    retire_group(caller=admin, group_id=str(first.id))

    second = create_group(caller=admin, draft=TENANT)

    assert CorrectorGroup.objects.get(unregistered_at__isnull=True) == second


@pytest.mark.django_db(transaction=True)
def test_of_five_at_once_one_gets_the_name(admin):
    together = Barrier(5, timeout=30)

    def make(_):
        connection.ensure_connection()
        together.wait()
        try:
            create_group(caller=admin, draft=TENANT)
        except ConflictError as refusal:
            return refusal.code
        finally:
            connection.close()
        return None

    with ThreadPoolExecutor(5) as pool:
        answers = list(pool.map(make, range(5)))

    assert answers.count(None) == 1
    assert answers.count(Code.CORRECTOR_GROUP_NAME_TAKEN) == 4
    assert CorrectorGroup.objects.count() == 1


def test_changes_what_is_said_and_nothing_else(admin):
    group = create_group(caller=admin, draft=replace(TENANT, description="Old."))

    change_group(caller=admin, group_id=str(group.id), change=GroupChange(weight=0.25))
    group.refresh_from_db()
    assert (group.weight, group.description, group.is_restricted) == (0.25, "Old.", False)
    assert group.updated_at >= group.created_at

    change = GroupChange(description="", assertable_by=AssertableBy(principal_kinds=("user",)))
    change_group(caller=admin, group_id=str(group.id), change=change)
    group.refresh_from_db()
    assert (group.weight, group.description, group.principal_kinds) == (0.25, "", ["user"])

    change_group(caller=admin, group_id=str(group.id), change=GroupChange(assertable_by=None))
    group.refresh_from_db()
    assert (group.name, group.is_restricted) == ("Support leads", False)


def test_restricting_a_group_leaves_what_was_said_under_it(admin, project):
    group = CorrectorGroupFactory(workspace=project.workspace)
    said = CorrectionFactory(copy__project=project, group=group, expert=False)

    restriction = AssertableBy(principal_kinds=("user",))
    change_group(caller=admin, group_id=str(group.id), change=GroupChange(assertable_by=restriction))
    retire_group(caller=admin, group_id=str(group.id))

    said.refresh_from_db()
    assert (said.group, said.expert) == (group, False)


@pytest.mark.parametrize("change", [GroupChange(weight=9), None])
def test_an_unknown_retired_or_unreadable_group_is_not_found(owner, project, change):
    live = CorrectorGroupFactory(workspace=project.workspace)
    elsewhere = ProjectFactory(workspace=project.workspace)
    hidden = [
        CorrectorGroupFactory(workspace=project.workspace, unregistered_at=live.created_at),
        CorrectorGroupFactory(workspace=project.workspace, scope_kind="project", project=elsewhere),
        CorrectorGroupFactory(),
    ]
    before = list(CorrectorGroup.objects.order_by("id").values())

    for group_id in [*(str(group.id) for group in hidden), str(uuid4()), "no id"]:
        with pytest.raises(NotFoundError) as refused:
            change_or_retire(owner, group_id, change)
        assert refused.value.code == Code.CORRECTOR_GROUP_NOT_FOUND
        assert refused.value.details == {"correctorGroupId": group_id}

    assert list(CorrectorGroup.objects.order_by("id").values()) == before


@pytest.mark.parametrize("change", [GroupChange(weight=9), None])
def test_a_readable_group_of_a_wider_scope_is_denied(owner, project, change):
    group = CorrectorGroupFactory(workspace=project.workspace)
    before = CorrectorGroup.objects.values().get()

    with pytest.raises(ForbiddenError):
        change_or_retire(owner, str(group.id), change)

    assert CorrectorGroup.objects.values().get() == before


def change_or_retire(caller, group_id, change):
    if change is None:
        retire_group(caller=caller, group_id=group_id)
    else:
        change_group(caller=caller, group_id=group_id, change=change)
