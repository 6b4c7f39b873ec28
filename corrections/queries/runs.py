"""Runs as callers may see them."""

from uuid import UUID

from django.db.models import QuerySet

from corrections.models import Run
from kindgi_site.callers import Action, Caller
from kindgi_site.errors import Code, NotFoundError
from kindgi_site.workspaces.permissions import check_project_action


def runs_readable_by(caller: Caller) -> QuerySet[Run]:
    """Without their content; newest first."""
    runs = Run.objects.filter(workspace=caller.workspace_id).order_by("-created_at", "-id")
    readable = caller.readable_project_ids
    return runs if readable is None else runs.filter(project__in=readable)


def run_in_workspace(caller: Caller, run_id: UUID) -> Run:
    """A run of the caller's workspace whether or not they may read it; with its content joined."""
    run = Run.objects.filter(workspace=caller.workspace_id, run_id=run_id).select_related("content").first()
    if run is None:
        raise run_not_found(run_id)
    return run


def run_readable_by(caller: Caller, run_id: UUID) -> Run:
    """With its content joined. In the workspace but unreadable is ForbiddenError (contract 2.5)."""
    run = run_in_workspace(caller, run_id)
    check_project_action(caller, Action.READ, run.project_id)
    return run


def run_not_found(run_id: object) -> NotFoundError:
    return NotFoundError(Code.RUN_NOT_FOUND, "There is no such run.", runId=str(run_id))
