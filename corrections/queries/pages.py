"""Pages of rows newest first, cut by key: for every list that people turn the pages of."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db.models import Model, QuerySet

from corrections.queries.corrections import as_uuid

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a row stands among rows newest first: what pages are cut by."""

    created_at: datetime
    id: UUID

    @classmethod
    def of(cls, row: Any) -> "Place":
        """Of a row with `created_at` and `id`."""
        return cls(row.created_at, row.id)

    @classmethod
    def read(cls, text: str) -> "Place | None":
        """From `<milliseconds>_<id>`; None for anything else."""
        moment, _underscore, name = text.partition("_")
        key = as_uuid(name)
        if key is None or not moment.isdecimal() or len(moment) > 14:
            return None
        return cls(datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=int(moment)), key)

    def __str__(self) -> str:
        return f"{round(self.created_at.timestamp() * 1000)}_{self.id}"


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """Rows, and the places that the next newer and older pages start from; None where there is no such page."""

    rows: list[Row]
    newer: Place | None
    older: Place | None


def page_of(rows: QuerySet[Row], *, size: int, before: Place | None = None, after: Place | None = None) -> Page[Row]:
    """One page of rows ordered newest first: those older than `before`, else those just newer than `after`."""
    if after is not None and before is None:
        found = list(_newer(rows, after)[: size + 1])
        shown = found[:size][::-1]
        return Page(shown, _first(shown) if len(found) > size else None, _last(shown))
    found = list((_older(rows, before) if before else rows)[: size + 1])
    shown = found[:size]
    return Page(shown, _first(shown) if before else None, _last(shown) if len(found) > size else None)


def page_at(query: Mapping[str, Any], rows: QuerySet[Row], size: int) -> Page[Row]:
    """The page that an address asks for by `before` or `after`; a place that is none counts as left out."""
    before, after = Place.read(query.get("before", "")), Place.read(query.get("after", ""))
    return page_of(rows, size=size, before=before, after=after)


def neighbours(rows: QuerySet[Row], row: Row) -> tuple[Row | None, Row | None]:
    """(the next newer, the next older) of a row among rows that need not hold it."""
    place = Place.of(row)
    return _newer(rows, place).first(), _older(rows, place).first()


def _older(rows: QuerySet[Row], place: Place) -> QuerySet[Row]:
    # The second condition is what the index is walked by; the first says where the walk starts.
    return rows.filter(created_at__lte=place.created_at).exclude(created_at=place.created_at, id__gte=place.id)


def _newer(rows: QuerySet[Row], place: Place) -> QuerySet[Row]:
    newer = rows.filter(created_at__gte=place.created_at).exclude(created_at=place.created_at, id__lte=place.id)
    return newer.order_by("created_at", "id")


def _first(rows: list[Row]) -> Place | None:
    return Place.of(rows[0]) if rows else None


def _last(rows: list[Row]) -> Place | None:
    return Place.of(rows[-1]) if rows else None
