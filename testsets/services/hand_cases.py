"""Hand cases of an agent's test set: add, promote from a run, change, remove (contract 15, decision 6)."""

from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from corrections.models import Correction, Run, RunContent, RunCopy
from corrections.queries.corrections import as_uuid
from corrections.queries.runs import run_not_found
from corrections.queries.said import said_of
from corrections.rules.calls import calls_made
from corrections.rules.copies import copied_context
from corrections.rules.drafts import check_draft, check_pointers, refusal
from corrections.rules.expectations import AnswerExpected, DecisionsExpected, Expectation, expectation_of
from corrections.services.copies import copy_of
from corrections.vocabulary import RunStatus, SubjectKind, Verdict
from kindgi_site import clock
from kindgi_site.callers import Action, Caller, ReviewerRole
from kindgi_site.errors import Code, ConflictError, GoneError, NotFoundError
from kindgi_site.keys import as_kept
from kindgi_site.stored_json import JsonText
from kindgi_site.workspaces.permissions import project_denied
from kindgi_site.workspaces.services.audit import record_write
from testsets.drafts import HandCaseChange, HandCaseDraft
from testsets.models import HandCase
from testsets.queries.agent_sets import AgentSet, agent_set_for
from testsets.queries.live import live_version_of

FAILED_RUN, NEGATIVE_SCORE, REFERENCE_RUN = "FailedRun", "NegativeScore", "ReferenceRun"
SOURCE_KINDS = (FAILED_RUN, NEGATIVE_SCORE, REFERENCE_RUN)
CASE_PREFIX = "case-"
# What a run still says may change before it has ended.
_PROMOTED = frozenset({RunStatus.COMPLETED, RunStatus.FAILED})
Parts = dict[str, Any]


@transaction.atomic
def add_hand_case(*, caller: Caller, project_id: UUID, agent_id: str, draft: HandCaseDraft) -> HandCase:
    """Add a case: copied from a finished run of the agent, or with content of its own."""
    agent_set = agent_set_for(caller, Action.WRITE, project_id, agent_id)
    _check_expert(caller, agent_set, expert=draft.expert)
    parts = _copied(caller, agent_set, draft.run_id) if draft.run_id else _own_content(agent_set, draft)
    _check_expect(draft.expect, parts)
    case = _new(caller, agent_set, draft, parts)
    case.save(force_insert=True)
    record_write(caller, "test-cases.add", "test-case", case.case_id, ["expect"])
    return case


@transaction.atomic
def promote_run(
    *, caller: Caller, project_id: UUID, agent_id: str, run_id: UUID | str, source_kind: str | None = None
) -> tuple[HandCase, bool]:
    """Make a run a case; returns (the case, whether it is new). Once more is the first case again.

    Holds the run's row, so that two who promote it at one moment get one case.
    """
    agent_set = agent_set_for(caller, Action.WRITE, project_id, agent_id)
    run = _locked_run(caller, agent_set, run_id)
    first = agent_set.hand_cases().filter(promoted_run_id=run.run_id).first()
    if first is not None:
        return first, False
    if run.status not in _PROMOTED:
        raise _not_finished(run)
    newest = _newest_correction(run)
    kind = source_kind or _kind_of(run)
    is_reference = kind == REFERENCE_RUN
    if is_reference and run.status != RunStatus.COMPLETED:
        raise _not_finished(run)
    copy = _copy_for(run)
    expect = _reference(copy) if is_reference else _of_correction(newest)
    draft = HandCaseDraft(expect=expect, run_id=run.run_id, source_kind=kind, source_run_id=str(run.run_id))
    parts = _parts_of(copy) | ({} if is_reference else {"output": None, "calls": None})
    case = _new(caller, agent_set, draft, parts)
    case.promoted_run_id = run.run_id
    case.save(force_insert=True)
    record_write(caller, "test-cases.promote", "test-case", case.case_id, ["expect"])
    return case, True


@transaction.atomic
def change_hand_case(
    *, caller: Caller, project_id: UUID, agent_id: str, case_id: str, change: HandCaseChange
) -> HandCase:
    agent_set = agent_set_for(caller, Action.WRITE, project_id, agent_id)
    case = _locked_case(agent_set, case_id)
    if change.expert is not None:
        _check_expert(caller, agent_set, expert=change.expert and not case.expert)
        case.expert = change.expert
    if change.expect is not None:
        _check_expect(change.expect, {"output": case.output, "called_tools": case.called_tools})
        case.expect, case.is_incomplete = JsonText.of(change.expect.wire()), False
    if change.note is not None:
        case.note = change.note
    case.updated_at = clock.now()
    case.save()
    said = [name for name in ("expect", "expert", "note") if getattr(change, name) is not None]
    record_write(caller, "test-cases.change", "test-case", case.case_id, said)
    return case


@transaction.atomic
def remove_hand_case(*, caller: Caller, project_id: UUID, agent_id: str, case_id: str) -> HandCase:
    """Versions frozen before keep it."""
    case = _locked_case(agent_set_for(caller, Action.WRITE, project_id, agent_id), case_id)
    case.unregistered_at = case.updated_at = clock.now()
    case.save(update_fields=["unregistered_at", "updated_at"])
    record_write(caller, "test-cases.unregister", "test-case", case.case_id, ["unregisteredAt"])
    return case


def hand_case_in(agent_set: AgentSet, case_id: str, *, lock: bool = False) -> HandCase:
    """NotFoundError `test-case-not-found`; ConflictError when the id is a correction's."""
    key = as_uuid(case_id.removeprefix(CASE_PREFIX))
    if key is not None and not case_id.startswith(CASE_PREFIX):
        if agent_set.every_correction().filter(id=key).exists():
            raise ConflictError(
                Code.TEST_CASE_CORRECTION_OWNED,
                "This case comes from a correction: correct the run again to change it.",
                caseId=case_id,
            )
        key = None
    cases = agent_set.hand_cases()
    found = (cases.select_for_update() if lock else cases).filter(id=key).first() if key else None
    if found is None:
        raise NotFoundError(Code.TEST_CASE_NOT_FOUND, "There is no such case in this test set.", caseId=case_id)
    return found


def _locked_case(agent_set: AgentSet, case_id: str) -> HandCase:
    return hand_case_in(agent_set, case_id, lock=True)


def _check_expert(caller: Caller, agent_set: AgentSet, *, expert: bool) -> None:
    if not expert or caller.may(Action.ADMIN, agent_set.project.id):
        return
    if caller.reviewer_role is None or caller.reviewer_role.rank < ReviewerRole.SENIOR.rank:
        reason = "An expert's case takes an administrator of the project or a senior reviewer."
        raise project_denied(Action.ADMIN, agent_set.project.id, reason)


def _check_expect(expect: Expectation, parts: Parts) -> None:
    """The rules of a correction hold for what a case expects, and it must be possible to grade it."""
    check_draft(expect.draft())
    decisions, answer, output = expect.decisions, expect.answer, parts["output"]
    if decisions and decisions.verdict == Verdict.RIGHT and parts["called_tools"] is None:
        raise refusal("decisions: right needs the calls that were made.", "expect")
    if output is None and (expect.items or (answer and answer.verdict == Verdict.RIGHT)):
        raise refusal("A right answer, and items, need an output.", "expect")
    check_pointers(expect.items, output.value if output else None)


def _new(caller: Caller, agent_set: AgentSet, draft: HandCaseDraft, parts: Parts) -> HandCase:
    at = clock.now()
    return HandCase(
        workspace_id=caller.workspace_id,
        project=agent_set.project,
        agent_id=agent_set.agent_id,
        run_id=as_uuid(str(draft.run_id)),
        expect=JsonText.of(draft.expect.wire()),
        is_incomplete=draft.expect.is_empty,
        expert=draft.expert,
        note=draft.note,
        source_kind=draft.source_kind,
        source_run_id=as_kept(draft.source_run_id),
        created_by_kind=caller.kind,
        created_by_id=caller.id,
        created_at=at,
        updated_at=at,
        **parts,
    )


def _own_content(agent_set: AgentSet, draft: HandCaseDraft) -> Parts:
    calls = calls_made(
        SubjectKind.AGENT,
        draft.output.value if draft.output else None,
        None,
        draft.calls.value if draft.calls else None,
    )
    return {
        "agent_version": draft.agent_version or _version_for(agent_set),
        "input": draft.input,
        "output": draft.output,
        "context": _own_context(draft),
        "segments": draft.segments,
        "calls": draft.calls,
        "called_tools": None if calls is None else JsonText.of([call.tool for call in calls]),
    }


def _own_context(draft: HandCaseDraft) -> JsonText | None:
    """As much of it as a copied run's would be (contract 7.5)."""
    text = draft.context.text if draft.context else None
    return copied_context(subject_kind=SubjectKind.AGENT, run_id="", context_text=text, replay_of="").wire


def _version_for(agent_set: AgentSet) -> str:
    """The live version, else that of the agent's newest run (decision 17)."""
    live = live_version_of(agent_set.project.id, agent_set.agent_id)
    if live:
        return live
    runs = Run.objects.filter(project=agent_set.project, subject_kind=SubjectKind.AGENT, subject_id=agent_set.agent_id)
    newest = runs.order_by("-created_at", "-id").values_list("subject_version", flat=True).first()
    if newest is None:
        raise refusal("agentVersion is needed: nothing of this agent is live and it has no runs.", "agentVersion")
    return newest


def _copied(caller: Caller, agent_set: AgentSet, run_id: UUID | str) -> Parts:
    run = _locked_run(caller, agent_set, run_id)
    if run.status != RunStatus.COMPLETED:
        raise _not_finished(run)
    return _parts_of(_copy_for(run))


def _parts_of(copy: RunCopy) -> Parts:
    return {
        "agent_version": copy.subject_version,
        "input": copy.input,
        "output": copy.output,
        "context": copy.context,
        "segments": copy.segments,
        "calls": copy.calls,
        "called_tools": copy.called_tools,
    }


def _locked_run(caller: Caller, agent_set: AgentSet, run_id: UUID | str) -> Run:
    """A run of this agent in this project that was not erased; what is no UUID is just not found."""
    key = as_uuid(str(run_id))
    if key is None:
        raise run_not_found(run_id)
    runs = Run.objects.select_for_update().filter(
        workspace=caller.workspace_id,
        project=agent_set.project,
        run_id=key,
        subject_kind=SubjectKind.AGENT,
        subject_id=agent_set.agent_id,
    )
    run = runs.first()
    if run is None:
        raise run_not_found(run_id)
    if run.erased_at is not None:
        raise GoneError(Code.RUN_ERASED, "This run's content was erased.", runId=str(run_id))
    return run


def _copy_for(run: Run) -> RunCopy:
    """The run's stored copy, else an unsaved one of it as it stands."""
    stored = RunCopy.objects.filter(workspace=run.workspace_id, run_id=run.run_id).first()
    if stored is not None:
        return stored
    if run.purged_at is not None:
        raise _not_finished(run, reason="purged")
    return copy_of(run, RunContent.objects.get(run=run))


def _newest_correction(run: Run) -> Correction | None:
    return _live_corrections(run).order_by("-created_at", "-id").first()


def _live_corrections(run: Run) -> QuerySet[Correction]:
    return Correction.objects.filter(workspace=run.workspace_id, run_id=run.run_id, unregistered_at__isnull=True)


def _kind_of(run: Run) -> str:
    if run.status == RunStatus.FAILED:
        return FAILED_RUN
    if _live_corrections(run).filter(has_wrong=True).exists():
        return NEGATIVE_SCORE
    return REFERENCE_RUN


def _reference(copy: RunCopy) -> Expectation:
    """As good as it was: both parts right, as far as the calls are known."""
    decisions = None if copy.called_tools is None else DecisionsExpected(Verdict.RIGHT)
    return Expectation(decisions=decisions, answer=AnswerExpected(Verdict.RIGHT))


def _of_correction(correction: Correction | None) -> Expectation:
    return Expectation() if correction is None else expectation_of(said_of(correction))


def _not_finished(run: Run, reason: str | None = None) -> ConflictError:
    return ConflictError(
        Code.RUN_NOT_FINISHED,
        "This run has no content that could become a case.",
        runId=str(run.run_id),
        status=run.status,
        reason=reason,
    )
