"""From a signed-in person or an API key to a Caller, in two statements."""

from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

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


# Every request of /v1 asks this first. Written out, since the ORM takes longer to put it together than to run it.
_KEY_BY_DIGEST = """
SELECT k.*,
       w.requests_per_minute AS limit_of_workspace,
       p.username AS username, p.first_name AS first_name, p.last_name AS last_name, p.is_active AS is_active,
       s.name AS service_name, s.is_workspace_admin AS service_is_admin,
       m.id AS membership, m.is_admin AS member_is_admin,
       r.role AS roster_role
FROM workspaces_apikey k
JOIN workspaces_workspace w ON w.id = k.workspace_id
LEFT JOIN workspaces_person p ON p.id = k.person_id
LEFT JOIN workspaces_serviceaccount s ON s.id = k.service_id
LEFT JOIN workspaces_membership m ON m.person_id = k.person_id AND m.workspace_id = k.workspace_id
LEFT JOIN workspaces_reviewer r
       ON r.person_id = k.person_id AND r.workspace_id = k.workspace_id AND r.deactivated_at IS NULL
WHERE k.digest = %s
"""


def key_by_digest(digest: str) -> ApiKey | None:
    """A key with everything `caller_of_key` asks about; revoked and expired ones too.

    Its `workspace` knows its id and its limit, and nothing else.
    """
    key: Any = next(iter(ApiKey.objects.raw(_KEY_BY_DIGEST, [digest])), None)
    if key is None:
        return None
    key.workspace = Workspace(id=key.workspace_id, requests_per_minute=key.limit_of_workspace)
    key.is_of_member = key.membership is not None and bool(key.is_active)
    key.of_admin = bool(key.member_is_admin or key.service_is_admin)
    full_name = f"{key.first_name or ''} {key.last_name or ''}".strip()
    key.principal_name = full_name or key.username or key.service_name or key.label
    found: ApiKey = key
    return found


def caller_of_key(key: ApiKey, request_id: str = "") -> Caller:
    """The caller behind a key from `key_by_digest`.

    A service without an account speaks under the key's own id (contract 2.2).
    """
    if key.person_id is not None:
        kind, principal_id = "user", key.person_id
        roles = _project_roles(Q(person=key.person_id), key.workspace_id)
    elif key.service_id is not None:
        kind, principal_id = "service", key.service_id
        roles = _project_roles(Q(service=key.service_id), key.workspace_id)
    else:
        kind, principal_id, roles = "service", key.id, {}
    role = key.reviewer_role or key.roster_role  # type: ignore[attr-defined]
    return Caller(
        workspace_id=key.workspace_id,
        kind=kind,
        id=str(principal_id),
        name=key.principal_name,  # type: ignore[attr-defined]
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
