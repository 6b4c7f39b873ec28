"""What the pages of corrections show, in a fixed number of statements however many rows there are."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet

from corrections.models import AgentOwner, Correction, CorrectionEvent
from corrections.queries.corrections import correction_not_found, corrections_readable_by
from corrections.queries.run_pages import Place
from kindgi_site.callers import Caller

PAGE_SIZE = 30
LONGEST_HISTORY = 200


@dataclass(frozen=True, slots=True)
class CorrectionsPage:
    corrections: list[Correction]
    newer: Place | None
    older: Place | None


def corrections_for_list(caller: Caller) -> QuerySet[Correction]:
    """Newest first, with groups and the calls of their copies; the copies' larger parts stay unread."""
    corrections = corrections_readable_by(caller).select_related("group", "copy", "project")
    return corrections.defer("copy__input", "copy__context", "copy__segments")


def page_of(corrections: QuerySet[Correction], *, before: Place | None, after: Place | None) -> CorrectionsPage:
    """One page newest first: those older than `before`, else those just newer than `after`."""
    if after is not None and before is None:
        newer = corrections.filter(created_at__gte=after.created_at).exclude(
            created_at=after.created_at, id__lte=after.id
        )
        found = list(newer.order_by("created_at", "id")[: PAGE_SIZE + 1])
        shown = found[:PAGE_SIZE][::-1]
        return CorrectionsPage(shown, _place(shown[:1]) if len(found) > PAGE_SIZE else None, _place(shown[-1:]))
    if before is not None:
        corrections = corrections.filter(created_at__lte=before.created_at).exclude(
            created_at=before.created_at, id__gte=before.id
        )
    found = list(corrections[: PAGE_SIZE + 1])
    shown = found[:PAGE_SIZE]
    return CorrectionsPage(
        shown, _place(shown[:1]) if before else None, _place(shown[-1:]) if len(found) > PAGE_SIZE else None
    )


def _place(shown: list[Correction]) -> Place | None:
    return Place(shown[0].created_at, shown[0].id) if shown else None


def correction_for_page(caller: Caller, correction_id: UUID) -> Correction:
    """With its group, copy and project; NotFoundError when it is not theirs."""
    corrections = corrections_readable_by(caller).select_related("group", "copy", "project", "superseded_by")
    found = corrections.filter(id=correction_id).first()
    if found is None:
        raise correction_not_found(correction_id)
    return found


def steps_of(correction: Correction) -> list[CorrectionEvent]:
    """The newest steps of its life, newest first."""
    return list(correction.events.order_by("-at", "-id")[:LONGEST_HISTORY])


def superseded_by_it(correction: Correction) -> Correction | None:
    """The correction that this one took the place of."""
    return correction.superseded.order_by("-created_at").first()


def owned_agents(caller: Caller, corrections: Sequence[Correction]) -> set[tuple[UUID, str]]:
    """(project, agent) pairs among those of some corrections that the caller is recorded to own."""
    projects = {correction.project_id for correction in corrections}
    owned = AgentOwner.objects.filter(project__in=projects, owner_kind=caller.kind, owner_id=caller.id)
    return set(owned.values_list("project", "agent_id"))
