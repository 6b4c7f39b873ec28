"""From a signed-in person or an API key to a Caller, in two statements."""

from uuid import UUID

from django.db.models import BooleanField, Case, CharField, F, OuterRef, Q, QuerySet, Subquery, Value, When
from django.db.models.functions import Coalesce

from kindgi_site.callers import Caller, ReviewerRole, Role
from kindgi_site.workspaces.models import ApiKey, Membership, Person, ProjectRole, Reviewer, Workspace


def caller_of_membership(membership: Membership, request_id: str = "") -> Caller:
    """The caller that a person is at a page of one of their workspaces."""
    person = membership.person
    place = Reviewer.objects.filter(
        workspace=membership.workspace_id, person=person, deactivated_at__isnull=True
    ).values_list("role", flat=True)
    return Caller(
        workspace_id=membership.workspace_id,
        kind="user",
        id=str(person.id),
        name=str(person),
        is_workspace_admin=membership.is_admin,
        project_roles=_project_roles(Q(person=person), membership.workspace_id),
        reviewer_role=next((ReviewerRole(role) for role in place), None),
        request_id=request_id,
    )


def memberships_of(person: Person) -> QuerySet[Membership]:
    """The workspaces a person may open, oldest membership first, with workspace and person joined."""
    return person.memberships.select_related("workspace", "person").order_by("created_at", "id")


def key_by_digest(digest: str) -> ApiKey | None:
    """A key with everything `caller_of_key` asks about joined; revoked and expired ones too."""
    membership = Membership.objects.filter(person=OuterRef("person"), workspace=OuterRef("workspace"))
    place = Reviewer.objects.filter(
        person=OuterRef("person"), workspace=OuterRef("workspace"), deactivated_at__isnull=True
    )
    return (
        ApiKey.objects.filter(digest=digest)
        .select_related("person", "service", "workspace")
        .annotate(
            of_admin=Coalesce(
                Case(
                    When(service__isnull=False, then=F("service__is_workspace_admin")),
                    default=Subquery(membership.values("is_admin")[:1]),
                    output_field=BooleanField(),
                ),
                Value(False),  # noqa: FBT003 - an SQL constant
            ),
            is_of_member=Subquery(membership.values("person__is_active")[:1]),
            roster_role=Subquery(place.values("role")[:1], output_field=CharField()),
        )
        .first()
    )


def caller_of_key(key: ApiKey, request_id: str = "") -> Caller:
    """The caller behind a key from `key_by_digest`.

    A service without an account speaks under the key's own id (contract 2.2).
    """
    if key.person_id is not None:
        kind, principal_id, name = "user", key.person_id, str(key.person)
        roles = _project_roles(Q(person=key.person_id), key.workspace_id)
    elif key.service_id is not None:
        kind, principal_id, name = "service", key.service_id, str(key.service)
        roles = _project_roles(Q(service=key.service_id), key.workspace_id)
    else:
        kind, principal_id, name, roles = "service", key.id, key.label, {}
    role = key.reviewer_role or key.roster_role  # type: ignore[attr-defined]
    return Caller(
        workspace_id=key.workspace_id,
        kind=kind,
        id=str(principal_id),
        name=name,
        is_workspace_admin=key.of_admin,  # type: ignore[attr-defined]
        project_roles=roles,
        reviewer_role=ReviewerRole(role) if role else None,
        key_id=key.id,
        key_is_member=key.role != "admin",
        key_project_id=key.project_id,
        key_expires_at=key.expires_at,
        capabilities=frozenset(key.capabilities),
        via="key",
        request_id=request_id,
    )


def _project_roles(principal: Q, workspace_id: UUID) -> dict[UUID, Role]:
    rows = ProjectRole.objects.filter(principal, project__workspace=workspace_id)
    return {project: Role(role) for project, role in rows.values_list("project", "role")}


def workspace_named(slug: str) -> Workspace | None:
    return Workspace.objects.filter(slug=slug).first()
