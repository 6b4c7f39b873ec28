"""Make, change and retire corrector groups (contract 9.2)."""

from dataclasses import fields
from uuid import UUID

from django.db import transaction

from corrections.drafts import AssertableBy, GroupChange, GroupDraft, Unsaid
from corrections.models import CorrectorGroup
from corrections.queries.groups import group_not_found, group_readable_by
from corrections.rules.groups import check_change, check_group
from kindgi_site import clock
from kindgi_site.callers import Action, Caller
from kindgi_site.errors import Code, ConflictError
from kindgi_site.workspaces.models import Project, Workspace
from kindgi_site.workspaces.permissions import check_project_action, check_workspace_admin
from kindgi_site.workspaces.queries.projects import project_in_workspace
from kindgi_site.workspaces.services.audit import record_write


@transaction.atomic
def create_group(*, caller: Caller, draft: GroupDraft) -> CorrectorGroup:
    """A new group in its scope. Holds the row of the scope, so that a name is given once there."""
    check_group(draft)
    if draft.project_id is not None:
        project_in_workspace(caller.workspace_id, draft.project_id)
    _check_may_administer(caller, draft.project_id)
    _lock_scope(caller.workspace_id, draft.project_id)
    check_name_free(workspace_id=caller.workspace_id, draft=draft)

    group = CorrectorGroup(
        workspace_id=caller.workspace_id,
        scope_kind=draft.scope_kind,
        project_id=draft.project_id,
        agent_id=draft.agent_id,
        name=draft.name,
        weight=draft.weight,
        description=draft.description,
    )
    group.updated_at = group.created_at
    _restrict(group, draft.assertable_by)
    group.save(force_insert=True)
    record_write(caller, "corrector-groups.create", "corrector-group", group.id)
    return group


@transaction.atomic
def change_group(*, caller: Caller, group_id: str, change: GroupChange) -> CorrectorGroup:
    """Change a live group's weight, description or restriction, never its name or scope.

    Corrections made before keep their `expert`; test sets built before keep their weights.
    """
    check_change(change)
    group = _locked_live(caller, group_id)
    if change.weight is not None:
        group.weight = change.weight
    if change.description is not None:
        group.description = change.description
    if not isinstance(change.assertable_by, Unsaid):
        _restrict(group, change.assertable_by)
    group.updated_at = clock.now()
    group.save()
    record_write(caller, "corrector-groups.update", "corrector-group", group.id, _fields_said(change))
    return group


@transaction.atomic
def retire_group(*, caller: Caller, group_id: str) -> CorrectorGroup:
    """From now on nobody speaks for the group and its name is free; what was said under it stays."""
    group = _locked_live(caller, group_id)
    group.unregistered_at = group.updated_at = clock.now()
    group.save(update_fields=["unregistered_at", "updated_at"])
    record_write(caller, "corrector-groups.unregister", "corrector-group", group.id)
    return group


def check_name_free(*, workspace_id: UUID, draft: GroupDraft) -> None:
    """ConflictError `corrector-group-name-taken` when a live group of exactly this scope has the name."""
    taken = CorrectorGroup.objects.filter(
        workspace=workspace_id,
        scope_kind=draft.scope_kind,
        project=draft.project_id,
        agent_id=draft.agent_id,
        name=draft.name,
        unregistered_at__isnull=True,
    )
    if taken.exists():
        raise ConflictError(
            Code.CORRECTOR_GROUP_NAME_TAKEN, "There is a corrector group of this name already.", name=draft.name
        )


def _locked_live(caller: Caller, group_id: str) -> CorrectorGroup:
    group = group_readable_by(caller, group_id, lock=True)
    if group.unregistered_at is not None:
        raise group_not_found(group_id)
    _check_may_administer(caller, group.project_id)
    return group


def may_administer_group(caller: Caller, group: CorrectorGroup) -> bool:
    """`admin` on the group's scope."""
    if group.project_id is None:
        return caller.may_administer_workspace
    return caller.may(Action.ADMIN, group.project_id)


def _check_may_administer(caller: Caller, project_id: UUID | None) -> None:
    if project_id is None:
        check_workspace_admin(caller)
    else:
        check_project_action(caller, Action.ADMIN, project_id)


def _lock_scope(workspace_id: UUID, project_id: UUID | None) -> None:
    """Not against rows that only point at the scope's row, such as runs handed in at this moment."""
    if project_id is None:
        Workspace.objects.select_for_update(no_key=True).get(id=workspace_id)
    else:
        Project.objects.select_for_update(no_key=True).get(id=project_id)


def _fields_said(change: GroupChange) -> list[str]:
    nothing = GroupChange()
    return [each.name for each in fields(change) if getattr(change, each.name) != getattr(nothing, each.name)]


def _restrict(group: CorrectorGroup, restriction: AssertableBy | None) -> None:
    wanted = restriction or AssertableBy()
    group.min_reviewer_role = wanted.min_reviewer_role or ""
    group.principal_kinds = list(wanted.principal_kinds)
    group.principal_ids = list(wanted.principal_ids)
