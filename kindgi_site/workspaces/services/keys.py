"""Minting and recognising API keys."""

import hashlib
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from kindgi_site import clock
from kindgi_site.callers import Action, Caller, ReviewerRole
from kindgi_site.errors import Code, ForbiddenError, InvalidError, NotFoundError
from kindgi_site.workspaces.models import ApiKey, Membership, Person, Project, ServiceAccount, Workspace
from kindgi_site.workspaces.permissions import check_workspace_admin
from kindgi_site.workspaces.queries.keys import key_readable_by
from kindgi_site.workspaces.queries.projects import project_in_workspace
from kindgi_site.workspaces.services.audit import record_write

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
        capabilities=sorted(set(capabilities)),
        expires_at=expires_at,
        label=label,
        reviewer_role=reviewer_role or "",
        created_by=created_by,
    )
    return key, text


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyDraft:
    """An API key to be minted. `principal` is (`user` or `service-account`, id); None for the caller's own."""

    principal: tuple[str, str] | None = None
    role: str = "member"
    capabilities: tuple[str, ...] = ()
    label: str = ""
    expires_at: datetime | None = None
    project_id: UUID | None = None


@transaction.atomic
def mint_key(*, caller: Caller, draft: KeyDraft) -> tuple[ApiKey, str]:
    """Mint a key and return (its row, its text), the only time the text is there (contract, section 19).

    The project must exist in the workspace. Nobody mints more than they hold: not for others and no
    admin key without being a workspace admin, no capability they lack, none that outlives their
    own, none that leaves the project theirs is limited to.
    """
    own = _own_principal(caller)
    wanted = draft.principal or own
    if wanted != own or draft.role == "admin":
        check_workspace_admin(caller)
    principal = _principal(caller, wanted)
    _check_capabilities(caller, draft.capabilities)
    _check_same_project(caller, draft.project_id)
    _check_outlived(caller, draft.expires_at)
    workspace = Workspace.objects.get(id=caller.workspace_id)
    project = None if draft.project_id is None else project_in_workspace(workspace.id, draft.project_id)
    check_key(workspace=workspace, principal=principal, role=draft.role, project=project, expires_at=draft.expires_at)
    key, text = store_key(
        workspace=workspace,
        principal=principal,
        role=draft.role,
        project=project,
        capabilities=draft.capabilities,
        expires_at=draft.expires_at,
        label=draft.label,
        created_by=caller.principal,
    )
    record_write(caller, "tokens.mint", "api-key", key.id, ["principal", "role"])
    return key, text


@transaction.atomic
def revoke_key_by_id(*, caller: Caller, key_id: str) -> ApiKey:
    """Revoke one of the caller's keys, or any of the workspace for its admin; NotFoundError for others'."""
    key = key_readable_by(caller, key_id, lock=True)
    if key.revoked_at is None:
        revoke_key(key=key)
        record_write(caller, "tokens.revoke", "api-key", key.id, ["revokedAt"])
    return key


def _own_principal(caller: Caller) -> tuple[str, str]:
    return ("user" if caller.kind == "user" else "service-account", caller.id)


def _principal(caller: Caller, wanted: tuple[str, str]) -> Person | ServiceAccount:
    kind, principal_id = wanted
    try:
        key = UUID(principal_id)
    except ValueError:
        key = UUID(int=0)
    found: Person | ServiceAccount | None
    if kind == "user":
        found = Person.objects.filter(id=key, memberships__workspace=caller.workspace_id).first()
    else:
        found = ServiceAccount.objects.filter(id=key, workspace=caller.workspace_id).first()
    if found is None:
        raise NotFoundError(Code.PRINCIPAL_NOT_FOUND, "There is no such person or service account.", id=principal_id)
    return found


def _check_capabilities(caller: Caller, wanted: Collection[str]) -> None:
    lacking = sorted(name for name in set(wanted) if name not in CAPABILITIES or not caller.holds(name))
    if lacking:
        reason = f"The caller does not hold the capability {lacking[0]}."
        raise ForbiddenError(
            Code.PERMISSION_DENIED,
            reason,
            action=Action.ADMIN,
            resource={"type": "capability", "id": lacking[0]},
            reason=reason,
        )


def _check_same_project(caller: Caller, project_id: UUID | None) -> None:
    if caller.key_project_id is not None and project_id != caller.key_project_id:
        reason = "An API key limited to a project mints only keys with the same limit."
        raise ForbiddenError(
            Code.KEY_PROJECT_MISMATCH,
            reason,
            keyProjectId=str(caller.key_project_id),
            projectId=None if project_id is None else str(project_id),
            action=Action.WRITE,
            resource={"type": "project", "id": str(project_id or caller.key_project_id)},
            reason=reason,
        )


def _check_outlived(caller: Caller, expires_at: datetime | None) -> None:
    latest = caller.key_expires_at
    if latest is not None and (expires_at is None or expires_at > latest):
        raise ForbiddenError(
            Code.TOKEN_EXPIRY_EXCEEDS_MINTER,
            "The new key would outlive the one that mints it.",
            latestExpiresAt=clock.wire_time(latest),
        )
