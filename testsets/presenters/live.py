"""What is live of an agent, how it came to be, and what that made of its corrections."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from corrections.models import Correction, CorrectionEvent, RunCopy
from corrections.presenters.corrections import status_name
from corrections.presenters.history import maker_name
from corrections.presenters.sentences import sentences
from corrections.presenters.text import cut, first_words, plain
from corrections.queries.said import said_of
from corrections.vocabulary import Status
from testsets.models import LiveChange

LONGEST_LINE = 120
HEAD = 1500


@dataclass(frozen=True, slots=True)
class ChangeShown:
    id: str
    words: str
    before: str
    after: str
    who: str
    at: datetime
    reason: str
    changed: bool


@dataclass(frozen=True, slots=True)
class MistakeShown:
    """A correction that a version may fix, fixed or brought back."""

    id: str
    words: str
    who: str
    group: str
    is_expert: bool
    status: str
    sentences: list[SafeString]
    version: str
    at: datetime
    is_ticked: bool = False
    before: str = ""
    came_back: bool = False
    is_fixed: bool = False


def change_shown(change: LiveChange, names: Mapping[str, str]) -> ChangeShown:
    words = {
        "pin": _("pinned"),
        "went-back": _("went back to an earlier version"),
        "unpin": _("took the pin away"),
        "latest": _("moved Latest"),
    }
    return ChangeShown(
        id=str(change.id),
        words=words.get(change.how, change.how),
        before=plain(change.from_version),
        after=plain(change.to_version),
        who=names.get(change.requested_by_id) or _("A program"),
        at=change.created_at,
        reason=plain(change.reason),
        changed=change.live,
    )


def mistakes(
    corrections: Iterable[Correction], names: Mapping[str, str], ticked: Iterable[str] = ()
) -> list[MistakeShown]:
    chosen = set(ticked)
    return [_mistake(row, names, is_ticked=str(row.id) in chosen) for row in corrections]


def settled(events: Iterable[CorrectionEvent], names: Mapping[str, str]) -> list[MistakeShown]:
    """What got fixed and what came back; of each correction the newest step."""
    newest: dict[str, CorrectionEvent] = {}
    for event in sorted(events, key=lambda event: (event.at, event.id)):
        newest[str(event.correction_id)] = event
    return [
        replace(
            _mistake(event.correction, names, before=event.from_status),
            is_fixed=event.action == "fixed",
            came_back=event.action == "reopened" and event.from_status == Status.FIXED,
        )
        for event in newest.values()
    ]


def _mistake(row: Correction, names: Mapping[str, str], *, is_ticked: bool = False, before: str = "") -> MistakeShown:
    copy: RunCopy = row.copy
    return MistakeShown(
        id=str(row.id),
        words=_words(copy),
        who=maker_name(row, names),
        group=row.group.name if row.group else "",
        is_expert=row.expert,
        status=status_name(row.status),
        sentences=sentences(said_of(row), copy.called_tool_names),
        version=plain(row.subject_version),
        at=row.created_at,
        is_ticked=is_ticked,
        before=status_name(before) if before else "",
    )


def _words(copy: RunCopy) -> str:
    if copy.erased_at:
        return _("(erased)")
    return cut(first_words(copy.input.text[:HEAD]), LONGEST_LINE) if copy.input else ""
