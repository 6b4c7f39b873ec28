"""What a new output did with the items a case speaks of (contract 17.5, `changes`)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from corrections.rules.outputs import Item
from corrections.rules.weights import ItemSum
from testsets.rules.items import CaseItems


@dataclass(frozen=True, slots=True)
class Kept:
    key: str
    rank_before: int | None
    rank: int | None

    def wire(self) -> dict[str, Any]:
        return _without_none(key=self.key, rankBefore=self.rank_before, rank=self.rank)


@dataclass(frozen=True, slots=True)
class Dropped:
    key: str
    rank_before: int | None

    def wire(self) -> dict[str, Any]:
        return _without_none(key=self.key, rankBefore=self.rank_before)


@dataclass(frozen=True, slots=True)
class New:
    key: str
    pointer: str
    rank: int | None

    def wire(self) -> dict[str, Any]:
        return _without_none(key=self.key, pointer=self.pointer, rank=self.rank)


@dataclass(frozen=True, slots=True)
class Changes:
    """The case's items that the output still has, those it has no more, and items the case says nothing of."""

    kept: tuple[Kept, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    new: tuple[New, ...] = ()

    def wire(self) -> dict[str, Any]:
        return {
            "kept": [kept.wire() for kept in self.kept],
            "dropped": [dropped.wire() for dropped in self.dropped],
            "new": [new.wire() for new in self.new],
        }


def changes(sums: Sequence[ItemSum], case_items: CaseItems[ItemSum], output_items: Sequence[Item]) -> Changes:
    found = [(item, case_items.same_as(item)) for item in output_items]
    still_there = {spoken.key for _, spoken in found if spoken is not None}
    return Changes(
        kept=tuple(Kept(spoken.key, spoken.rank, item.rank) for item, spoken in found if spoken is not None),
        dropped=tuple(Dropped(spoken.key, spoken.rank) for spoken in sums if spoken.key not in still_there),
        new=tuple(New(item.key, item.pointer, item.rank) for item, spoken in found if spoken is None),
    )


def _without_none(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
