"""Corrector groups as callers may see and use them."""

from django.db.models import Q, QuerySet

from corrections.models import CorrectorGroup, Run, RunCopy
from corrections.queries.corrections import as_uuid
from corrections.vocabulary import ScopeKind, SubjectKind
from kindgi_site.callers import Caller
from kindgi_site.errors import Code, NotFoundError
from kindgi_site.keyset import by_name
from kindgi_site.workspaces.models import Person, ServiceAccount
from kindgi_site.workspaces.queries.members import MOST_NAMED

BY_NAME = by_name("name")


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


def group_readable_by(caller: Caller, group_id: str, *, lock: bool = False) -> CorrectorGroup:
    """One group, a retired one too; NotFoundError `corrector-group-not-found` when not theirs."""
    key = as_uuid(group_id)
    groups = groups_readable_by(caller)
    found = key and (groups.select_for_update(of=("self",), no_key=True) if lock else groups).filter(id=key).first()
    if not found:
        raise group_not_found(group_id)
    return found


def group_not_found(group_id: object) -> NotFoundError:
    return NotFoundError(
        Code.CORRECTOR_GROUP_NOT_FOUND, "There is no such corrector group.", correctorGroupId=str(group_id)
    )


def groups_for_page(caller: Caller) -> QuerySet[CorrectorGroup]:
    """By name, with their projects, retired ones too."""
    return groups_readable_by(caller).select_related("project").order_by("name", "id")


def principals_of(caller: Caller) -> list[tuple[str, str]]:
    """(id, name) of the people and service accounts of the caller's workspace who can be named, by name."""
    people = Person.objects.filter(memberships__workspace=caller.workspace_id).order_by("username")
    services = ServiceAccount.objects.filter(workspace=caller.workspace_id).order_by("name")
    named = [(str(person.id), person.told_apart) for person in people[:MOST_NAMED]]
    return named + [(str(service.id), str(service)) for service in services[:MOST_NAMED]]
