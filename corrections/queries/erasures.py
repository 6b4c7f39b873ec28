"""Erasures and their receipts, for a workspace's administrators."""

from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet

from corrections.models import Correction, Erasure, Run, RunCopy
from corrections.queries.corrections import as_uuid
from kindgi_site.callers import Caller
from kindgi_site.errors import Code, NotFoundError
from kindgi_site.workspaces.permissions import check_workspace_admin

PAGE_SIZE = 30


def receipts_for(caller: Caller) -> QuerySet[Erasure]:
    """Every receipt, those of single runs too, newest first; ForbiddenError for others than administrators."""
    check_workspace_admin(caller)
    return Erasure.objects.filter(workspace=caller.workspace_id).order_by("-created_at", "-id")


def erasures_for(caller: Caller) -> QuerySet[Erasure]:
    """What `POST /v1/memory/erasures` made, newest first."""
    return receipts_for(caller).exclude(selector_kind="run")


def erasure_for(caller: Caller, erasure_id: str) -> Erasure:
    key = as_uuid(erasure_id)
    found = erasures_for(caller).filter(id=key).first() if key else erasures_for(caller).none().first()
    if found is None:
        raise NotFoundError(Code.NOT_FOUND, "There is no such erasure.", id=erasure_id)
    return found


def receipt_for(caller: Caller, erasure_id: UUID) -> Erasure:
    """One of `receipts_for`; NotFoundError."""
    found = receipts_for(caller).filter(id=erasure_id).first()
    if found is None:
        raise NotFoundError(Code.NOT_FOUND, "There is no such erasure.", id=str(erasure_id))
    return found


@dataclass(frozen=True, slots=True)
class Standing:
    """What there is of a run that an erasure would clear."""

    corrections: int
    replays: int
    has_copy: bool


def what_stands_of(caller: Caller, run_id: UUID) -> Standing:
    """For the page that asks before erasing."""
    of_run = {"workspace": caller.workspace_id, "run_id": run_id}
    return Standing(
        corrections=Correction.objects.filter(**of_run).count(),
        replays=Run.objects.filter(workspace=caller.workspace_id, replay_of__iexact=str(run_id)).count(),
        has_copy=RunCopy.objects.filter(**of_run).exists(),
    )
