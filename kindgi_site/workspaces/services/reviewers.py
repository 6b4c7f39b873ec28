"""Who reviews, and with which standing (contract, section 10)."""

from uuid import UUID

from django.db import transaction

from kindgi_site.callers import Caller, ReviewerRole
from kindgi_site.errors import Code, NotFoundError
from kindgi_site.workspaces.models import Person, Reviewer, Workspace
from kindgi_site.workspaces.permissions import check_workspace_admin
from kindgi_site.workspaces.queries.reviewers import one_of
from kindgi_site.workspaces.services.audit import record_write
from kindgi_site.workspaces.services.people import deactivate_reviewer, set_reviewer_role


@transaction.atomic
def register_reviewer(
    *, caller: Caller, person_id: UUID, role: ReviewerRole, display_name: str | None = None
) -> Reviewer:
    """Put a member on the roster, or change their role and name there."""
    check_workspace_admin(caller)
    person = Person.objects.filter(id=person_id, memberships__workspace=caller.workspace_id).first()
    if person is None:
        raise NotFoundError(Code.PRINCIPAL_NOT_FOUND, "There is no such person here.", userId=str(person_id))
    workspace = Workspace.objects.get(id=caller.workspace_id)
    reviewer = set_reviewer_role(workspace=workspace, person=person, role=role, display_name=display_name)
    record_write(caller, "reviewers.register", "reviewer", reviewer.id, ["role", "displayName"])
    return reviewer


@transaction.atomic
def unregister_reviewer(*, caller: Caller, reviewer_id: str) -> Reviewer:
    """Deactivate a reviewer; once more changes nothing."""
    check_workspace_admin(caller)
    reviewer = one_of(Reviewer.objects.select_for_update().filter(workspace=caller.workspace_id), reviewer_id)
    if reviewer.deactivated_at is None:
        deactivate_reviewer(reviewer=reviewer)
        record_write(caller, "reviewers.unregister", "reviewer", reviewer.id, ["deactivatedAt"])
    return reviewer
