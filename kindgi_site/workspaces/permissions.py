"""Refusals for want of permission, worded once."""

from uuid import UUID

from kindgi_site.callers import Action, Caller
from kindgi_site.errors import Code, ForbiddenError


def check_project_action(caller: Caller, action: Action, project_id: UUID) -> None:
    """ForbiddenError `permission-denied` unless the caller has `action` on the project."""
    if not caller.may(action, project_id):
        raise project_denied(action, project_id, f"You need the {action} permission on this project.")


def check_workspace_admin(caller: Caller) -> None:
    if not caller.may_administer_workspace:
        raise ForbiddenError(
            Code.PERMISSION_DENIED,
            "Only an administrator of the workspace may do this.",
            action=Action.ADMIN,
            resource={"type": "workspace", "id": str(caller.workspace_id)},
            reason="The caller is not an administrator of the workspace.",
        )


def check_may_read_roster(caller: Caller) -> None:
    """Reviewers know each other, and administrators know them all (contract, section 10)."""
    if caller.reviewer_role is None:
        check_workspace_admin(caller)


def project_denied(
    action: Action, project_id: UUID, reason: str, code: Code = Code.PERMISSION_DENIED
) -> ForbiddenError:
    return ForbiddenError(
        code, reason, action=action, resource={"type": "project", "id": str(project_id)}, reason=reason
    )
