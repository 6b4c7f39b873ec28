"""Where a correction starts out (contract 8.1)."""

from dataclasses import dataclass

from corrections.drafts import CorrectionDraft
from corrections.vocabulary import SortedTo, Status, Verdict


@dataclass(frozen=True, slots=True)
class Start:
    """A new correction's status, whom it is sorted to, and whether it counts as fixed from the first."""

    status: Status
    sorted_to: SortedTo | None = None
    recorded_right: bool = False


def sort(draft: CorrectionDraft) -> Start:
    if draft.participant_id is not None:
        return Start(Status.OPEN)
    if draft.decisions == Verdict.WRONG:
        return Start(Status.WITH_OWNER, SortedTo.OWNER)
    if Verdict.WRONG in draft.verdicts:
        return Start(Status.OPEN, SortedTo.IMPROVE)
    return Start(Status.FIXED, recorded_right=True)
