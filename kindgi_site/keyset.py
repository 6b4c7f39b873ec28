"""Pages of rows cut by key, newest first or by name: for every list that people turn the pages of."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db.models import Model, QuerySet

from kindgi_site.exact_json import is_storable
from kindgi_site.keys import as_uuid

Row = TypeVar("Row", bound=Model)
Shown = TypeVar("Shown")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a row stands in a list, a moment or a name and then the id: what pages are cut by."""

    key: datetime | str
    id: UUID

    @classmethod
    def of(cls, row: Any) -> "Place":
        """Of a row with `created_at` and `id`, in a list newest first."""
        return NEWEST_FIRST.place_of(row)

    @classmethod
    def read(cls, text: str) -> "Place | None":
        """From `<milliseconds>_<id>`, in a list newest first; None for anything else."""
        return NEWEST_FIRST.read(text)

    def __str__(self) -> str:
        """A name may hold anything: an address takes it quoted."""
        key = self.key if isinstance(self.key, str) else round(self.key.timestamp() * 1000)
        return f"{key}_{self.id}"


@dataclass(frozen=True, slots=True)
class Order:
    """What the rows of a list are ordered by, before their ids: moments downwards, or names upwards."""

    column: str
    is_by_name: bool

    def place_of(self, row: Any) -> Place:
        key = row
        for name in self.column.split("__"):
            key = getattr(key, name)
        return Place(key, row.id)

    def read(self, text: str) -> Place | None:
        """A place as it is written in an address; None for anything else."""
        said, _underscore, name = text.rpartition("_")
        key = as_uuid(name)
        if key is None:
            return None
        if self.is_by_name:
            return Place(said, key) if is_storable(said) else None
        if not said.isdecimal() or len(said) > 14:
            return None
        return Place(datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=int(said)), key)

    def onwards(self, rows: QuerySet[Row], place: Place) -> QuerySet[Row]:
        """The rows that follow a place, in their order."""
        return self._beyond(rows, place, "gt" if self.is_by_name else "lt")

    def backwards(self, rows: QuerySet[Row], place: Place) -> QuerySet[Row]:
        """The rows ahead of a place, the nearest first."""
        ahead = self._beyond(rows, place, "lt" if self.is_by_name else "gt")
        return ahead.order_by(f"-{self.column}", "-id") if self.is_by_name else ahead.order_by(self.column, "id")

    def _beyond(self, rows: QuerySet[Row], place: Place, side: str) -> QuerySet[Row]:
        # The second condition is what the index is walked by; the first says where the walk starts.
        other = "lte" if side == "gt" else "gte"
        kept = rows.filter(**{f"{self.column}__{side}e": place.key})
        return kept.exclude(**{self.column: place.key, f"id__{other}": place.id})


NEWEST_FIRST = Order("created_at", is_by_name=False)


def by_name(column: str) -> Order:
    return Order(column, is_by_name=True)


@dataclass(frozen=True, slots=True)
class Page(Generic[Shown]):
    """Rows, and the places that the pages before and after it are cut at; None where there is no such page."""

    rows: list[Shown]
    previous: Place | None
    next: Place | None


def cut(
    fetch: Callable[[Place | None, bool], list[Shown]],
    *,
    size: int,
    ahead: Place | None,
    behind: Place | None,
    place_of: Callable[[Shown], Place],
) -> Page[Shown]:
    """The page that follows `ahead`, else the one that ends before `behind`, else the first.

    `fetch` gives one row more than a page from a place on or, when told so, backwards.
    """
    is_backwards = behind is not None and ahead is None
    found = fetch(behind if is_backwards else ahead, is_backwards)
    shown = found[:size][::-1] if is_backwards else found[:size]
    first, last = (place_of(shown[0]), place_of(shown[-1])) if shown else (None, None)
    has_more = len(found) > size
    if is_backwards:
        return Page(shown, first if has_more else None, last)
    return Page(shown, first if ahead else None, last if has_more else None)


def page_of(
    rows: QuerySet[Row],
    *,
    size: int,
    before: Place | None = None,
    after: Place | None = None,
    order: Order = NEWEST_FIRST,
) -> Page[Row]:
    """One page of rows that stand in `order`: those just older than `before` or newer than `after`; of names those
    just after or before it."""

    def fetch(place: Place | None, is_backwards: bool) -> list[Row]:  # noqa: FBT001 - as `cut` calls it
        if place is None:
            return list(rows[: size + 1])
        return list((order.backwards if is_backwards else order.onwards)(rows, place)[: size + 1])

    ahead, behind = (after, before) if order.is_by_name else (before, after)
    return cut(fetch, size=size, ahead=ahead, behind=behind, place_of=order.place_of)


def page_at(query: Mapping[str, Any], rows: QuerySet[Row], size: int, order: Order = NEWEST_FIRST) -> Page[Row]:
    """The page that an address asks for by `before` or `after`; a place that is none counts as left out."""
    before, after = order.read(query.get("before", "")), order.read(query.get("after", ""))
    return page_of(rows, size=size, before=before, after=after, order=order)


def neighbours(rows: QuerySet[Row], row: Row) -> tuple[Row | None, Row | None]:
    """(the next newer, the next older) of a row among rows that need not hold it."""
    place = NEWEST_FIRST.place_of(row)
    return NEWEST_FIRST.backwards(rows, place).first(), NEWEST_FIRST.onwards(rows, place).first()
