"""A run in a list, and the head of its page."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from corrections.models import Correction, Run, RunCopy
from corrections.presenters.cards import duration_words
from corrections.presenters.text import cut, first_words, plain, shortened_id, value_words
from corrections.vocabulary import RunStatus
from kindgi_site.stored_json import JsonText

LONGEST_LINE = 180
SIGNS = {
    RunStatus.COMPLETED: "●",
    RunStatus.FAILED: "✗",
    RunStatus.CANCELLED: "⊘",
    RunStatus.RUNNING: "◐",
    RunStatus.SUSPENDED: "‖",
    RunStatus.PENDING: "○",
}


@dataclass(frozen=True, slots=True)
class StatusShown:
    name: str
    words: str
    sign: str


@dataclass(frozen=True, slots=True)
class SegmentShown:
    key: str
    value: str


@dataclass(frozen=True, slots=True)
class RunRow:
    run_id: str
    words: str
    subject: str
    version: str
    project: str
    kind: str
    status: StatusShown
    at: datetime
    segments: list[SegmentShown]
    has_right: bool
    has_wrong: bool
    has_expert: bool
    makers: int
    is_mine: bool


@dataclass(frozen=True, slots=True)
class RunHead:
    run_id: str
    short_id: str
    subject: str
    version: str
    kind: str
    project: str
    status: StatusShown
    at: datetime | None
    took: str
    segments: list[SegmentShown]
    captured_at: datetime | None
    erased_at: datetime | None
    is_dry: bool
    replay_of: str


def run_row(run: Run, live: Sequence[Correction], caller_id: str) -> RunRow:
    """`run` comes from `runs_for_list`; `live` are its live corrections."""
    return RunRow(
        run_id=str(run.run_id),
        words=cut(first_words(run.input_head or ""), LONGEST_LINE) or _wordless(run),  # type: ignore[attr-defined]
        subject=plain(run.subject_id),
        version=plain(run.subject_version),
        project=run.project.name,
        kind=run.subject_kind,
        status=status_shown(run.status),
        at=run.completed_at or run.created_at,
        segments=segments_shown(run.segments),
        has_right=any(correction.has_right for correction in live),
        has_wrong=any(correction.has_wrong for correction in live),
        has_expert=any(correction.expert for correction in live),
        makers=len({(correction.made_by_kind, correction.made_by_id) for correction in live}),
        is_mine=any(correction.made_by_id == caller_id for correction in live),
    )


def _wordless(run: Run) -> str:
    """What stands for a run of whose input there is nothing to read."""
    if run.erased_at:
        return _("(erased)")
    return _("(dropped for its age)") if run.purged_at else _("(nothing came in)")


def run_head(run: Run | None, copy: RunCopy | None) -> RunHead:
    source = copy or run
    assert source is not None
    status = run.status if run else RunStatus.COMPLETED
    started, ended = (run.started_at, run.completed_at) if run else (None, None)
    took = (ended - started).total_seconds() if started and ended else None
    erased_at = (run and run.erased_at) or (copy and copy.erased_at) or None
    return RunHead(
        run_id=str(source.run_id),
        short_id=shortened_id(str(source.run_id)),
        subject=plain(source.subject_id),
        version=plain(source.subject_version),
        kind=source.subject_kind,
        project=source.project.name,
        status=status_shown(status),
        at=_moment(run, copy),
        took=_took_words(took),
        segments=segments_shown(source.segments),
        captured_at=copy.captured_at if copy and not copy.erased_at else None,
        erased_at=erased_at,
        is_dry=bool(run and run.dry_run),
        replay_of=run.replay_of if run else "",
    )


def _moment(run: Run | None, copy: RunCopy | None) -> datetime | None:
    if run is not None:
        return run.completed_at or run.created_at
    return copy.captured_at if copy else None


def _took_words(seconds: float | None) -> str:
    if seconds is None or seconds < 0:
        return ""
    if seconds < 60:
        return duration_words(round(seconds * 1000)) if seconds else ""
    minutes = round(seconds / 60)
    return ngettext("%(count)d minute", "%(count)d minutes", minutes) % {"count": minutes}


def status_shown(status: str) -> StatusShown:
    words = {
        RunStatus.COMPLETED: _("completed"),
        RunStatus.FAILED: _("failed"),
        RunStatus.CANCELLED: _("cancelled"),
        RunStatus.RUNNING: _("running"),
        RunStatus.SUSPENDED: _("suspended"),
        RunStatus.PENDING: _("pending"),
    }
    known = RunStatus(status)
    return StatusShown(known.value, words[known], SIGNS[known])


def segments_shown(segments: JsonText | None) -> list[SegmentShown]:
    listed = segments.value if segments else []
    return [
        SegmentShown(cut(value_words(entry.get("key", "")), 40), cut(value_words(entry.get("value", "")), 60))
        for entry in (listed if isinstance(listed, list) else [])
        if isinstance(entry, dict)
    ]


def closed_reason(run: Run | None, copy: RunCopy | None, *, may_write: bool) -> str:
    """Why this run cannot be corrected, and what there is to do; empty when it can."""
    if run is None:
        return _("The run itself is gone, and this is the copy kept of it. It takes no new corrections.")
    if run.erased_at or (copy and copy.erased_at):
        return _("What this run said was erased for good, so there is nothing left to correct.")
    if run.purged_at and copy is None:
        return _("What this run said was dropped for its age before anybody corrected it.")
    if run.status != RunStatus.COMPLETED:
        return _unfinished_reason(run)
    return "" if may_write else _("You may read runs of this project but not correct them: that takes an editor.")


def _unfinished_reason(run: Run) -> str:
    if run.is_terminal:
        return _("Only a completed run can be corrected, and this one ended without an answer.")
    return _("This run has not finished. It can be corrected once it has; open this page again then.")
