"""Drop the content of old runs; their copies, corrections and frozen cases stay and go on working."""

from collections.abc import Iterator
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Coalesce

from corrections.models import Run, RunContent
from kindgi_site import clock
from kindgi_site.callers import Caller
from kindgi_site.workspaces.services.audit import entry_for, record_writes

BATCH = 200


def runs_to_purge(*, before: datetime, workspace_id: UUID | None = None) -> QuerySet[Run]:
    """Runs whose `completedAt`, else last change, lies before a moment, and that still hold their content."""
    runs = Run.objects.filter(purged_at__isnull=True, erased_at__isnull=True)
    if workspace_id is not None:
        runs = runs.filter(workspace=workspace_id)
    return runs.annotate(since=Coalesce("completed_at", "updated_at")).filter(since__lt=before)


def purge_runs(*, before: datetime, workspace_id: UUID | None = None) -> Iterator[int]:
    """Purge in batches, each committed by itself, yielding its size: stopping at any point is safe."""
    runs = runs_to_purge(before=before, workspace_id=workspace_id)
    done = _purge_batch(runs)
    while done:
        yield len(done)
        # From where the last batch ended: what was purged before is not looked through again for each batch.
        done = _purge_batch(runs.filter(id__gt=done[-1]))


@transaction.atomic
def _purge_batch(runs: QuerySet[Run]) -> list[UUID]:
    """Holds the batch's rows, so that a correction being recorded is finished first and has its copy."""
    held = runs.select_for_update(of=("self",)).order_by("id").values_list("id", "workspace", "run_id")
    rows = list(held[:BATCH])
    ids = [row_id for row_id, _workspace, _run_id in rows]
    RunContent.objects.filter(run__in=ids).update(input=None, output=None, context=None, calls=None, failure_message="")
    Run.objects.filter(id__in=ids).update(purged_at=clock.now())
    record_writes([entry_for(_operator(workspace), "runs.purge", "run", run_id) for _id, workspace, run_id in rows])
    return ids


def _operator(workspace_id: UUID) -> Caller:
    return Caller(workspace_id=workspace_id, kind="service", id="operator", via="command")
