"""Members, service accounts and keys of a workspace, for its administrators."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db.models import Prefetch, Q, QuerySet

from kindgi_site.callers import Caller
from kindgi_site.errors import Code, NotFoundError
from kindgi_site.keys import as_uuid
from kindgi_site.keyset import by_name
from kindgi_site.workspaces.models import ApiKey, Membership, Person, Project, ProjectRole, Reviewer, ServiceAccount
from kindgi_site.workspaces.queries.keys import keys_readable_by

MOST_NAMED = 2000
MEMBERS_BY_NAME, SERVICES_BY_NAME = by_name("person__username"), by_name("name")


def members_of(caller: Caller) -> QuerySet[Membership]:
    """By name, each person with `roles_here` and `places_here`."""
    places = Reviewer.objects.filter(workspace=caller.workspace_id)
    members = Membership.objects.filter(workspace=caller.workspace_id).select_related("person")
    return members.prefetch_related(
        Prefetch("person__project_roles", _roles_in(caller), to_attr="roles_here"),
        Prefetch("person__reviewer_places", places, to_attr="places_here"),
    ).order_by("person__username", "id")


def services_of(caller: Caller) -> QuerySet[ServiceAccount]:
    """By name, each with `roles_here`."""
    services = ServiceAccount.objects.filter(workspace=caller.workspace_id)
    roles = Prefetch("project_roles", _roles_in(caller), to_attr="roles_here")
    return services.prefetch_related(roles).order_by("name", "id")


def keys_of(caller: Caller) -> QuerySet[ApiKey]:
    """Newest first, with whom they act for."""
    return keys_readable_by(caller).select_related("person", "service", "project")


def member_of(caller: Caller, person_id: UUID) -> Membership:
    found = members_of(caller).filter(person=person_id).first()
    if found is None:
        raise NotFoundError(Code.PRINCIPAL_NOT_FOUND, "There is no such person here.", userId=str(person_id))
    return found


def service_of(caller: Caller, service_id: UUID) -> ServiceAccount:
    found = services_of(caller).filter(id=service_id).first()
    if found is None:
        raise NotFoundError(Code.PRINCIPAL_NOT_FOUND, "There is no such service account.", id=str(service_id))
    return found


def names_in(caller: Caller, *, also: str = "") -> list[tuple[str, str]]:
    """(`user:<id>` or `service-account:<id>`, name) of whom a key can act for, by name.

    Of very many the first, and the one in `also`.
    """
    people = Person.objects.filter(memberships__workspace=caller.workspace_id).order_by("username")
    services = ServiceAccount.objects.filter(workspace=caller.workspace_id).order_by("name")
    named = [*_named("user", people[:MOST_NAMED]), *_named("service-account", services[:MOST_NAMED])]
    if also in dict(named):
        return named
    kind, _colon, name = also.partition(":")
    key = as_uuid(name)
    rows: QuerySet[Any] = people if kind == "user" else services
    return named + [one for one in (_named(kind, rows.filter(id=key)) if key else []) if one[0] == also]


def _named(kind: str, rows: Iterable[Person | ServiceAccount]) -> list[tuple[str, str]]:
    return [(f"{kind}:{row.id}", row.told_apart if isinstance(row, Person) else row.name) for row in rows]


def readers_of(project: Project) -> tuple[list[Person], list[ServiceAccount]]:
    """Who can at least read a project, by name: people who can sign in, and service accounts; the first of many."""
    roles = ProjectRole.objects.filter(project=project)
    people = Person.objects.filter(
        Q(project_roles__in=roles) | Q(memberships__is_admin=True),
        memberships__workspace=project.workspace_id,
        is_active=True,
    )
    services = ServiceAccount.objects.filter(
        Q(project_roles__in=roles) | Q(is_workspace_admin=True), workspace=project.workspace_id
    )
    return (
        list(people.distinct().order_by("username")[:MOST_NAMED]),
        list(services.distinct().order_by("name")[:MOST_NAMED]),
    )


def _roles_in(caller: Caller) -> QuerySet[ProjectRole]:
    roles = ProjectRole.objects.filter(project__workspace=caller.workspace_id)
    return roles.select_related("project").order_by("project__name")
