"""Whether an item of a new output is one that a case speaks of (contract 17.2, "Same item?")."""

from collections.abc import Iterable
from typing import Any, Generic, Protocol, TypeVar

from corrections.rules.outputs import Item
from corrections.rules.pointers import MISSING, resolve
from kindgi_site.exact_json import canonical


class SpokenOf(Protocol):
    """What a case says of an item: an added-up sum, or one verdict of its `expect`."""

    @property
    def key(self) -> str: ...
    @property
    def pointer(self) -> str | None: ...


Spoken = TypeVar("Spoken", bound=SpokenOf)


class CaseItems(Generic[Spoken]):
    """The items a case speaks of, by key, beside the output they were seen in."""

    def __init__(self, items: Iterable[Spoken], recorded_output: Any) -> None:
        self._items = {item.key: item for item in items}
        self._output = recorded_output
        self._recorded: dict[str, str | None] = {}

    def same_as(self, item: Item) -> Spoken | None:
        """The case's item with the same key; a key that is only a place holds only for the value seen there."""
        spoken = self._items.get(item.key)
        if spoken is None or item.has_own_key:
            return spoken
        return spoken if self._recorded_at(spoken) == canonical(item.value) else None

    def _recorded_at(self, spoken: Spoken) -> str | None:
        if spoken.key not in self._recorded:
            value = MISSING if spoken.pointer is None else resolve(self._output, spoken.pointer)
            self._recorded[spoken.key] = None if value is MISSING else canonical(value)
        return self._recorded[spoken.key]


def ranked(items: Iterable[Item], most: int | None = None) -> list[Item]:
    """Those with a rank, best first; of equal rank, from several lists, in the order they were found."""
    return sorted((item for item in items if item.rank is not None), key=lambda item: item.rank or 0)[:most]
