"""Minting and recognising API keys."""

import hashlib
import secrets
from collections.abc import Collection
from datetime import datetime

from django.utils.translation import gettext as _

from kindgi_site import clock
from kindgi_site.callers import ReviewerRole
from kindgi_site.errors import Code, ForbiddenError, InvalidError
from kindgi_site.workspaces.models import ApiKey, Membership, Person, Project, ServiceAccount, Workspace

CAPABILITIES = frozenset({"corrections:fix-job"})


def digest_of(key: str) -> str:
    """What is stored of a key. Keys carry 256 random bits, so a plain hash cannot be guessed back."""
    return hashlib.sha256(key.encode()).hexdigest()


def check_key(
    *,
    workspace: Workspace,
    principal: Person | ServiceAccount,
    role: str,
    project: Project | None,
    expires_at: datetime | None,
) -> None:
    """Whether such a key can be: nothing in it of another workspace, no role its principal has not, time left.

    Refuses with InvalidError `bad-input`, or ForbiddenError `role-exceeds-principal`.
    """
    is_admin = _is_admin(workspace, principal)
    if is_admin is None:
        raise InvalidError(Code.BAD_INPUT, _("“%(name)s” is not of this workspace.") % {"name": principal})
    if project is not None and project.workspace_id != workspace.id:
        raise InvalidError(Code.BAD_INPUT, _("“%(name)s” is not of this workspace.") % {"name": project})
    if expires_at is not None and expires_at <= clock.now():
        raise InvalidError(Code.BAD_INPUT, _("The key would have expired already."))
    if role == "admin" and not is_admin:
        raise ForbiddenError(
            Code.ROLE_EXCEEDS_PRINCIPAL,
            _("“%(name)s” is no administrator of the workspace, so their key cannot be one.") % {"name": principal},
        )


def _is_admin(workspace: Workspace, principal: Person | ServiceAccount) -> bool | None:
    """None when the principal is not of the workspace."""
    if isinstance(principal, Person):
        membership = Membership.objects.filter(workspace=workspace, person=principal).first()
        return None if membership is None else membership.is_admin
    return principal.is_workspace_admin if principal.workspace_id == workspace.id else None


def revoke_key(*, key: ApiKey) -> None:
    """From now on the key opens nothing; one that was revoked keeps its time."""
    ApiKey.objects.filter(pk=key.pk, revoked_at__isnull=True).update(revoked_at=clock.now())


def store_key(  # noqa: PLR0913 - a key has this many properties
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
