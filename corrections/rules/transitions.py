"""The life of a correction as one table (contract 8.2): from a state, by an event, to a state.

`docs/status-machine.md` is generated from this table and tests read it; nothing else decides.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from corrections.vocabulary import SortedTo, Status


class Event(StrEnum):
    SORT_TO_IMPROVE = "sort to improve"
    SORT_TO_DEVELOPER = "sort to developer"
    SORT_TO_OWNER = "sort to owner"
    SET_BEING_FIXED = "status being-fixed"
    SET_WITH_OWNER = "status with-owner"
    SET_OPEN = "status open"
    SET_WONT_FIX = "status wont-fix"
    LINK = "link"
    UNLINK = "unlink"
    GRADED_RIGHT = "graded right at the live version"
    GRADED_WRONG = "graded wrong at the live version"
    SHIPPED = "a live change says it fixes it"
    UNREGISTER = "unregister"
    SUPERSEDE = "superseded by the same maker"


class Target(StrEnum):
    """States that depend on the correction."""

    BACK = "back"  # with-owner when it is sorted to the owner, else open
    SAME = "same"


class Marks(StrEnum):
    """What a step does to `fixedIn` and `reopenedIn`."""

    KEEP = "keep"
    CLEAR = "clear"
    FIX = "fix"  # a new fixedIn, reopenedIn gone
    REOPEN = "reopen"  # a new reopenedIn, fixedIn stays


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """One row of the table.

    `owner_guard`: only the agent's owner or an admin of the project. `needs_sorting`: refused
    while unsorted. `only_reopened`: nothing happens unless it was reopened before.
    """

    row: str
    to: Status | Target
    marks: Marks = Marks.KEEP
    owner_guard: bool = False
    needs_sorting: bool = False
    only_reopened: bool = False


_O, _F, _W, _X, _N = Status.OPEN, Status.BEING_FIXED, Status.WITH_OWNER, Status.FIXED, Status.WONT_FIX


def _sorts(row: str, event: Event, to: Status, *, guarded: bool) -> dict[tuple[Status, Event], Transition]:
    return {(state, event): Transition(row=row, to=to, owner_guard=guarded and state == _W) for state in (_O, _W, _F)}


TRANSITIONS: Final[Mapping[tuple[Status, Event], Transition]] = MappingProxyType(
    {
        **_sorts("B1", Event.SORT_TO_IMPROVE, _O, guarded=True),
        **_sorts("B1", Event.SORT_TO_DEVELOPER, _O, guarded=True),
        **_sorts("B2", Event.SORT_TO_OWNER, _W, guarded=False),
        (_O, Event.SET_BEING_FIXED): Transition(row="C1", to=_F, marks=Marks.CLEAR, needs_sorting=True),
        (_W, Event.SET_BEING_FIXED): Transition(row="C2", to=_F, marks=Marks.CLEAR, owner_guard=True),
        (_F, Event.SET_BEING_FIXED): Transition(row="C11", to=Target.SAME, marks=Marks.CLEAR),
        (_O, Event.SET_WITH_OWNER): Transition(row="C3", to=_W, marks=Marks.CLEAR),
        (_F, Event.SET_WITH_OWNER): Transition(row="C3", to=_W, marks=Marks.CLEAR),
        (_N, Event.SET_WITH_OWNER): Transition(row="C3", to=_W, marks=Marks.CLEAR),
        (_W, Event.SET_WITH_OWNER): Transition(row="C11", to=Target.SAME, marks=Marks.CLEAR),
        (_F, Event.SET_OPEN): Transition(row="C4", to=Target.BACK, marks=Marks.CLEAR),
        (_N, Event.SET_OPEN): Transition(row="C4", to=Target.BACK, marks=Marks.CLEAR),
        (_X, Event.SET_OPEN): Transition(row="C6", to=Target.BACK, marks=Marks.CLEAR),
        (_O, Event.SET_OPEN): Transition(row="C11", to=Target.SAME, marks=Marks.CLEAR),
        (_O, Event.SET_WONT_FIX): Transition(row="C7", to=_N, marks=Marks.CLEAR),
        (_F, Event.SET_WONT_FIX): Transition(row="C7", to=_N, marks=Marks.CLEAR),
        (_W, Event.SET_WONT_FIX): Transition(row="C8", to=_N, marks=Marks.CLEAR, owner_guard=True),
        (_N, Event.SET_WONT_FIX): Transition(row="C11", to=Target.SAME, marks=Marks.CLEAR),
        (_O, Event.LINK): Transition(row="D1", to=_F, marks=Marks.CLEAR),
        (_W, Event.LINK): Transition(row="D2", to=_F, marks=Marks.CLEAR, owner_guard=True),
        (_F, Event.LINK): Transition(row="D3", to=Target.SAME),
        (_F, Event.UNLINK): Transition(row="D5", to=Target.BACK),
        **{(state, Event.UNLINK): Transition(row="D6", to=Target.SAME) for state in (_O, _W, _X, _N)},
        **{(state, Event.GRADED_RIGHT): Transition(row="E1", to=_X, marks=Marks.FIX) for state in (_O, _F, _W)},
        (_X, Event.GRADED_WRONG): Transition(row="E2", to=Target.BACK, marks=Marks.REOPEN),
        (_O, Event.GRADED_WRONG): Transition(row="E3", to=Target.SAME, marks=Marks.REOPEN, only_reopened=True),
        (_W, Event.GRADED_WRONG): Transition(row="E3", to=Target.SAME, marks=Marks.REOPEN, only_reopened=True),
        (_O, Event.SHIPPED): Transition(row="decision 3", to=_X, marks=Marks.FIX),
        (_F, Event.SHIPPED): Transition(row="decision 3", to=_X, marks=Marks.FIX),
        (_W, Event.SHIPPED): Transition(row="decision 3", to=_X, marks=Marks.FIX, owner_guard=True),
        **{
            (state, event): Transition(row=row, to=Status.REMOVED)
            for state in (_O, _F, _W, _X, _N)
            for row, event in (("F1", Event.UNREGISTER), ("F2", Event.SUPERSEDE))
        },
    }
)

SORT_EVENTS: Final[Mapping[SortedTo, Event]] = MappingProxyType(
    {
        SortedTo.IMPROVE: Event.SORT_TO_IMPROVE,
        SortedTo.DEVELOPER: Event.SORT_TO_DEVELOPER,
        SortedTo.OWNER: Event.SORT_TO_OWNER,
    }
)
STATUS_EVENTS: Final[Mapping[Status, Event]] = MappingProxyType(
    {
        Status.OPEN: Event.SET_OPEN,
        Status.BEING_FIXED: Event.SET_BEING_FIXED,
        Status.WITH_OWNER: Event.SET_WITH_OWNER,
        Status.WONT_FIX: Event.SET_WONT_FIX,
    }
)
# Where an event would lead, for the refusal's `details.to` where the table has no row.
_WISHED: Final[Mapping[Event, Status]] = MappingProxyType(
    {
        Event.SORT_TO_IMPROVE: _O,
        Event.SORT_TO_DEVELOPER: _O,
        Event.SORT_TO_OWNER: _W,
        Event.SET_BEING_FIXED: _F,
        Event.SET_WITH_OWNER: _W,
        Event.SET_OPEN: _O,
        Event.SET_WONT_FIX: _N,
        Event.LINK: _F,
        Event.UNLINK: _O,
        Event.GRADED_RIGHT: _X,
        Event.GRADED_WRONG: _O,
        Event.SHIPPED: _X,
        Event.UNREGISTER: Status.REMOVED,
        Event.SUPERSEDE: Status.REMOVED,
    }
)


def transition(state: Status, event: Event) -> Transition | None:
    """The table's row, or None where there is none: by hand that is refused, by the server nothing happens."""
    return TRANSITIONS.get((state, event))


def wished_state(event: Event) -> Status:
    return _WISHED[event]


def state_after(row: Transition, state: Status, sorted_to: SortedTo | None) -> Status:
    if row.to == Target.SAME:
        return state
    if row.to == Target.BACK:
        return Status.WITH_OWNER if sorted_to == SortedTo.OWNER else Status.OPEN
    return Status(row.to)
