"""What the database itself refuses, whoever writes to it."""

import pytest
from django.db import IntegrityError, transaction

from corrections.models import Correction
from corrections.vocabulary import ScopeKind, SortedTo, Status
from kindgi_site import clock
from kindgi_site.callers import Role
from tests.factories import (
    CorrectionFactory,
    CorrectorGroupFactory,
    MembershipFactory,
    PersonFactory,
    ProjectFactory,
    ProjectRoleFactory,
    ReviewerFactory,
    RunCopyFactory,
    RunFactory,
    RunToolFactory,
    ServiceAccountFactory,
    WorkspaceFactory,
)

TWICE = {
    "a workspace's slug": (WorkspaceFactory, lambda: {"slug": "s"}),
    "a project's slug in its workspace": (ProjectFactory, lambda: {"workspace": WorkspaceFactory(), "slug": "s"}),
    "a membership": (MembershipFactory, lambda: {"workspace": WorkspaceFactory(), "person": PersonFactory()}),
    "a service's name in its workspace": (
        ServiceAccountFactory,
        lambda: {"workspace": WorkspaceFactory(), "name": "s"},
    ),
    "a person's role in a project": (
        ProjectRoleFactory,
        lambda: {"project": ProjectFactory(), "person": PersonFactory()},
    ),
    "a service's role in a project": (
        ProjectRoleFactory,
        lambda: {"project": ProjectFactory(), "service": ServiceAccountFactory()},
    ),
    "a place on the roster": (ReviewerFactory, lambda: {"workspace": WorkspaceFactory(), "person": PersonFactory()}),
    "a run's id in its workspace": (RunFactory, lambda: {"project": ProjectFactory(), "run_id": some_run_id()}),
    "the copy of a run": (RunCopyFactory, lambda: {"project": ProjectFactory(), "run_id": some_run_id()}),
    "a run's tool": (RunToolFactory, lambda: {"run": RunFactory()}),
    "a maker's live correction": (CorrectionFactory, lambda: {"copy": RunCopyFactory(), "made_by_id": "m"}),
    "a maker's live correction for an end user": (
        CorrectionFactory,
        lambda: {"copy": RunCopyFactory(), "made_by_id": "m", "participant_id": "p"},
    ),
    "a live group's name in a workspace": (
        CorrectorGroupFactory,
        lambda: {"workspace": WorkspaceFactory(), "name": "g"},
    ),
    "a live group's name in a project": (CorrectorGroupFactory, lambda: group_of(ScopeKind.PROJECT)),
    "a live group's name for an agent": (CorrectorGroupFactory, lambda: group_of(ScopeKind.AGENT, agent_id="a")),
}


def some_run_id() -> str:
    return "5b7d1f0e-0000-4000-8000-000000000001"


def group_of(kind: ScopeKind, **more: object) -> dict:
    project = ProjectFactory()
    return {"workspace": project.workspace, "project": project, "scope_kind": kind, "name": "g", **more}


@pytest.mark.parametrize(("factory", "fields"), TWICE.values(), ids=TWICE)
def test_there_is_only_one(db, factory, fields):
    same = fields()
    factory(**same)

    with pytest.raises(IntegrityError), transaction.atomic():
        factory(**same)


@pytest.mark.parametrize(
    ("factory", "one", "other"),
    [
        (CorrectionFactory, {"removed": True}, {}),
        (CorrectionFactory, {}, {"participant_id": "p"}),
        (CorrectionFactory, {}, {"made_by_kind": "user"}),
        (CorrectorGroupFactory, {"unregistered_at": clock.now()}, {}),
    ],
)
def test_a_removed_one_and_another_makers_are_no_second(db, factory, one, other):
    same = {"copy": RunCopyFactory(), "made_by_id": "m"}
    if factory is CorrectorGroupFactory:
        same = {"workspace": WorkspaceFactory(), "name": "g"}

    factory(**same | one)
    factory(**same | other)


def test_a_project_and_an_agent_of_it_may_have_groups_of_one_name(db):
    of_project = group_of(ScopeKind.PROJECT)

    CorrectorGroupFactory(**of_project)
    CorrectorGroupFactory(**of_project | {"scope_kind": ScopeKind.AGENT, "agent_id": "a"})
    CorrectorGroupFactory(**of_project | {"scope_kind": ScopeKind.AGENT, "agent_id": "b"})
    CorrectorGroupFactory(workspace=of_project["workspace"], name="g")


def test_a_workspace_has_one_default_project(workspace):
    ProjectFactory(workspace=workspace, default=True)
    ProjectFactory(default=True)

    with pytest.raises(IntegrityError), transaction.atomic():
        ProjectFactory(workspace=workspace, default=True, slug="another")


@pytest.mark.parametrize(
    "broken",
    [
        {"status": Status.REMOVED},
        {"unregistered_at": clock.now()},
        {"sorted_to": SortedTo.IMPROVE},
        {"sorted_at": clock.now()},
        {"status": Status.WITH_OWNER},
        {"status": Status.WITH_OWNER, "sorted_to": SortedTo.DEVELOPER, "sorted_at": clock.now()},
        {"status": Status.FIXED},
    ],
)
def test_a_corrections_invariants_hold(db, broken):
    correction = CorrectionFactory()

    with pytest.raises(IntegrityError), transaction.atomic():
        CorrectionFactory(**broken)
    with pytest.raises(IntegrityError), transaction.atomic():
        Correction.objects.filter(id=correction.id).update(**broken)


@pytest.mark.parametrize(
    "broken",
    [
        {"weight": -0.5},
        {"scope_kind": ScopeKind.PROJECT},
        {"scope_kind": ScopeKind.AGENT, "agent_id": "a"},
        {"agent_id": "a"},
    ],
)
def test_a_groups_invariants_hold(db, broken):
    with pytest.raises(IntegrityError), transaction.atomic():
        CorrectorGroupFactory(**broken)


@pytest.mark.parametrize("kind", [ScopeKind.TENANT, ScopeKind.AGENT])
def test_a_group_of_a_project_is_of_its_kind(project, kind):
    with pytest.raises(IntegrityError), transaction.atomic():
        CorrectorGroupFactory(workspace=project.workspace, project=project, scope_kind=kind)


def test_a_role_is_of_a_person_or_a_service(project):
    for nobody_or_both in ({}, {"person": PersonFactory(), "service": ServiceAccountFactory()}):
        with pytest.raises(IntegrityError), transaction.atomic():
            ProjectRoleFactory(project=project, role=Role.VIEWER, **nobody_or_both)
