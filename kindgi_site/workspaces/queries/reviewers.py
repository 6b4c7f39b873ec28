"""The roster of reviewers, for administrators and for reviewers (contract, section 10)."""

from uuid import UUID

from django.db.models import QuerySet

from kindgi_site.callers import Caller, ReviewerRole
from kindgi_site.errors import Code, InvalidError, NotFoundError
from kindgi_site.workspaces.models import Reviewer


def reviewers_readable_by(caller: Caller, *, role: str = "") -> QuerySet[Reviewer]:
    """Newest first, deactivated ones too; InvalidError for an unknown role. Who may read it is for permissions."""
    reviewers = Reviewer.objects.filter(workspace=caller.workspace_id).order_by("-created_at", "-id")
    if not role:
        return reviewers
    if role not in set(ReviewerRole):
        raise InvalidError(Code.BAD_INPUT, f"role is one of {', '.join(ReviewerRole)}.", field="role")
    return reviewers.filter(role=role)


def reviewer_readable_by(caller: Caller, reviewer_id: str) -> Reviewer:
    return one_of(reviewers_readable_by(caller), reviewer_id)


def one_of(reviewers: QuerySet[Reviewer], reviewer_id: str) -> Reviewer:
    """NotFoundError `reviewer-not-found` when the id names none of them."""
    try:
        found = reviewers.filter(id=UUID(reviewer_id)).first()
    except ValueError:
        found = None
    if found is None:
        raise NotFoundError(Code.REVIEWER_NOT_FOUND, "There is no such reviewer.", reviewerId=reviewer_id)
    return found
