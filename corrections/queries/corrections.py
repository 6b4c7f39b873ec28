"""Corrections as callers may see them."""

from django.db.models import QuerySet

from corrections.models import Correction, CorrectionEvent
from kindgi_site.callers import Caller
from kindgi_site.errors import Code, NotFoundError
from kindgi_site.keys import as_uuid

__all__ = [
    "as_uuid",
    "correction_not_found",
    "correction_readable_by",
    "corrections_readable_by",
    "events_readable_by",
]


def corrections_readable_by(caller: Caller) -> QuerySet[Correction]:
    """Newest first, live or not; without their copies."""
    corrections = Correction.objects.filter(workspace=caller.workspace_id).order_by("-created_at", "-id")
    readable = caller.readable_project_ids
    return corrections if readable is None else corrections.filter(project__in=readable)


def correction_readable_by(caller: Caller, correction_id: str) -> Correction:
    """Any correction, removed and superseded ones too, with its copy joined; NotFoundError when not theirs."""
    key = as_uuid(correction_id)
    found = key and corrections_readable_by(caller).filter(id=key).select_related("copy").first()
    if not found:
        raise correction_not_found(correction_id)
    return found


def events_readable_by(caller: Caller, correction_id: str) -> QuerySet[CorrectionEvent]:
    """The steps of one correction, newest first; NotFoundError when it is not theirs."""
    key = as_uuid(correction_id)
    if key is None or not corrections_readable_by(caller).filter(id=key).exists():
        raise correction_not_found(correction_id)
    return CorrectionEvent.objects.filter(correction=key).order_by("-at", "-id")


def correction_not_found(correction_id: object) -> NotFoundError:
    return NotFoundError(Code.CORRECTION_NOT_FOUND, "There is no such correction.", correctionId=str(correction_id))
