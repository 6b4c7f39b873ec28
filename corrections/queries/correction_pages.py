"""What the pages of corrections show, in a fixed number of statements however many rows there are."""

from uuid import UUID

from django.db.models import CharField, QuerySet
from django.db.models.functions import Substr

from corrections.models import Correction, CorrectionEvent
from corrections.queries.corrections import correction_not_found, corrections_readable_by
from corrections.queries.run_pages import HEAD
from kindgi_site.callers import Caller

PAGE_SIZE = 30
LONGEST_HISTORY = 200


def corrections_for_list(caller: Caller) -> QuerySet[Correction]:
    """Newest first, with groups, the calls of their copies and the head of what came in; the rest stays unread."""
    corrections = _with_head_of_input(corrections_readable_by(caller)).select_related("group", "copy")
    corrections = corrections.prefetch_related("project")
    return corrections.defer("copy__input", "copy__context", "copy__segments")


def _with_head_of_input(corrections: QuerySet[Correction]) -> QuerySet[Correction]:
    return corrections.annotate(input_head=Substr("copy__input", 1, HEAD, output_field=CharField()))


def correction_for_page(caller: Caller, correction_id: UUID) -> Correction:
    """With its group, copy and project; NotFoundError when it is not theirs."""
    corrections = _with_head_of_input(corrections_readable_by(caller))
    corrections = corrections.select_related("group", "copy", "project", "superseded_by")
    found = corrections.filter(id=correction_id).first()
    if found is None:
        raise correction_not_found(correction_id)
    return found


def steps_of(correction: Correction) -> list[CorrectionEvent]:
    """The newest steps of its life, newest first."""
    return list(correction.events.order_by("-at", "-id")[:LONGEST_HISTORY])


def superseded_by_it(correction: Correction) -> Correction | None:
    """The correction that this one took the place of."""
    of_the_run = Correction.objects.filter(workspace=correction.workspace_id, run_id=correction.run_id)
    return of_the_run.filter(superseded_by=correction).order_by("-created_at").first()
