"""Corrector groups as callers may see and use them."""

from django.db.models import Q, QuerySet

from corrections.models import CorrectorGroup, Run, RunCopy
from corrections.vocabulary import ScopeKind, SubjectKind
from kindgi_site.callers import Caller


def groups_covering(run: Run | RunCopy) -> QuerySet[CorrectorGroup]:
    """The live groups whose scope covers a run (contract 9.1), by name."""
    covers = Q(scope_kind=ScopeKind.TENANT) | Q(scope_kind=ScopeKind.PROJECT, project=run.project_id)
    if run.subject_kind == SubjectKind.AGENT:
        covers |= Q(scope_kind=ScopeKind.AGENT, project=run.project_id, agent_id=run.subject_id)
    live = CorrectorGroup.objects.filter(workspace=run.workspace_id, unregistered_at__isnull=True)
    return live.filter(covers).order_by("name", "id")


def groups_readable_by(caller: Caller) -> QuerySet[CorrectorGroup]:
    """Retired ones too; newest first."""
    groups = CorrectorGroup.objects.filter(workspace=caller.workspace_id).order_by("-created_at", "-id")
    readable = caller.readable_project_ids
    return groups if readable is None else groups.filter(Q(project__isnull=True) | Q(project__in=readable))
