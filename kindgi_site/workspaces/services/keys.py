"""Minting and recognising API keys."""

import hashlib
import secrets
from collections.abc import Collection
from datetime import datetime

from kindgi_site.callers import ReviewerRole
from kindgi_site.workspaces.models import ApiKey, Person, Project, ServiceAccount, Workspace

CAPABILITIES = frozenset({"corrections:fix-job"})


def digest_of(key: str) -> str:
    """What is stored of a key. Keys carry 256 random bits, so a plain hash cannot be guessed back."""
    return hashlib.sha256(key.encode()).hexdigest()


def store_key(
    *,
    workspace: Workspace,
    principal: Person | ServiceAccount,
    role: str = "member",
    project: Project | None = None,
    capabilities: Collection[str] = (),
    expires_at: datetime | None = None,
    label: str = "",
    reviewer_role: ReviewerRole | None = None,
    created_by: str = "",
) -> tuple[ApiKey, str]:
    """Make a key and return (its row, its text). The text is nowhere else and cannot be shown again."""
    text = f"kgi_{secrets.token_urlsafe(32)}"
    key = ApiKey.objects.create(
        workspace=workspace,
        person=principal if isinstance(principal, Person) else None,
        service=principal if isinstance(principal, ServiceAccount) else None,
        digest=digest_of(text),
        role=role,
        project=project,
        capabilities=sorted(capabilities),
        expires_at=expires_at,
        label=label,
        reviewer_role=reviewer_role or "",
        created_by=created_by,
    )
    return key, text
