"""API keys as callers may see them: administrators all of the workspace's, others their own."""

from uuid import UUID

from django.db.models import Q, QuerySet

from kindgi_site.callers import Caller
from kindgi_site.errors import Code, InvalidError, NotFoundError
from kindgi_site.workspaces.models import ApiKey


def keys_readable_by(caller: Caller, *, principal: str = "") -> QuerySet[ApiKey]:
    """Newest first. `principal` (`user:<id>`, `service_account:<id>`) narrows; InvalidError when it is neither."""
    keys = ApiKey.objects.filter(workspace=caller.workspace_id).order_by("-created_at", "-id")
    if not caller.may_administer_workspace:
        keys = keys.filter(_acting_for(caller.principal))
    return keys.filter(_acting_for(principal)) if principal else keys


def key_readable_by(caller: Caller, key_id: str, *, lock: bool = False) -> ApiKey:
    """NotFoundError `not-found` when there is none, or it is somebody else's."""
    keys = keys_readable_by(caller)
    found = (keys.select_for_update(of=("self",)) if lock else keys).filter(id=_uuid(key_id)).first()
    if found is None:
        raise NotFoundError(Code.NOT_FOUND, "There is no such API key.", id=key_id)
    return found


def _acting_for(principal: str) -> Q:
    """A service without an account is its key, so the key's own id names it too."""
    kind, _, name = principal.partition(":")
    if name and kind == "user":
        return Q(person=_uuid(name))
    if name and kind == "service_account":
        return Q(service=_uuid(name)) | Q(id=_uuid(name), person__isnull=True, service__isnull=True)
    raise InvalidError(Code.BAD_INPUT, "principal is user:<id> or service_account:<id>.", field="principal")


_NOBODY = UUID(int=0)


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        return _NOBODY
