"""Idempotency-Key: one request's work is done once, and a retry gets the same answer (contract, section 6).

The hold is committed on its own before the work, so that a second request sees it; the work, the
stored answer and the end of the hold then commit together (decision 8).
"""

import hashlib
import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import DatabaseError, IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from psycopg_pool import PoolTimeout

from kindgi_site import clock
from kindgi_site.api.errors import RETRY_SECONDS, HttpRefusal
from kindgi_site.callers import Caller
from kindgi_site.clock import wire_time
from kindgi_site.errors import Code, ConflictError, InvalidError
from kindgi_site.keys import new_id
from kindgi_site.workspaces.models import IdempotencyRecord
from kindgi_site.workspaces.services.idempotency import FORGOTTEN_AT_ONCE, forget_expired

logger = logging.getLogger(__name__)

MAX_KEY = 255
HOLD = timedelta(seconds=30)
KEPT = timedelta(hours=24)
_FORGETS_EVERY = timedelta(minutes=15)
_forgot_at = clock.now()
METHODS = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_BODILESS = frozenset({204, 205, 304})
_ATTEMPTS = 5

Prepare = Callable[[Callable[[], None]], None]


def answered_once(
    request: HttpRequest, caller: Caller, body: bytes, prepare: Prepare, work: Callable[[], HttpResponse]
) -> HttpResponse:
    """The answer of `work`, or the stored answer of the request that came first with this key.

    `prepare` comes first, outside any transaction, for what may take long; it is given a function to
    call every ten seconds or so, which keeps the key held. `work` runs in a transaction here; what
    either raises rolls back and releases the key. A response with a true `is_secret` is stored
    without its body. Refuses with `idempotency-key-…` conflicts, `bad-input` for a key that is too
    long, or 503 when the store cannot be read, before anything ran.
    """
    key = request.headers.get("Idempotency-Key", "")
    if request.method not in METHODS or not key:
        prepare(lambda: None)
        return work()
    if len(key) > MAX_KEY:
        raise InvalidError(Code.BAD_INPUT, f"An Idempotency-Key has at most {MAX_KEY} characters.")
    scope = _scope(request, caller, key)
    fingerprint = hashlib.sha256(body).hexdigest()
    try:
        stored, holder = _found_or_held(scope, fingerprint, caller)
    except (DatabaseError, PoolTimeout):
        raise HttpRefusal(
            503,
            Code.IDEMPOTENCY_STORE_UNAVAILABLE,
            "The idempotency store cannot be reached. Nothing was done; try again.",
            retry_after=RETRY_SECONDS,
        ) from None
    if stored is not None:
        return _replay(stored)
    response = _work_under_hold(scope, holder, prepare, work)
    _forget_now_and_then()
    return response


def _scope(request: HttpRequest, caller: Caller, key: str) -> str:
    parts = (str(caller.workspace_id), caller.principal, request.method or "", request.path, key)
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _found_or_held(scope: str, fingerprint: str, caller: Caller) -> tuple[IdempotencyRecord | None, UUID]:
    """The stored record to replay, or a hold of our own. Refuses another body or a request at work."""
    holder = new_id()
    for _attempt in range(_ATTEMPTS):
        now = clock.now()
        record = IdempotencyRecord.objects.filter(scope=scope).first()
        if record is None:
            if _insert_hold(scope, fingerprint, caller, holder, now):
                return None, holder
        elif record.expires_at <= now:
            if _take_over(record, fingerprint, holder, now):
                return None, holder
        else:
            _check_usable(record, fingerprint)
            return record, holder
    raise _in_flight()


def _insert_hold(scope: str, fingerprint: str, caller: Caller, holder: UUID, now: datetime) -> bool:
    try:
        with transaction.atomic():
            IdempotencyRecord.objects.create(
                scope=scope,
                workspace_id=caller.workspace_id,
                fingerprint=fingerprint,
                holder=holder,
                created_at=now,
                expires_at=now + HOLD,
            )
    except IntegrityError:
        return False
    return True


def _take_over(record: IdempotencyRecord, fingerprint: str, holder: UUID, now: datetime) -> bool:
    """Replace an expired answer, or the hold of a request that crashed."""
    same = IdempotencyRecord.objects.filter(scope=record.scope, holder=record.holder, expires_at=record.expires_at)
    taken = same.update(
        fingerprint=fingerprint,
        holder=holder,
        status=None,
        content_type="",
        body=None,
        withheld=False,
        created_at=now,
        expires_at=now + HOLD,
    )
    return bool(taken)


def _check_usable(record: IdempotencyRecord, fingerprint: str) -> None:
    if record.fingerprint != fingerprint:
        raise ConflictError(Code.IDEMPOTENCY_KEY_BODY_MISMATCH, "This Idempotency-Key was used with another body.")
    if record.status is None:
        raise _in_flight()
    if record.withheld:
        raise ConflictError(
            Code.IDEMPOTENCY_KEY_REPLAY_WITHHELD,
            "The first answer to this Idempotency-Key is not shown again.",
            status=record.status,
            at=wire_time(record.created_at),
        )


def _in_flight() -> HttpRefusal:
    return HttpRefusal(
        409,
        Code.IDEMPOTENCY_KEY_IN_FLIGHT,
        "A request with this Idempotency-Key is being worked on.",
        retry_after=RETRY_SECONDS,
    )


def _replay(record: IdempotencyRecord) -> HttpResponse:
    response = HttpResponse(bytes(record.body or b""), status=record.status)
    if record.status in _BODILESS or not record.content_type:
        del response["Content-Type"]
    else:
        response["Content-Type"] = record.content_type
    response["X-Idempotent-Replay"] = "true"
    return response


def _work_under_hold(scope: str, holder: UUID, prepare: Prepare, work: Callable[[], HttpResponse]) -> HttpResponse:
    try:
        prepare(lambda: _renew(scope, holder))
        with transaction.atomic():
            response = work()
            if response.status_code < 400:
                _store(scope, holder, response)
            else:
                transaction.set_rollback(True)
    except BaseException:
        _release(scope, holder)
        raise
    if response.status_code >= 400:
        _release(scope, holder)
    return response


def _renew(scope: str, holder: UUID) -> None:
    """Another thirty seconds. A hold that lapsed and went to a retry is the retry's."""
    held = IdempotencyRecord.objects.filter(scope=scope, holder=holder, status__isnull=True)
    if not held.update(expires_at=clock.now() + HOLD):
        raise _in_flight()


def _store(scope: str, holder: UUID, response: HttpResponse) -> None:
    """Turn the hold into the answer. A hold that lapsed and went to a retry means: our work must not count."""
    now = clock.now()
    is_secret = getattr(response, "is_secret", False)
    stored: dict[str, Any] = {
        "status": response.status_code,
        "content_type": response.headers.get("Content-Type", ""),
        "body": None if is_secret else bytes(response.content),
        "withheld": is_secret,
        "created_at": now,
        "expires_at": now + KEPT,
    }
    if not IdempotencyRecord.objects.filter(scope=scope, holder=holder, status__isnull=True).update(**stored):
        raise _in_flight()


def _release(scope: str, holder: UUID) -> None:
    IdempotencyRecord.objects.filter(scope=scope, holder=holder, status__isnull=True).delete()


def _forget_now_and_then() -> None:
    """An answer is kept for a day, not for ever. The request's own work is done: nothing here may fail it."""
    global _forgot_at  # noqa: PLW0603 - one moment a process
    if clock.now() - _forgot_at < _FORGETS_EVERY:
        return
    try:
        if forget_expired() == FORGOTTEN_AT_ONCE:
            return  # there is more, for the next request
    except DatabaseError as problem:
        logger.warning("Expired idempotent answers were not deleted: %s", type(problem).__name__)
    _forgot_at = clock.now()
