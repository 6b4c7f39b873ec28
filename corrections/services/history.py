"""Steps of a correction's life, written beside the change that makes them."""

from corrections.models import Correction, CorrectionEvent
from corrections.vocabulary import Status
from kindgi_site.callers import Caller


def step(  # noqa: PLR0913 - a step has this many parts
    correction: Correction,
    action: str,
    *,
    came_from: str,
    by: Caller | None = None,
    note: str = "",
    cause: str = "",
    to: Status | str | None = None,
) -> CorrectionEvent:
    """An unsaved step to the correction's present status (or `to`), at the correction's `updated_at`."""
    return CorrectionEvent(
        correction=correction,
        at=correction.updated_at,
        by_kind=by.kind if by else "",
        by_id=by.id if by else "",
        action=action,
        from_status=came_from,
        to_status=to or correction.status,
        note=note,
        cause=cause,
    )
