"""Everything ever said of a run: live, superseded and removed corrections."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from corrections.models import Correction
from corrections.presenters.sentences import sentences
from corrections.presenters.text import plain
from corrections.queries.said import said_of
from corrections.vocabulary import RECORDED_RIGHT, Status, Verdict


@dataclass(frozen=True, slots=True)
class Said:
    """One correction in the history. `state` is `live`, `superseded` or `removed`."""

    id: str
    who: str
    is_mine: bool
    at: datetime
    group: str
    is_expert: bool
    state: str
    state_words: str
    decisions: str
    answer: str
    right_items: int
    wrong_items: int
    sentences: list[SafeString]
    why: str


def history(
    corrections: Sequence[Correction], names: Mapping[str, str], *, caller_id: str, called: Sequence[str] | None
) -> Iterator[Said]:
    for correction in corrections:
        draft = said_of(correction)
        verdicts = [item.verdict for item in draft.items]
        yield Said(
            id=str(correction.id),
            who=maker_name(correction, names),
            is_mine=correction.made_by_id == caller_id,
            at=correction.created_at,
            group=correction.group.name if correction.group else "",
            is_expert=correction.expert,
            state=_state(correction),
            state_words=state_words(correction),
            decisions=correction.decisions,
            answer=correction.answer,
            right_items=verdicts.count(Verdict.RIGHT),
            wrong_items=verdicts.count(Verdict.WRONG),
            sentences=sentences(draft, called),
            why=plain(correction.why),
        )


def maker_name(correction: Correction, names: Mapping[str, str]) -> str:
    """Who made it, for people to read."""
    return names.get(correction.made_by_id) or (_("An end user") if correction.participant_id else _("A program"))


def _state(correction: Correction) -> str:
    if correction.superseded_by_id:
        return "superseded"
    return "live" if correction.is_live else "removed"


def state_words(correction: Correction) -> str:
    if correction.superseded_by_id:
        return _("Replaced by a later one")
    words = {
        Status.OPEN: _("Open"),
        Status.BEING_FIXED: _("Being fixed"),
        Status.WITH_OWNER: _("With the owner"),
        Status.FIXED: _("Nothing to fix") if correction.fixed_how == RECORDED_RIGHT else _("Fixed"),
        Status.WONT_FIX: _("Won’t fix"),
        Status.REMOVED: _("Removed"),
    }
    return words[Status(correction.status)]
