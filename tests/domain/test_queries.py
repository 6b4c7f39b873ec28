"""Who sees which runs, corrections, groups and projects (contract 2.5, 9.1), and at what cost."""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import uuid4

import pytest

from corrections.models import Correction, CorrectorGroup, Run
from corrections.queries.corrections import correction_readable_by, corrections_readable_by
from corrections.queries.groups import group_readable_by, groups_covering, groups_readable_by
from corrections.queries.runs import run_in_workspace, run_readable_by, runs_readable_by
from corrections.vocabulary import ScopeKind
from kindgi_site import clock
from kindgi_site.callers import Caller, Role
from kindgi_site.errors import Code, ForbiddenError, NotFoundError
from kindgi_site.workspaces.models import Project
from kindgi_site.workspaces.queries.projects import project_in_workspace, project_readable_by, projects_readable_by
from kindgi_site.workspaces.services.keys import store_key
from tests.factories import (
    CorrectionFactory,
    CorrectorGroupFactory,
    FlowRunFactory,
    ProjectFactory,
    ProjectRoleFactory,
    RunCopyFactory,
    RunFactory,
    caller_behind,
    caller_of,
    crowd,
    person_with,
)


@dataclass
class Place:
    """A project with one of everything in it."""

    project: Project
    run: Run
    correction: Correction
    group: CorrectorGroup


def furnished(project: Project) -> Place:
    run = RunFactory(project=project)
    correction = CorrectionFactory(copy=RunCopyFactory(project=project, run_id=run.run_id))
    group = CorrectorGroupFactory(workspace=project.workspace, scope_kind=ScopeKind.PROJECT, project=project)
    return Place(project, run, correction, group)


@pytest.fixture
def here(project) -> Place:
    return furnished(project)


@pytest.fixture
def next_door(project) -> Place:
    """Another project of the workspace."""
    return furnished(ProjectFactory(workspace=project.workspace))


@pytest.fixture
def far_away(db) -> Place:
    """A project of another workspace."""
    return furnished(ProjectFactory())


def viewer_here(project: Project, next_door: Place) -> Caller:
    return caller_of(person_with(project, Role.VIEWER))


def viewer_of_both(project: Project, next_door: Place) -> Caller:
    person = person_with(project, Role.VIEWER)
    ProjectRoleFactory(project=next_door.project, person=person, role=Role.VIEWER)
    return caller_of(person)


def member_without_roles(project: Project, next_door: Place) -> Caller:
    return caller_of(person_with(project, None))


def workspace_admin(project: Project, next_door: Place) -> Caller:
    return caller_of(person_with(project, None, is_admin=True))


def key_for_here(project: Project, next_door: Place) -> Caller:
    admin = person_with(project, Role.OWNER, is_admin=True)
    return caller_behind(store_key(workspace=project.workspace, principal=admin, project=project)[1])


SEES = [
    (viewer_here, True, False),
    (viewer_of_both, True, True),
    (member_without_roles, False, False),
    (workspace_admin, True, True),
    (key_for_here, True, False),
]


@pytest.mark.parametrize(("who", "sees_here", "sees_next_door"), SEES)
def test_everybody_sees_what_is_in_the_projects_they_may_read(
    project, here, next_door, far_away, who: Callable[..., Caller], sees_here, sees_next_door
):
    caller = who(project, next_door)

    places = [here] * sees_here + [next_door] * sees_next_door
    assert set(projects_readable_by(caller)) == {place.project for place in places}
    assert set(runs_readable_by(caller)) == {place.run for place in places}
    assert set(corrections_readable_by(caller)) == {place.correction for place in places}
    assert set(groups_readable_by(caller)) == {place.group for place in places}


@pytest.mark.parametrize(("who", "sees_here", "sees_next_door"), SEES)
def test_one_that_may_not_be_read_does_not_exist_except_a_run(
    project, here, next_door, far_away, who: Callable[..., Caller], sees_here, sees_next_door
):
    caller = who(project, next_door)

    for place, seen in [(here, sees_here), (next_door, sees_next_door), (far_away, False)]:
        if seen:
            assert correction_readable_by(caller, str(place.correction.id)) == place.correction
            assert group_readable_by(caller, str(place.group.id)) == place.group
            assert project_readable_by(caller, place.project.id) == place.project
            assert run_readable_by(caller, place.run.run_id) == place.run
            continue
        with pytest.raises(NotFoundError) as caught:
            correction_readable_by(caller, str(place.correction.id))
        assert caught.value.details == {"correctionId": str(place.correction.id)}
        with pytest.raises(NotFoundError):
            group_readable_by(caller, str(place.group.id))
        with pytest.raises(NotFoundError):
            project_readable_by(caller, place.project.id)
        with pytest.raises(NotFoundError if place is far_away else ForbiddenError):
            run_readable_by(caller, place.run.run_id)


@pytest.mark.parametrize("name", ["", "correction", "11111111-2222-4333-8444-555555555555", "\x00"])
def test_an_unknown_id_of_any_shape_is_not_found(caller, name):
    with pytest.raises(NotFoundError) as caught:
        correction_readable_by(caller, name)
    assert (caught.value.code, caught.value.details) == (Code.CORRECTION_NOT_FOUND, {"correctionId": name})

    with pytest.raises(NotFoundError) as caught:
        group_readable_by(caller, name)
    assert (caught.value.code, caught.value.details) == (Code.CORRECTOR_GROUP_NOT_FOUND, {"correctorGroupId": name})


def test_an_unknown_run_or_project_is_not_found(caller):
    name = uuid4()

    with pytest.raises(NotFoundError) as caught:
        run_in_workspace(caller, name)
    assert (caught.value.code, caught.value.details) == (Code.RUN_NOT_FOUND, {"runId": str(name)})

    with pytest.raises(NotFoundError) as caught:
        project_in_workspace(caller.workspace_id, name)
    assert (caught.value.code, caught.value.details) == (Code.PROJECT_NOT_FOUND, {"projectId": str(name)})


def test_removed_corrections_and_retired_groups_are_read_too(caller, here):
    removed = CorrectionFactory(copy=here.correction.copy, removed=True)
    retired = CorrectorGroupFactory(workspace=here.project.workspace, unregistered_at=clock.now())

    assert correction_readable_by(caller, str(removed.id)) == removed
    assert group_readable_by(caller, str(retired.id)) == retired


def test_lists_are_newest_first_and_then_by_id(caller, project):
    moment = clock.now()
    runs = RunFactory.create_batch(3, project=project, created_at=moment)
    corrections = [CorrectionFactory(copy=RunCopyFactory(project=project), created_at=moment) for _ in range(3)]

    assert list(runs_readable_by(caller)) == sorted(runs, key=lambda run: run.id, reverse=True)
    assert list(corrections_readable_by(caller)) == sorted(corrections, key=lambda one: one.id, reverse=True)


def test_groups_cover_runs_by_scope_and_retired_ones_none(project):
    workspace, other = project.workspace, ProjectFactory(workspace=project.workspace)
    make = CorrectorGroupFactory
    all_of_it = make(workspace=workspace, name="c")
    of_project = make(workspace=workspace, name="b", scope_kind=ScopeKind.PROJECT, project=project)
    of_agent = make(workspace=workspace, name="a", scope_kind=ScopeKind.AGENT, project=project, agent_id="support")
    make()
    make(workspace=workspace, unregistered_at=clock.now())
    of_other = make(workspace=workspace, name="d", scope_kind=ScopeKind.PROJECT, project=other)
    make(workspace=workspace, scope_kind=ScopeKind.AGENT, project=other, agent_id="support")
    make(workspace=workspace, scope_kind=ScopeKind.AGENT, project=project, agent_id="another")
    make(workspace=workspace, scope_kind=ScopeKind.AGENT, project=project, agent_id="ranking")

    assert list(groups_covering(RunFactory(project=project))) == [of_agent, of_project, all_of_it]
    assert list(groups_covering(RunCopyFactory(project=project))) == [of_agent, of_project, all_of_it]
    assert list(groups_covering(FlowRunFactory(project=project))) == [of_project, all_of_it]
    assert list(groups_covering(RunFactory(project=other, subject_id="ranking"))) == [all_of_it, of_other]


@pytest.mark.parametrize("around", [1, 300])
def test_reading_one_costs_the_same_however_many_are_around(caller, here, around, django_assert_num_queries):
    crowd(here.project, around)

    with django_assert_num_queries(1):
        correction = correction_readable_by(caller, str(here.correction.id))
        assert (correction.copy.input, correction.copy.output) == (here.run.content.input, here.run.content.output)

    with django_assert_num_queries(1):
        assert run_readable_by(caller, here.run.run_id).content.output is not None
