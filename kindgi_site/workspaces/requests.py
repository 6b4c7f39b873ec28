"""A request at a page of a workspace."""

from kindgi_site.callers import Caller
from kindgi_site.pages import HtmxRequest
from kindgi_site.workspaces.models import Membership


class PageRequest(HtmxRequest):
    """Set by SignedInMiddleware."""

    caller: Caller
    membership: Membership
