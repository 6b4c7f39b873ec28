"""Move a correction through its life, as the one table in rules/transitions.py says (contract 7.8 to 7.11, 8.2)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.db import transaction

from corrections.marks import VersionMark
from corrections.models import Correction, CorrectionEvent, Run
from corrections.permissions import may_decide_as_owner
from corrections.queries.corrections import as_uuid, correction_not_found, corrections_readable_by
from corrections.rules.drafts import refusal
from corrections.rules.transitions import (
    SORT_EVENTS,
    STATUS_EVENTS,
    Event,
    Marks,
    Transition,
    state_after,
    transition,
    wished_state,
)
from corrections.services.history import step
from corrections.services.queue import reopen_unmet_item
from corrections.vocabulary import LinkKind, SortedTo, Status
from kindgi_site import clock
from kindgi_site.callers import Action, Caller
from kindgi_site.errors import Code, ConflictError, ForbiddenError
from kindgi_site.workspaces.permissions import check_project_action, project_denied
from kindgi_site.workspaces.services.audit import record_write

MAX_NOTE = 2000
MAX_LINK_ID = 200
MAX_LINK_URL = 2000
FIXED, REOPENED = "fixed", "reopened"
_BATCH = 100
_SETTLED_FIELDS = (
    "status",
    "updated_at",
    *(f"{mark}_{part}" for mark in ("fixed", "reopened") for part in ("how", "version", "by_kind", "by_id", "at")),
    *(f"note_{part}" for part in ("text", "by_kind", "by_id", "at")),
)
FIX_JOB = "fix-job"
FIX_JOB_CAPABILITY = "corrections:fix-job"


@transaction.atomic
def set_status(*, caller: Caller, correction_id: str, status: Status, note: str | None = None) -> Correction:
    """Set a status by hand. `fixed` and `removed` are never set by hand: InvalidError."""
    event = STATUS_EVENTS.get(status)
    if event is None:
        raise refusal(f"{status} cannot be set by hand.", "status")
    _check_text(note, "note")
    correction = _locked(caller, correction_id)
    is_news_to_owner = status == Status.WITH_OWNER and correction.status != Status.WITH_OWNER

    def note_it(at: datetime) -> None:
        _set_note(correction, caller, note, at)
        if is_news_to_owner:
            _sort(correction, SortedTo.OWNER, caller.kind, caller.id, at)

    return _moved(caller, correction, event, "status", note=note or "", also=note_it)


@transaction.atomic
def sort_correction(
    *, caller: Caller, correction_id: str, to: SortedTo, reason: str | None = None, as_fix_job: bool = False
) -> Correction:
    """Say who should deal with it. `as_fix_job` needs the capability `corrections:fix-job` on a service's key."""
    _check_text(reason, "reason")
    correction = _locked(caller, correction_id)
    if as_fix_job:
        _check_fix_job(caller)
    status_before = correction.status

    def sort_it(at: datetime) -> None:
        _sort(correction, to, FIX_JOB if as_fix_job else caller.kind, "" if as_fix_job else caller.id, at)
        correction.sorted_reason = reason or ""
        if correction.status != status_before:
            _drop_note(correction)

    return _moved(caller, correction, SORT_EVENTS[to], "sort", note=reason or "", also=sort_it, sorted_to=to)


@transaction.atomic
def link_correction(
    *, caller: Caller, correction_id: str, kind: LinkKind, target: str, note: str | None = None
) -> Correction:
    """Name the work that is meant to fix it, in place of an earlier link. `target` is an id, or an address.

    `note` is for the history alone, as the reason of a sorting is.
    """
    _check_link(kind, target)
    _check_text(note, "note")
    correction = _locked(caller, correction_id)
    status_before = correction.status

    def link_it(at: datetime) -> None:
        correction.link_kind, correction.link_target = kind, target
        if not correction.sorted_to:
            to = SortedTo.DEVELOPER if kind == LinkKind.PULL_REQUEST else SortedTo.IMPROVE
            _sort(correction, to, caller.kind, caller.id, at)
        if correction.status != status_before:
            _drop_note(correction)

    return _moved(caller, correction, Event.LINK, "link", note=note or "", also=link_it)


@transaction.atomic
def unlink_correction(*, caller: Caller, correction_id: str, note: str | None = None) -> Correction:
    """Take the link away; without one nothing changes. `note` is for the history alone."""
    _check_text(note, "note")
    correction = _locked(caller, correction_id)
    if not correction.link_kind and correction.is_live:
        return correction
    status_before = correction.status

    def unlink_it(_at: datetime) -> None:
        correction.link_kind = correction.link_target = ""
        if correction.status != status_before:
            _drop_note(correction)

    return _moved(caller, correction, Event.UNLINK, "unlink", note=note or "", also=unlink_it)


@transaction.atomic
def remove_correction(*, caller: Caller, correction_id: str) -> Correction:
    """Take a correction back for good; a removed one is not there to be removed: NotFoundError.

    Holds the run's row, as recording does, so that what the run's item of the queue then wants is counted right.
    """
    _hold_run(caller, correction_id)
    correction = _locked(caller, correction_id, live_only=True)

    def remove_it(at: datetime) -> None:
        correction.unregistered_at = at

    removed = _moved(caller, correction, Event.UNREGISTER, "unregister", also=remove_it)
    reopen_unmet_item(removed.workspace_id, removed.run_id)
    return removed


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the server learned of a correction's case at the live version, and what made it look."""

    event: Event
    mark: VersionMark
    cause: str


def apply_verdicts(verdicts: Iterable[tuple[Correction, Verdict]]) -> int:
    """E1 to E6 and shipping, on rows the caller has locked; returns how many changed.

    Where the table has no row, nothing happens. The caller has checked who may, and that it is live.
    A fixed number of statements for each hundred corrections, however many change.
    """
    at = clock.now()
    made = (_settled(correction, verdict, at) for correction, verdict in verdicts)
    steps = [each for each in made if each is not None]
    alike: dict[tuple[tuple[str, Any], ...], list[UUID]] = {}
    for each in steps:
        # A mark that stays is not written: it is what the corrections differ in.
        kept = "fixed_" if each.action == REOPENED else " "
        names = [name for name in _SETTLED_FIELDS if not name.startswith(kept)]
        said = tuple((name, getattr(each.correction, name)) for name in names)
        alike.setdefault(said, []).append(each.correction_id)
    for said, ids in alike.items():
        for start in range(0, len(ids), _BATCH):
            Correction.objects.filter(id__in=ids[start : start + _BATCH]).update(**dict(said))
    CorrectionEvent.objects.bulk_create(steps, batch_size=_BATCH)
    return len(steps)


def _settled(correction: Correction, verdict: Verdict, at: datetime) -> CorrectionEvent | None:
    """The unsaved step to where a verdict leads the correction, which is changed but not saved; None if nowhere."""
    row = transition(Status(correction.status), verdict.event)
    if row is None or (row.only_reopened and correction.reopened_at is None):
        return None
    came_from = correction.status
    correction.status = state_after(row, Status(came_from), _sorted_to(correction))
    correction.updated_at = at
    _mark(correction, row.marks, verdict.mark)
    _drop_note(correction)
    return step(correction, REOPENED if row.marks == Marks.REOPEN else FIXED, came_from=came_from, cause=verdict.cause)


def _hold_run(caller: Caller, correction_id: str) -> None:
    """Before the correction's own row, as recording holds them in this order."""
    key = as_uuid(correction_id)
    if key is not None:
        theirs = corrections_readable_by(caller).filter(id=key).order_by().values("run_id")
        runs = Run.objects.select_for_update(no_key=True).filter(workspace=caller.workspace_id, run_id__in=theirs)
        list(runs.values_list("id", flat=True))


def _locked(caller: Caller, correction_id: str, *, live_only: bool = False) -> Correction:
    """The correction, its row held; NotFoundError unless readable, ForbiddenError unless writable."""
    key = as_uuid(correction_id)
    found = corrections_readable_by(caller).select_for_update(of=("self",)).filter(id=key) if key else None
    correction = found.first() if found is not None else None
    if correction is None or (live_only and not correction.is_live):
        raise correction_not_found(correction_id)
    check_project_action(caller, Action.WRITE, correction.project_id)
    return correction


def _moved(  # noqa: PLR0913 - all the ways by hand differ only in these
    caller: Caller,
    correction: Correction,
    event: Event,
    action: str,
    *,
    note: str = "",
    also: Callable[[datetime], None] = lambda _at: None,
    sorted_to: SortedTo | None = None,
) -> Correction:
    """Apply the table's row for `event`, then `also`; what changed is stored with its step and its audit entry."""
    before = _values(correction)
    came_from = Status(correction.status)
    row = transition(came_from, event)
    _check_allowed(caller, correction, event, row)
    assert row is not None
    at = clock.now()
    correction.status = state_after(row, came_from, sorted_to or _sorted_to(correction))
    _mark(correction, row.marks, None)
    also(at)
    changed = [name for name, value in _values(correction).items() if value != before[name]]
    if changed:
        correction.updated_at = at
        correction.save(update_fields=[*changed, "updated_at"])
        step(correction, action, came_from=came_from, by=caller, note=note).save(force_insert=True)
        record_write(caller, f"corrections.{action}", "correction", correction.id, changed)
    return correction


def _check_allowed(caller: Caller, correction: Correction, event: Event, row: Transition | None) -> None:
    came_from = correction.status
    # Leaving the owner's desk takes the owner, whatever the event; that refusal comes first (decision 14).
    leaves_owner = row.owner_guard if row else came_from == Status.WITH_OWNER
    if leaves_owner and not may_decide_as_owner(caller, correction):
        reason = "Only the agent's owner or an administrator of the project decides on this."
        raise project_denied(Action.ADMIN, correction.project_id, reason)
    if row is None or (row.needs_sorting and not correction.sorted_to):
        goes_back = event in (Event.SET_OPEN, Event.UNLINK) and came_from != Status.WITH_OWNER
        to = _sorted_open(correction) if goes_back else wished_state(event)
        raise ConflictError(
            Code.INVALID_TRANSITION,
            f"A correction that is {came_from} cannot become {to} this way.",
            **{"from": came_from, "to": to, "reason": "unsorted" if row else None},
        )


def _sorted_open(correction: Correction) -> Status:
    return Status.WITH_OWNER if correction.sorted_to == SortedTo.OWNER else Status.OPEN


def _sorted_to(correction: Correction) -> SortedTo | None:
    return SortedTo(correction.sorted_to) if correction.sorted_to else None


def _values(correction: Correction) -> dict[str, object]:
    return {
        field.attname: getattr(correction, field.attname)
        for field in Correction._meta.concrete_fields  # noqa: SLF001 - Django documents _meta
        if field.attname != "updated_at"
    }


def _sort(correction: Correction, to: SortedTo, by_kind: str, by_id: str, at: datetime) -> None:
    correction.sorted_to, correction.sorted_reason = to, ""
    correction.sorted_by_kind, correction.sorted_by_id, correction.sorted_at = by_kind, by_id, at


def _set_note(correction: Correction, caller: Caller, note: str | None, at: datetime) -> None:
    if note is None:
        _drop_note(correction)
        return
    correction.note_text, correction.note_at = note, at
    correction.note_by_kind, correction.note_by_id = caller.kind, caller.id


def _drop_note(correction: Correction) -> None:
    correction.note_text = correction.note_by_kind = correction.note_by_id = ""
    correction.note_at = None


def _mark(correction: Correction, marks: Marks, mark: VersionMark | None) -> None:
    if marks == Marks.CLEAR:
        _put_mark(correction, "fixed", None)
    if marks in (Marks.CLEAR, Marks.FIX):
        _put_mark(correction, "reopened", None)
    if marks == Marks.FIX:
        _put_mark(correction, "fixed", mark)
    if marks == Marks.REOPEN:
        _put_mark(correction, "reopened", mark)


def _put_mark(correction: Correction, name: str, mark: VersionMark | None) -> None:
    setattr(correction, f"{name}_how", mark.how if mark else "")
    setattr(correction, f"{name}_version", mark.version if mark else "")
    setattr(correction, f"{name}_by_kind", mark.by.kind if mark and mark.by else "")
    setattr(correction, f"{name}_by_id", mark.by.id if mark and mark.by else "")
    setattr(correction, f"{name}_at", mark.at if mark else None)


def _check_text(text: str | None, name: str) -> None:
    if text is not None and not 1 <= len(text) <= MAX_NOTE:
        raise refusal(f"{name} has 1 to {MAX_NOTE} characters.", name)


def _check_link(kind: LinkKind, target: str) -> None:
    if kind != LinkKind.PULL_REQUEST:
        if not 1 <= len(target) <= MAX_LINK_ID:
            raise refusal(f"id has 1 to {MAX_LINK_ID} characters.", "id")
        return
    if len(target) > MAX_LINK_URL or not _is_web_address(target):
        raise refusal(f"url is an absolute http or https address of at most {MAX_LINK_URL} characters.", "url")


def _is_web_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and not any(c.isspace() for c in text)
    except ValueError:
        return False


def _check_fix_job(caller: Caller) -> None:
    if caller.kind != "service" or not caller.holds(FIX_JOB_CAPABILITY):
        raise ForbiddenError(
            Code.PERMISSION_DENIED,
            "Only a service's key with the capability corrections:fix-job may sort as the fix job.",
            action=Action.WRITE,
            resource={"type": "capability", "id": FIX_JOB_CAPABILITY},
            reason="The key does not carry the capability.",
        )
