"""Speaking for a corrector group: what it covers, and who may (contract 9.1, 9.3)."""

from itertools import product

import pytest

from corrections.drafts import CorrectionDraft
from corrections.models import CorrectorGroup
from corrections.permissions import may_speak_for, reason_against_speaking
from corrections.services.recording import record_correction
from corrections.vocabulary import ScopeKind, Verdict
from kindgi_site.callers import Caller, ReviewerRole
from kindgi_site.errors import Code, ForbiddenError, InvalidError
from kindgi_site.keys import new_id
from kindgi_site.workspaces.services.keys import store_key
from tests.factories import (
    CorrectorGroupFactory,
    FlowRunFactory,
    ProjectFactory,
    RunFactory,
    caller_behind,
    service_with,
)

KIND, IDS, ROLE = (
    "This group is not for this kind of caller.",
    "The caller is not among those who may speak for this group.",
    "This group needs the reviewer role senior or above.",
)


def spoken_for(group: CorrectorGroup) -> CorrectionDraft:
    return CorrectionDraft(answer=Verdict.RIGHT, corrector_group_id=str(group.id))


SCOPES = {
    "tenant": (lambda project: {"scope_kind": ScopeKind.TENANT}, True, True),
    "its project": (lambda project: {"scope_kind": ScopeKind.PROJECT, "project": project}, True, True),
    "another project": (
        lambda project: {"scope_kind": ScopeKind.PROJECT, "project": ProjectFactory(workspace=project.workspace)},
        False,
        False,
    ),
    "its agent": (
        lambda project: {"scope_kind": ScopeKind.AGENT, "project": project, "agent_id": "support"},
        True,
        False,
    ),
    "an agent of the flow's name": (
        lambda project: {"scope_kind": ScopeKind.AGENT, "project": project, "agent_id": "ranking"},
        False,
        False,
    ),
    "its agent in another project": (
        lambda project: {
            "scope_kind": ScopeKind.AGENT,
            "project": ProjectFactory(workspace=project.workspace),
            "agent_id": "support",
        },
        False,
        False,
    ),
}


@pytest.mark.parametrize("factory", [RunFactory, FlowRunFactory], ids=["agent", "flow"])
@pytest.mark.parametrize(("scope", "covers_agent", "covers_flow"), SCOPES.values(), ids=SCOPES)
def test_a_group_speaks_for_the_runs_it_covers(
    caller, project, nothing_changes, scope, covers_agent, covers_flow, factory
):
    run = factory(project=project)
    group = CorrectorGroupFactory(workspace=project.workspace, **scope(project))

    if covers_agent if factory is RunFactory else covers_flow:
        recorded = record_correction(caller=caller, run_id=run.run_id, draft=spoken_for(group))
        assert (recorded.group, recorded.expert) == (group, False)
    else:
        with nothing_changes(), pytest.raises(InvalidError) as caught:
            record_correction(caller=caller, run_id=run.run_id, draft=spoken_for(group))
        assert caught.value.code == Code.CORRECTOR_GROUP_NOT_APPLICABLE


def test_an_agents_group_covers_any_version_of_it(caller, project):
    run = RunFactory(project=project, subject_version="9.9.9")
    group = CorrectorGroupFactory(
        workspace=project.workspace, scope_kind=ScopeKind.AGENT, project=project, agent_id="support"
    )

    assert record_correction(caller=caller, run_id=run.run_id, draft=spoken_for(group)).group == group


def test_a_group_of_another_workspace_does_not_exist(caller, run, nothing_changes):
    elsewhere = CorrectorGroupFactory()

    with nothing_changes(), pytest.raises(InvalidError):
        record_correction(caller=caller, run_id=run.run_id, draft=spoken_for(elsewhere))


ME = "me"


def somebody(kind: str, role: ReviewerRole | None) -> Caller:
    return Caller(workspace_id=new_id(), kind=kind, id=ME, reviewer_role=role)


KINDS = [([], None), (["user"], None), (["user", "service"], None), (["service"], KIND)]
PRINCIPALS = [([], None), ([ME], None), (["you", ME], None), (["you", "m", "ME"], IDS)]
ROLES = [
    ("", None, None),
    ("senior", ReviewerRole.SENIOR, None),
    ("senior", ReviewerRole.ADMIN, None),
    ("senior", ReviewerRole.STANDARD, ROLE),
    ("senior", None, ROLE),
]


@pytest.mark.parametrize(("kinds", "ids", "roles"), list(product(KINDS, PRINCIPALS, ROLES)))
def test_every_part_must_hold_and_the_first_that_fails_is_told(kinds, ids, roles):
    group = CorrectorGroup(principal_kinds=kinds[0], principal_ids=ids[0], min_reviewer_role=roles[0])
    caller = somebody("user", roles[1])

    reason = reason_against_speaking(caller, group)

    assert reason == (kinds[1] or ids[1] or roles[2])
    assert may_speak_for(caller, group) is (reason is None)
    assert group.is_restricted is bool(kinds[0] or ids[0] or roles[0])


@pytest.mark.parametrize(
    ("wanted", "had", "enough"),
    [
        (wanted, had, had is not None and list(ReviewerRole).index(had) >= list(ReviewerRole).index(wanted))
        for wanted in ReviewerRole
        for had in (None, *ReviewerRole)
    ],
)
def test_reviewer_roles_rise_from_standard_over_senior_to_admin(wanted, had, enough):
    assert list(ReviewerRole) == ["standard", "senior", "admin"]
    assert may_speak_for(somebody("user", had), CorrectorGroup(min_reviewer_role=wanted)) is enough


RESTRICTIONS = {
    "kind": ({"principal_kinds": ["user"]}, {"principal_kinds": ["service"]}, KIND),
    "ids": ({"principal_ids": ["somebody", ME]}, {"principal_ids": ["somebody"]}, IDS),
    "role": ({"min_reviewer_role": "standard"}, {"min_reviewer_role": "senior"}, ROLE),
}


@pytest.mark.parametrize(("met", "unmet", "reason"), RESTRICTIONS.values(), ids=RESTRICTIONS)
def test_who_meets_a_restriction_is_an_expert_and_who_does_not_is_refused(
    caller, run, nothing_changes, met, unmet, reason
):
    ids = {"principal_ids": [id_ if id_ != ME else caller.id for id_ in met.get("principal_ids", [])]}
    open_to_her = CorrectorGroupFactory(workspace=run.workspace, **met | (ids if "principal_ids" in met else {}))
    closed_to_her = CorrectorGroupFactory(workspace=run.workspace, **unmet)

    with nothing_changes(), pytest.raises(ForbiddenError) as caught:
        record_correction(caller=caller, run_id=run.run_id, draft=spoken_for(closed_to_her))
    recorded = record_correction(caller=caller, run_id=run.run_id, draft=spoken_for(open_to_her))

    assert (caught.value.code, caught.value.details) == (
        Code.CORRECTOR_GROUP_NOT_ALLOWED,
        {"action": "write", "resource": {"type": "project", "id": str(run.project_id)}, "reason": reason},
    )
    recorded.refresh_from_db()
    assert (recorded.group, recorded.expert) == (open_to_her, True)


def test_lifting_the_restriction_leaves_an_expert_an_expert(caller, run):
    group = CorrectorGroupFactory(workspace=run.workspace, principal_kinds=["user"])
    expert = record_correction(caller=caller, run_id=run.run_id, draft=spoken_for(group))

    CorrectorGroup.objects.update(principal_kinds=[])
    after = record_correction(caller=caller, run_id=run.run_id, draft=spoken_for(group))

    expert.refresh_from_db()
    assert (expert.expert, after.expert) == (True, False)


@pytest.mark.parametrize(("role", "allowed"), [(None, False), (ReviewerRole.SENIOR, True)])
def test_a_service_has_the_reviewer_role_of_its_key_and_no_other(project, run, role, allowed):
    group = CorrectorGroupFactory(workspace=run.workspace, min_reviewer_role=ReviewerRole.SENIOR)
    _key, text = store_key(workspace=run.workspace, principal=service_with(project), reviewer_role=role)

    assert may_speak_for(caller_behind(text), group) is allowed
