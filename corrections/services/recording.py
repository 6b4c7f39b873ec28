"""Correct a run: the whole of it, for pages and programs alike (contract 7.2)."""

import json
from uuid import UUID

from django.db import transaction

from corrections import permissions
from corrections.drafts import CorrectedItem, CorrectionDraft, ExpectedCall
from corrections.models import Correction, CorrectorGroup, Run, RunContent, RunCopy
from corrections.queries.corrections import as_uuid
from corrections.queries.groups import groups_covering
from corrections.queries.runs import run_not_found
from corrections.rules.calls import calls_made
from corrections.rules.copies import copied_context
from corrections.rules.drafts import check_draft, check_pointers
from corrections.rules.sorting import sort
from corrections.vocabulary import RunStatus, Status, SubjectKind, Verdict
from kindgi_site import clock, exact_json
from kindgi_site.callers import Action, Caller
from kindgi_site.errors import Code, ConflictError, GoneError, InvalidError
from kindgi_site.stored_json import JsonText
from kindgi_site.workspaces.permissions import check_project_action, project_denied

BY_RULE = "rule"
RECORDED_RIGHT = "recorded-right"


@transaction.atomic
def record_correction(*, caller: Caller, run_id: str | UUID, draft: CorrectionDraft) -> Correction:
    """Record what `caller` says was right or wrong about a finished run.

    Holds the run's row, so corrections of one run are recorded one after the other: the first
    captures a copy of the run, and a maker's later one supersedes their earlier one. Refuses in
    the order of contract 7.2; nothing is stored by a refusal.
    """
    check_draft(draft)
    run = _locked_run(caller, run_id)
    check_project_action(caller, Action.WRITE, run.project_id)
    copy = _stored_copy(run)
    _check_correctable(run, copy)
    group = _checked_group(caller, run, draft.corrector_group_id)
    content = None if copy else RunContent.objects.get(run=run)
    _check_items(draft, run, copy, content)

    if copy is None:
        assert content is not None
        copy = _captured(run, content)
    correction = _corrected(caller, copy, group, draft)
    _supersede_earlier(correction)
    correction.save(force_insert=True)
    return correction


def _locked_run(caller: Caller, run_id: str | UUID) -> Run:
    key = run_id if isinstance(run_id, UUID) else as_uuid(run_id)
    found = key and Run.objects.select_for_update().filter(workspace=caller.workspace_id, run_id=key).first()
    if not found:
        raise run_not_found(run_id)
    return found


def _stored_copy(run: Run) -> RunCopy | None:
    """Without its words: a later correction reads none of them unless it has pointers."""
    copies = RunCopy.objects.defer("input", "output", "context", "calls", "called_tools")
    return copies.filter(workspace=run.workspace_id, run_id=run.run_id).first()


def _check_correctable(run: Run, copy: RunCopy | None) -> None:
    if run.erased_at is not None:
        raise GoneError(Code.RUN_ERASED, "This run's content was erased.", runId=str(run.run_id))
    if run.status != RunStatus.COMPLETED:
        raise ConflictError(
            Code.RUN_NOT_FINISHED,
            "Only a completed run can be corrected.",
            runId=str(run.run_id),
            status=run.status,
        )
    if run.purged_at is not None and copy is None:
        raise ConflictError(
            Code.RUN_NOT_FINISHED,
            "This run's content was dropped for its age before anybody corrected it.",
            runId=str(run.run_id),
            status=run.status,
            reason="purged",
        )


def _checked_group(caller: Caller, run: Run, group_id: str | None) -> CorrectorGroup | None:
    if group_id is None:
        return None
    key = as_uuid(group_id)
    group = groups_covering(run).filter(id=key).first() if key else None
    if group is None:
        raise InvalidError(
            Code.CORRECTOR_GROUP_NOT_APPLICABLE,
            "There is no such corrector group for this run.",
            correctorGroupId=group_id,
        )
    reason = permissions.reason_against_speaking(caller, group)
    if reason is not None:
        raise project_denied(Action.WRITE, run.project_id, reason, Code.CORRECTOR_GROUP_NOT_ALLOWED)
    return group


def _check_items(draft: CorrectionDraft, run: Run, copy: RunCopy | None, content: RunContent | None) -> None:
    if not any(item.pointer is not None for item in draft.items):
        return
    output: JsonText | None = content.output if content else copy.output if copy else None
    check_pointers(draft.items, output.value if output else None)


def _captured(run: Run, content: RunContent) -> RunCopy:
    context_text = content.context.text if content.context else None
    copied = copied_context(
        subject_kind=run.subject_kind,
        run_id=str(run.run_id),
        context_text=context_text,
        replay_of=run.replay_of,
    )
    return RunCopy.objects.create(
        workspace_id=run.workspace_id,
        project_id=run.project_id,
        run_id=run.run_id,
        subject_kind=run.subject_kind,
        subject_id=run.subject_id,
        subject_version=run.subject_version,
        input=content.input,
        output=content.output,
        context=copied.wire,
        segments=run.segments,
        calls=content.calls if run.is_agent_turn else copied.flow_calls,
        called_tools=_called_tools(run, content),
        is_replay=bool(run.replay_of) or _says_it_replays(content.output),
    )


def _called_tools(run: Run, content: RunContent) -> JsonText | None:
    calls = calls_made(
        run.subject_kind,
        content.output and content.output.value,
        content.context.value if content.context and run.subject_kind == SubjectKind.FLOW else None,
        content.calls and content.calls.value,
    )
    return None if calls is None else JsonText.of([call.tool for call in calls])


def _says_it_replays(output: JsonText | None) -> bool:
    """An output object with a text at `replay.of` is a replay's (contract 14.3)."""
    value = output.value if output else None
    replay = value.get("replay") if isinstance(value, dict) else None
    return isinstance(replay, dict) and isinstance(replay.get("of"), str)


def _corrected(caller: Caller, copy: RunCopy, group: CorrectorGroup | None, draft: CorrectionDraft) -> Correction:
    at = clock.now()
    start = sort(draft)
    verdicts = draft.verdicts
    return Correction(
        workspace_id=copy.workspace_id,
        project_id=copy.project_id,
        copy=copy,
        run_id=copy.run_id,
        subject_kind=copy.subject_kind,
        subject_id=copy.subject_id,
        subject_version=copy.subject_version,
        decisions=draft.decisions or "",
        should_call=_stored([_wire_call(call) for call in draft.should_call]),
        must_not_call=_stored([json.dumps(tool) for tool in dict.fromkeys(draft.must_not_call)]),
        answer=draft.answer or "",
        should_say=draft.should_say or "",
        why=draft.why or "",
        items=_stored([_wire_item(item) for item in draft.items]),
        has_right=Verdict.RIGHT in verdicts,
        has_wrong=Verdict.WRONG in verdicts,
        group=group,
        expert=group is not None and group.is_restricted,
        made_by_kind=caller.kind,
        made_by_id=caller.id,
        participant_id=draft.participant_id or "",
        status=start.status,
        sorted_to=start.sorted_to or "",
        sorted_by_kind=BY_RULE if start.sorted_to else "",
        sorted_at=at if start.sorted_to else None,
        fixed_how=RECORDED_RIGHT if start.recorded_right else "",
        fixed_at=at if start.recorded_right else None,
        created_at=at,
        updated_at=at,
    )


def _supersede_earlier(correction: Correction) -> None:
    Correction.objects.filter(
        workspace=correction.workspace_id,
        run_id=correction.run_id,
        made_by_kind=correction.made_by_kind,
        made_by_id=correction.made_by_id,
        participant_id=correction.participant_id,
        unregistered_at__isnull=True,
    ).update(
        status=Status.REMOVED,
        unregistered_at=correction.created_at,
        superseded_by=correction.id,
        updated_at=correction.created_at,
    )


def _stored(parts: list[str]) -> JsonText | None:
    """A list ready for the wire; an empty one is as good as left out."""
    return JsonText(exact_json.joined_array(parts)) if parts else None


def _wire_call(call: ExpectedCall) -> str:
    return exact_json.joined_object({"tool": json.dumps(call.tool), "args": call.args_text})


def _wire_item(item: CorrectedItem) -> str:
    parts: dict[str, object] = {"key": item.key, "pointer": item.pointer, "rank": item.rank, "verdict": item.verdict}
    return exact_json.dumps({name: value for name, value in parts.items() if value is not None})
