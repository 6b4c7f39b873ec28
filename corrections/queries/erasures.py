"""Erasures and their receipts, for a workspace's administrators."""

from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet

from corrections.models import Correction, Erasure, Run, RunCopy
from corrections.queries.corrections import as_uuid
from corrections.queries.run_pages import Place
from kindgi_site.callers import Caller
from kindgi_site.errors import Code, NotFoundError
from kindgi_site.workspaces.permissions import check_workspace_admin


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


PAGE_SIZE = 30


@dataclass(frozen=True, slots=True)
class ErasuresPage:
    erasures: list[Erasure]
    newer: Place | None
    older: Place | None


def receipts_page(caller: Caller, *, before: Place | None, after: Place | None) -> ErasuresPage:
    """One page newest first: those older than `before`, else those just newer than `after`."""
    receipts = receipts_for(caller)
    if after is not None and before is None:
        newer = receipts.filter(created_at__gte=after.created_at).exclude(created_at=after.created_at, id__lte=after.id)
        found = list(newer.order_by("created_at", "id")[: PAGE_SIZE + 1])
        shown = found[:PAGE_SIZE][::-1]
        return ErasuresPage(shown, _place(shown[:1]) if len(found) > PAGE_SIZE else None, _place(shown[-1:]))
    if before is not None:
        receipts = receipts.filter(created_at__lte=before.created_at)
        receipts = receipts.exclude(created_at=before.created_at, id__gte=before.id)
    found = list(receipts[: PAGE_SIZE + 1])
    shown = found[:PAGE_SIZE]
    older = _place(shown[-1:]) if len(found) > PAGE_SIZE else None
    return ErasuresPage(shown, _place(shown[:1]) if before else None, older)


def _place(shown: list[Erasure]) -> Place | None:
    return Place(shown[0].created_at, shown[0].id) if shown else None


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
