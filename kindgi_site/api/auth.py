"""From a bearer token to a Caller (contract 2.1)."""

import logging
import re
from datetime import timedelta

from django.db import DatabaseError
from django.http import HttpRequest

from kindgi_site import clock
from kindgi_site.api.errors import HttpRefusal
from kindgi_site.callers import Caller
from kindgi_site.errors import Code
from kindgi_site.workspaces.models import ApiKey
from kindgi_site.workspaces.queries.callers import caller_of_key, key_by_digest
from kindgi_site.workspaces.services.keys import digest_of

logger = logging.getLogger(__name__)

_BEARER = re.compile(r"bearer +(\S.*)", re.IGNORECASE)
# When a key was last used is kept to the quarter hour: reading must not mean writing.
_USE_RECORDED_EVERY = timedelta(minutes=15)


def authenticate(request: HttpRequest) -> tuple[Caller, ApiKey]:
    """HttpRefusal 401 unless the request carries a key that is known, not revoked, not expired."""
    sent = _BEARER.fullmatch(request.headers.get("Authorization", "").strip())
    key = key_by_digest(digest_of(sent[1])) if sent else None
    if key is None:
        raise HttpRefusal(401, Code.AUTH_MISSING, "Send a valid API key as a bearer token.")
    if key.revoked_at is not None:
        raise HttpRefusal(401, Code.AUTH_REVOKED, "This API key was revoked.")
    if key.expires_at is not None and key.expires_at <= clock.now():
        raise HttpRefusal(401, Code.AUTH_EXPIRED, "This API key has expired.")
    if key.person_id is not None and not key.is_of_member:  # type: ignore[attr-defined]
        raise HttpRefusal(401, Code.AUTH_REVOKED, "The person behind this API key is no longer here.")
    _record_use(key)
    return caller_of_key(key, getattr(request, "request_id", "")), key


def _record_use(key: ApiKey) -> None:
    """A note for administrators: a database that is too busy to take it keeps nobody out."""
    now = clock.now()
    if key.last_used_at is not None and now - key.last_used_at <= _USE_RECORDED_EVERY:
        return
    try:
        ApiKey.objects.filter(id=key.id).update(last_used_at=now)
    except DatabaseError as problem:
        logger.warning("The use of API key %s was not written down: %s", key.id, type(problem).__name__)
