"""Forget what a run, a participant or a conversation said (contract, section 12).

Everything that is cleared is cleared in one transaction. Apps above this one add what they hold
to `EFFECTS` when they start: each gets the erased runs' ids, of those erased before too, and
returns its counts. To `TEXT_EFFECTS` they add what keeps copies of what corrections say: each gets corrections, with
their texts still in them, that are about to lose them while their runs stay.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import CharField, Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Cast

from corrections.models import Correction, CorrectionEvent, Erasure, Run, RunContent, RunCopy, RunTool
from corrections.queries.corrections import as_uuid
from corrections.queries.runs import run_not_found
from corrections.services.queue import erase_items
from kindgi_site import clock
from kindgi_site.callers import Caller
from kindgi_site.stored_json import JsonText
from kindgi_site.workspaces.models import Workspace
from kindgi_site.workspaces.permissions import check_workspace_admin
from kindgi_site.workspaces.services.audit import record_write
from kindgi_site.workspaces.services.idempotency import withhold_answers

Counts = dict[str, int]
Effect = Callable[[UUID, Sequence[UUID]], Counts]

EFFECTS: list[Effect] = []
TEXT_EFFECTS: list[Callable[[UUID, Sequence[Correction]], Counts]] = []

RUN, PARTICIPANT, CONVERSATION = "run", "participant", "conversation"
_AT_ONCE = 500
COMPLETED = "completed"


@transaction.atomic
def erase_run(*, caller: Caller, run_id: UUID) -> tuple[Erasure | None, Any]:
    """Clear a run's content wherever it is kept, and its replays'.

    Returns (receipt, when the run's content was erased). A second time clears what came in since, a
    replay or a note; when there is no such thing the receipt is None and nothing is stored. Holds the
    runs' rows. NotFoundError when there is neither a run nor a copy of it.
    """
    check_workspace_admin(caller)
    hold_erasures(caller.workspace_id)
    run = Run.objects.select_for_update().filter(workspace=caller.workspace_id, run_id=run_id).first()
    copy = RunCopy.objects.filter(workspace=caller.workspace_id, run_id=run_id).only("erased_at").first()
    if run is None and copy is None:
        raise run_not_found(run_id)
    erased_at = run.erased_at if run else copy.erased_at if copy else None
    erasure = _cleared_for(caller, RUN, {run_id})
    if erased_at is not None and not any(erasure.counts.values()):
        return None, erased_at
    return _kept(caller, erasure), erased_at or erasure.created_at


@transaction.atomic
def erase_participant(*, caller: Caller, participant_id: str) -> Erasure:
    """Clear every run that served an end user, and what was recorded on their behalf.

    And the replays that came in since of runs that went with a participant before, whoever that was:
    the first time took the id off them, so that a second one could not find its own.
    """
    check_workspace_admin(caller)
    runs = Run.objects.filter(workspace=caller.workspace_id, participant_id=participant_id)
    theirs = Correction.objects.filter(workspace=caller.workspace_id, participant_id=participant_id)
    hold_erasures(caller.workspace_id)  # before anything is looked for: it may wait, and more come in meanwhile
    run_ids = {*runs.values_list("run_id", flat=True), *_replayed_since(caller.workspace_id)}
    counts = Counter(_clear_copied_texts(caller.workspace_id, theirs.exclude(run_id__in=run_ids)))
    erasure = _cleared_for(caller, PARTICIPANT, run_ids)
    counts.update(erasure.counts)
    counts.update(_clear_participant(caller.workspace_id, participant_id, theirs, erasure.created_at))
    erasure.counts = dict(counts)
    return _kept(caller, erasure)


@transaction.atomic
def erase_conversation(*, caller: Caller, conversation_id: UUID) -> Erasure:
    """Clear every run of a conversation."""
    check_workspace_admin(caller)
    of_it = Q(conversation_id=conversation_id) | Q(conversation_id__isnull=True, run_id=conversation_id)
    runs = Run.objects.filter(of_it, workspace=caller.workspace_id)
    hold_erasures(caller.workspace_id)
    return _kept(caller, _cleared_for(caller, CONVERSATION, set(runs.values_list("run_id", flat=True))))


def hold_erasures(workspace_id: UUID) -> None:
    """Until the transaction ends nothing is erased in a workspace: for who copies what several runs said."""
    Workspace.objects.select_for_update(no_key=True).only("id").get(id=workspace_id)


def _cleared_for(caller: Caller, kind: str, run_ids: set[UUID]) -> Erasure:
    """Clear the runs and their replays; the receipt, not stored yet."""
    hold_erasures(caller.workspace_id)
    at = clock.now()
    everything = sorted(_with_replays(caller.workspace_id, run_ids))
    # The selector is not stored at all: the work is done by the time anybody could read it.
    return Erasure(
        workspace_id=caller.workspace_id,
        selector_kind=kind,
        requested_by_kind=caller.kind,
        requested_by_id=caller.id,
        status=COMPLETED,
        created_at=at,
        completed_at=at,
        counts=_cleared(caller.workspace_id, everything, at),
    )


def _kept(caller: Caller, erasure: Erasure) -> Erasure:
    erasure.save(force_insert=True)
    record_write(caller, f"erasures.{erasure.selector_kind}", "erasure", erasure.id, sorted(erasure.counts))
    transaction.on_commit(_forget_in_log)
    return erasure


def _replayed_since(workspace_id: UUID) -> set[UUID]:
    """The runs that earlier erasures of participants took and that a replay still speaks of."""
    replays = Run.objects.filter(workspace=workspace_id, erased_at__isnull=True).exclude(replay_of="")
    named = replays.order_by().values_list("replay_of", flat=True).distinct()
    keys = [key for name in named.iterator() if (key := as_uuid(name)) is not None]
    taken = Erasure.objects.filter(workspace=workspace_id, selector_kind=PARTICIPANT, created_at=OuterRef("erased_at"))
    gone = Run.objects.filter(Exists(taken), workspace=workspace_id)
    starts = range(0, len(keys), _AT_ONCE)
    slices = (gone.filter(run_id__in=keys[start : start + _AT_ONCE]) for start in starts)
    return {run_id for some in slices for run_id in some.values_list("run_id", flat=True)}


def _with_replays(workspace_id: UUID, run_ids: set[UUID]) -> set[UUID]:
    """The runs, their replays, the replays of those, and so on; every row held."""
    found: set[UUID] = set()
    fresh = set(run_ids)
    while fresh:
        found |= fresh
        replays = Run.objects.filter(workspace=workspace_id, replay_of__in=[str(run_id) for run_id in fresh])
        fresh = set(replays.values_list("run_id", flat=True)) - found
    locked = Run.objects.select_for_update().filter(workspace=workspace_id, run_id__in=found).order_by("id")
    list(locked.values_list("id", flat=True))
    return found


def _cleared(workspace_id: UUID, run_ids: Sequence[UUID], at: Any) -> Counts:
    """What of the runs was not cleared before, and how much of what that was."""
    runs = Run.objects.filter(workspace=workspace_id, run_id__in=run_ids, erased_at__isnull=True)
    copies = RunCopy.objects.filter(workspace=workspace_id, run_id__in=run_ids, erased_at__isnull=True)
    # Before the corrections: a test run that finishes meanwhile holds its own row, then theirs.
    counts: Counter[str] = Counter()
    for effect in EFFECTS:
        counts.update(effect(workspace_id, run_ids))
    corrections, names = _held_corrections(workspace_id, run_ids)
    names += [str(key) for key in {*runs.values_list("run_id", flat=True), *copies.values_list("run_id", flat=True)}]
    nothing = {"input": None, "output": None, "context": None, "calls": None}
    RunContent.objects.filter(run__in=runs).update(**nothing, failure_message="")
    RunTool.objects.filter(run__in=runs).delete()
    counts.update(
        {
            "runs": runs.update(segments=None, erased_at=at),
            "copies": copies.update(**nothing, segments=None, called_tools=None, erased_at=at),
            "corrections": _clear_corrections(corrections, at),
            "queue": erase_items(workspace_id, run_ids),
            "answers": withhold_answers(workspace_id, names),
        }
    )
    return dict(counts)


def _held_corrections(workspace_id: UUID, run_ids: Sequence[UUID]) -> tuple[QuerySet[Correction], list[str]]:
    """The runs' corrections that are to be cleared, their rows held; and the ids of those of runs erased before.

    Those are cleared again only if somebody wrote a word since.
    """
    noted = CorrectionEvent.objects.filter(correction=OuterRef("pk")).exclude(note="")
    worded = ~Q(why="", should_say="", sorted_reason="", note_text="") | Exists(noted)
    of_runs = Correction.objects.filter(workspace=workspace_id, run_id__in=run_ids)
    found = of_runs.filter(Q(copy__erased_at__isnull=True) | worded).order_by("id")
    rows = list(found.select_for_update(of=("self",)).values_list("id", "copy__erased_at"))
    names = [str(key) for key, erased_at in rows if erased_at is not None]
    return Correction.objects.filter(id__in=[key for key, _erased_at in rows]), names


def _clear_corrections(corrections: Any, at: Any) -> int:
    """Their texts go; verdicts, keys, ranks, ids and status stay."""
    for correction in corrections.filter(should_call__isnull=False).only("should_call"):
        names = [{"tool": call["tool"], "args": {}} for call in correction.should_call.value]
        Correction.objects.filter(id=correction.id).update(should_call=JsonText.of(names))
    CorrectionEvent.objects.filter(correction__in=corrections).exclude(note="").update(note="")
    cleared: int = corrections.update(
        why="",
        should_say="",
        sorted_reason="",
        note_text="",
        note_by_kind="",
        note_by_id="",
        note_at=None,
        updated_at=at,
    )
    return cleared


def _clear_copied_texts(workspace_id: UUID, theirs: Any) -> Counts:
    """What an end user said of runs that stay, where it was copied to.

    Before any correction is held: a test run that finishes meanwhile holds its own row, then theirs.
    """
    staying = list(theirs.filter(copy__erased_at__isnull=True).order_by("id"))
    counts: Counter[str] = Counter()
    for effect in TEXT_EFFECTS:
        counts.update(effect(workspace_id, staying))
    return dict(counts)


def _clear_participant(workspace_id: UUID, participant_id: str, theirs: Any, at: Any) -> Counts:
    """An end user's own words, on runs that stay too, and their id everywhere."""
    ids = list(theirs.values_list("id", flat=True))
    more = _clear_corrections(Correction.objects.filter(id__in=ids).exclude(copy__erased_at=at), at)
    # The slot keeps each of them a live correction of its own where the maker has another one of the run.
    Correction.objects.filter(id__in=ids).update(participant_id="", participant_slot=Cast("id", CharField()))
    # One that came in only now keeps the id, so that the next erasure finds it.
    gone = Run.objects.filter(workspace=workspace_id, participant_id=participant_id, erased_at__isnull=False)
    gone.update(participant_id="")
    answers = withhold_answers(workspace_id, [str(correction_id) for correction_id in ids])
    return {"corrections": more, "answers": answers}


def _forget_in_log() -> None:
    """SQLite's write-ahead log still holds the pages as they were; fold it into the file and empty it."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
