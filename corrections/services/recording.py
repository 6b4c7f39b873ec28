"""Correct a run: the whole of it, for pages and programs alike (contract 7.2)."""

import json
from dataclasses import fields
from uuid import UUID

from django.db import transaction
from django.db.models import F, FilteredRelation, Q

from corrections import permissions
from corrections.drafts import CorrectedItem, CorrectionDraft, ExpectedCall
from corrections.models import Correction, CorrectionEvent, CorrectorGroup, Run, RunContent, RunCopy
from corrections.queries.corrections import as_uuid
from corrections.queries.groups import groups_covering
from corrections.queries.queue import item_state_of
from corrections.queries.runs import run_not_found
from corrections.rules.drafts import check_draft, check_pointers
from corrections.rules.sorting import sort
from corrections.services.copies import copy_of
from corrections.services.queue import settle_item
from corrections.vocabulary import RECORDED_RIGHT, ItemState, RunStatus, Status, Verdict
from kindgi_site import clock, exact_json
from kindgi_site.callers import Action, Caller
from kindgi_site.errors import Code, ConflictError, GoneError, InvalidError
from kindgi_site.stored_json import JsonText
from kindgi_site.workspaces.permissions import check_project_action, project_denied
from kindgi_site.workspaces.services.audit import record_write

BY_RULE = "rule"


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
    copy = _stored_copy(caller, run, draft)
    _check_correctable(run, copy)
    group = _checked_group(caller, run, draft.corrector_group_id)
    is_first = copy is None
    copy = copy or _fresh_copy(run)
    _check_items(draft, copy)

    if is_first:
        copy.save(force_insert=True)
    correction = _corrected(caller, copy, group, draft)
    _supersede_earlier(caller, correction, getattr(copy, "earlier_id", None), getattr(copy, "earlier_status", ""))
    correction.save(force_insert=True)
    if _may_move_item(copy):
        settle_item(run.workspace_id, run.run_id)
    record_write(caller, "corrections.create", "correction", correction.id, _fields_said(draft))
    return correction


def _locked_run(caller: Caller, run_id: str | UUID) -> Run:
    key = run_id if isinstance(run_id, UUID) else as_uuid(run_id)
    found = key and Run.objects.select_for_update().filter(workspace=caller.workspace_id, run_id=key).first()
    if not found:
        raise run_not_found(run_id)
    return found


def _stored_copy(caller: Caller, run: Run, draft: CorrectionDraft) -> RunCopy | None:
    """The run's copy, without the words nobody here looks at, and with the maker's earlier correction beside it."""
    live = Q(
        corrections__made_by_kind=caller.kind,
        corrections__made_by_id=caller.id,
        corrections__participant_id=draft.participant_id or "",
        corrections__participant_slot="",
        corrections__unregistered_at__isnull=True,
    )
    copies = RunCopy.objects.filter(workspace=run.workspace_id, run_id=run.run_id).annotate(
        # Joined, since two subqueries take the ORM longer to put together; a maker has one live correction at most.
        earlier=FilteredRelation("corrections", condition=live),
        earlier_id=F("earlier__id"),
        earlier_status=F("earlier__status"),
        item_state=item_state_of(run),
    )
    unread = ["input", "context", "calls", "called_tools"] + ([] if _has_pointers(draft) else ["output"])
    return copies.defer(*unread).first()


def _fresh_copy(run: Run) -> RunCopy:
    content = RunContent.objects.annotate(item_state=item_state_of(run)).get(run=run)
    copy = copy_of(run, content)
    copy.item_state = content.item_state  # type: ignore[attr-defined]
    return copy


def _may_move_item(copy: RunCopy) -> bool:
    """Whether the run stands in the correcting queue in a state that the new correction may change.

    The state was read beside something else once the run's row was held: most runs are in no queue.
    """
    state, earlier_id = copy.item_state, getattr(copy, "earlier_id", None)  # type: ignore[attr-defined]
    # Only a maker who spoke for another group before can leave a rule without what it wanted.
    return state == ItemState.OPEN or (state == ItemState.CORRECTED and earlier_id is not None)


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


def _check_items(draft: CorrectionDraft, copy: RunCopy) -> None:
    if _has_pointers(draft):
        output: JsonText | None = copy.output
        check_pointers(draft.items, output.value if output else None)


def _has_pointers(draft: CorrectionDraft) -> bool:
    return any(item.pointer is not None for item in draft.items)


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


def _supersede_earlier(caller: Caller, correction: Correction, earlier_id: UUID | None, earlier_status: str) -> None:
    """Before the new one is saved: the unique index on live rows allows no other order."""
    if earlier_id is None:
        return
    at = correction.created_at
    still_live = Correction.objects.filter(id=earlier_id, unregistered_at__isnull=True)
    if not still_live.update(status=Status.REMOVED, unregistered_at=at, superseded_by=correction.id, updated_at=at):
        return  # taken back at this very moment
    CorrectionEvent.objects.create(
        correction_id=earlier_id,
        at=at,
        by_kind=caller.kind,
        by_id=caller.id,
        action="superseded",
        from_status=earlier_status,
        to_status=Status.REMOVED,
        cause=f"correction:{correction.id}",
    )


def _fields_said(draft: CorrectionDraft) -> list[str]:
    return [field.name for field in fields(draft) if getattr(draft, field.name)]


def _stored(parts: list[str]) -> JsonText | None:
    """A list ready for the wire; an empty one is as good as left out."""
    return JsonText(exact_json.joined_array(parts)) if parts else None


def _wire_call(call: ExpectedCall) -> str:
    return exact_json.joined_object({"tool": json.dumps(call.tool), "args": call.args_text})


def _wire_item(item: CorrectedItem) -> str:
    parts: dict[str, object] = {"key": item.key, "pointer": item.pointer, "rank": item.rank, "verdict": item.verdict}
    return exact_json.dumps({name: value for name, value in parts.items() if value is not None})
