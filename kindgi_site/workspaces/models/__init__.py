"""Tables of who is here and what they may do."""

from kindgi_site.workspaces.models.audit import AuditEntry, AuditSeal
from kindgi_site.workspaces.models.idempotency import IdempotencyRecord
from kindgi_site.workspaces.models.keys import ApiKey
from kindgi_site.workspaces.models.people import Membership, Person, ProjectRole, Reviewer, ServiceAccount
from kindgi_site.workspaces.models.workspaces import Project, RateWindow, Workspace

__all__ = [
    "ApiKey",
    "AuditEntry",
    "AuditSeal",
    "IdempotencyRecord",
    "Membership",
    "Person",
    "Project",
    "ProjectRole",
    "RateWindow",
    "Reviewer",
    "ServiceAccount",
    "Workspace",
]
