"""Pages by key, and the sealed cursors between them (contract, section 5)."""

import base64
import hashlib
import os
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import orjson
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest

from kindgi_site.callers import Caller
from kindgi_site.errors import Code, InvalidError

DEFAULT_LIMIT = 25
MAX_LIMIT = 100
VALID_SECONDS = 24 * 60 * 60
FUTURE_SECONDS = 60
_NONCE_BYTES = 12
_LEADING_DIGITS = re.compile(r"\s*\+?([0-9]+)")

Row = TypeVar("Row", bound=Model)
Position = list[str]


def limit_of(text: str | None) -> int:
    """A page's size: clamped, never an error."""
    digits = _LEADING_DIGITS.match(text or "")
    wanted = int(digits[1].lstrip("0")[:9] or 0) if digits else 0
    return DEFAULT_LIMIT if wanted < 1 else min(wanted, MAX_LIMIT)


@dataclass(frozen=True, slots=True)
class CursorPlace:
    """What a cursor is bound to: this list, with these filters, for this caller."""

    caller: Caller
    path: str
    query: str

    @property
    def associated(self) -> bytes:
        filters = sorted(pair for pair in parse_qsl(self.query, keep_blank_values=True) if pair[0] not in _UNBOUND)
        return orjson.dumps([str(self.caller.workspace_id), self.caller.principal, self.path, filters])

    @classmethod
    def of(cls, request: HttpRequest, caller: Caller) -> "CursorPlace":
        return cls(caller, request.path, request.META.get("QUERY_STRING", ""))


_UNBOUND = frozenset({"cursor", "limit"})


def seal(position: Position, place: CursorPlace, *, at: float | None = None) -> str:
    """A cursor that points after a position; `at`: the time it is issued, now unless said."""
    key_id, cipher = next(iter(_ciphers().items()))
    nonce = os.urandom(_NONCE_BYTES)
    inside = orjson.dumps([_milliseconds(at), *position])
    return ".".join(("k1", key_id, _encoded(nonce), _encoded(cipher.encrypt(nonce, inside, place.associated))))


def open_cursor(text: str, place: CursorPlace, *, at: float | None = None) -> Position:
    """The position in a cursor; InvalidError `bad-input` when it is not for this list, or no longer valid."""
    parts = text.split(".")
    if len(parts) != 4 or parts[0] != "k1":
        raise _refused("This is not a cursor of this server.")
    cipher = _ciphers().get(parts[1])
    if cipher is None:
        raise _refused("This cursor was sealed with a key this server no longer holds.")
    try:
        inside = orjson.loads(cipher.decrypt(_decoded(parts[2]), _decoded(parts[3]), place.associated))
    except (InvalidTag, ValueError):
        raise _refused("This cursor is for another list, other filters or another caller.") from None
    age = _milliseconds(at) - inside[0]
    if age > VALID_SECONDS * 1000 or age < -FUTURE_SECONDS * 1000:
        raise _refused("This cursor has expired.")
    return list(inside[1:])


def _milliseconds(at: float | None) -> int:
    """Whole, so that two cursors to one row have one length: HEAD tells the length of GET."""
    return round((time.time() if at is None else at) * 1000)


@dataclass(frozen=True, slots=True)
class Paging:
    """The page a request asks for: how many rows, after which position."""

    limit: int
    after: Position | None
    place: CursorPlace

    def page(
        self, rows: Sequence[Any], wire: Callable[[Any], Any], position: Callable[[Any], Position]
    ) -> dict[str, Any]:
        """The answer for up to `limit + 1` rows from the position on."""
        shown = rows[: self.limit]
        answer: dict[str, Any] = {"data": [wire(row) for row in shown], "hasMore": len(rows) > self.limit}
        if answer["hasMore"]:
            answer["nextCursor"] = seal(position(shown[-1]), self.place)
        return answer

    def newest_first(
        self, queryset: QuerySet[Row], wire: Callable[[Row], Any], *, time_field: str = "created_at"
    ) -> dict[str, Any]:
        """A page of a queryset ordered by a time descending, then id descending."""
        if self.after is not None:
            queryset = queryset.filter(_older(time_field, self.after))
        rows = list(queryset.order_by(f"-{time_field}", "-id")[: self.limit + 1])
        return self.page(rows, wire, lambda row: time_place(getattr(row, time_field), row.pk))

    def oldest(self, queryset: QuerySet[Row], *, time_field: str, id_field: str) -> list[Row]:
        """Up to `limit + 1` rows of a queryset ordered by a time, then an id, for `page` and `time_place`."""
        if self.after is not None:
            at, row_id = _time_and_id(self.after)
            later = Q(**{f"{time_field}__gt": at}) | Q(**{f"{id_field}__gt": row_id})
            queryset = queryset.filter(Q(**{f"{time_field}__gte": at}) & later)
        return list(queryset.order_by(time_field, id_field)[: self.limit + 1])

    def highest(self, queryset: QuerySet[Row], *, number_field: str) -> list[Row]:
        """Up to `limit + 1` rows of a queryset ordered by a number descending; a row's position is the number."""
        if self.after is not None:
            queryset = queryset.filter(**{f"{number_field}__lt": _number(self.after)})
        return list(queryset.order_by(f"-{number_field}")[: self.limit + 1])


def time_place(at: datetime, row_id: object) -> Position:
    """The position of a row in an order of time."""
    return [at.isoformat(), str(row_id)]


def _older(time_field: str, after: Position) -> Q:
    at, row_id = _time_and_id(after)
    # The first condition alone lets an index on the time be used as a range.
    return Q(**{f"{time_field}__lte": at}) & (Q(**{f"{time_field}__lt": at}) | Q(id__lt=row_id))


def _time_and_id(after: Position) -> tuple[datetime, str]:
    try:
        return datetime.fromisoformat(after[0]), after[1]
    except (ValueError, IndexError):
        raise _refused("This cursor is for another list.") from None


def _number(after: Position) -> int:
    try:
        return int(after[0])
    except (ValueError, IndexError):
        raise _refused("This cursor is for another list.") from None


def _refused(why: str) -> InvalidError:
    return InvalidError(Code.BAD_INPUT, f"{why} Start again without a cursor.", field="cursor")


def _ciphers() -> dict[str, AESGCM]:
    return _ciphers_of(tuple(settings.CURSOR_KEYS))


@cache
def _ciphers_of(secrets: tuple[str, ...]) -> dict[str, AESGCM]:
    ciphers = {}
    for secret in secrets:
        key = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"kindgi cursor").derive(secret.encode())
        ciphers[hashlib.sha256(key).hexdigest()[:8]] = AESGCM(key)
    return ciphers


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decoded(text: str) -> bytes:
    if not re.fullmatch(r"[A-Za-z0-9_-]+", text):
        raise ValueError(text)
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if _encoded(data) != text:  # the last character has bits to spare: no second spelling of a cursor
        raise ValueError(text)
    return data
