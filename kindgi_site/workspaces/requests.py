"""A request at a page of a workspace."""

from django.http import HttpRequest

from kindgi_site.callers import Caller
from kindgi_site.pages import HtmxRequest
from kindgi_site.workspaces.models import Membership
from kindgi_site.workspaces.queries.callers import caller_of_membership, memberships_of

WORKSPACE_SESSION_KEY = "workspace"


class PageRequest(HtmxRequest):
    """Set by SignedInMiddleware."""

    caller: Caller
    membership: Membership


def open_workspace(request: HttpRequest) -> bool:
    """Set `caller` and `membership` for the person signed in; False when they are a member of nothing.

    The workspace is the one chosen in this session, else that of the oldest membership.
    """
    memberships = list(memberships_of(request.user))  # type: ignore[arg-type]
    chosen = request.session.get(WORKSPACE_SESSION_KEY)
    request.memberships = memberships  # type: ignore[attr-defined]
    if not memberships:
        return False
    membership = next((m for m in memberships if str(m.workspace_id) == chosen), memberships[0])
    request.membership = membership  # type: ignore[attr-defined]
    request.caller = caller_of_membership(membership, request.request_id)  # type: ignore[attr-defined]
    return True
