"""Who is asking: a person at a page, or a person or service behind an API key. Plain Python."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from uuid import UUID


class Action(StrEnum):
    READ = "read"
    WRITE = "write"
    EXECUTE = "execute"
    ADMIN = "admin"
    DELETE = "delete"


class Role(StrEnum):
    VIEWER = "viewer"
    EDITOR = "editor"
    ADMIN = "admin"
    OWNER = "owner"


ACTIONS_OF_ROLE: Mapping[Role, frozenset[Action]] = MappingProxyType(
    {
        Role.VIEWER: frozenset({Action.READ}),
        Role.EDITOR: frozenset({Action.READ, Action.WRITE, Action.EXECUTE}),
        Role.ADMIN: frozenset({Action.READ, Action.WRITE, Action.EXECUTE, Action.ADMIN}),
        Role.OWNER: frozenset(Action),
    }
)


class ReviewerRole(StrEnum):
    """In rising order; `minReviewerRole` compares by place in this list."""

    STANDARD = "standard"
    SENIOR = "senior"
    ADMIN = "admin"

    @property
    def rank(self) -> int:
        return list(ReviewerRole).index(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """An authenticated caller with everything permission checks ask about (contract, section 2).

    `id` is the wire id of `madeBy`; `kind` is `user` or `service`. `project_roles` are the
    roles granted to the principal. `key_project_id` limits everything to one project. `via`
    (`page`, `key` or `command`) and `request_id` are for the audit record.
    """

    workspace_id: UUID
    kind: str
    id: str
    name: str = ""
    is_workspace_admin: bool = False
    project_roles: Mapping[UUID, Role] = field(default_factory=dict)
    reviewer_role: ReviewerRole | None = None
    key_id: UUID | None = None
    key_is_member: bool = False
    key_project_id: UUID | None = None
    key_expires_at: datetime | None = None
    capabilities: frozenset[str] = frozenset()
    via: str = "page"
    request_id: str = ""

    @property
    def principal(self) -> str:
        """`user:<id>` or `service_account:<id>`: the caller as cursors and idempotency keys know it."""
        return f"{'user' if self.kind == 'user' else 'service_account'}:{self.id}"

    def may(self, action: Action, project_id: UUID) -> bool:
        """Whether the caller has `action` on a project of the caller's own workspace."""
        if self.key_project_id is not None and self.key_project_id != project_id:
            return False
        if self.is_workspace_admin and action in ACTIONS_OF_ROLE[Role.ADMIN]:
            return True
        role = self.project_roles.get(project_id)
        return role is not None and action in ACTIONS_OF_ROLE[role]

    @property
    def may_administer_workspace(self) -> bool:
        """`admin` on the workspace: a member key or one limited to a project never has it (2.3)."""
        return self.is_workspace_admin and not self.key_is_member and self.key_project_id is None

    def holds(self, capability: str) -> bool:
        """Whether the caller has a capability: by their key, or as an administrator of the workspace, who has all."""
        return self.may_administer_workspace or capability in self.capabilities

    @property
    def readable_project_ids(self) -> frozenset[UUID] | None:
        """The projects whose rows the caller may read; None when that is the whole workspace."""
        if self.key_project_id is not None:
            return frozenset({self.key_project_id} if self.may(Action.READ, self.key_project_id) else ())
        return None if self.is_workspace_admin else frozenset(self.project_roles)
