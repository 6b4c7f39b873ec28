"""Erasures and their receipts, for a workspace's administrators."""

from django.db.models import QuerySet

from corrections.models import Erasure
from corrections.queries.corrections import as_uuid
from kindgi_site.callers import Caller
from kindgi_site.errors import Code, NotFoundError
from kindgi_site.workspaces.permissions import check_workspace_admin


def receipts_for(caller: Caller) -> QuerySet[Erasure]:
    """Every receipt, those of single runs too, newest first; ForbiddenError for others than administrators."""
    check_workspace_admin(caller)
    return Erasure.objects.filter(workspace=caller.workspace_id).order_by("-created_at", "-id")


def erasures_for(caller: Caller) -> QuerySet[Erasure]:
    """What `POST /v1/memory/erasures` made, newest first."""
    return receipts_for(caller).exclude(selector_kind="run")


def erasure_for(caller: Caller, erasure_id: str) -> Erasure:
    key = as_uuid(erasure_id)
    found = erasures_for(caller).filter(id=key).first() if key else erasures_for(caller).none().first()
    if found is None:
        raise NotFoundError(Code.NOT_FOUND, "There is no such erasure.", id=erasure_id)
    return found
