"""Calls wanted against calls made, one to one (decisions 1, 9 and 16 of the contract)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Any

from corrections.drafts import ExpectedCall
from corrections.rules.calls import Call
from corrections.rules.pointers import MISSING, escaped
from kindgi_site.exact_json import JsonText, canonical

MAX_PATHS = 100


class FailureKind(StrEnum):
    MISSING = "missing"
    DIFFERENT = "different"
    FORBIDDEN = "forbidden"
    TOOLS_DIFFER = "tools-differ"


@dataclass(frozen=True, slots=True)
class Difference:
    """A place in the arguments where wanted and got are not equal; MISSING where one has nothing there."""

    path: str
    wanted: Any = MISSING
    got: Any = MISSING

    def wire(self) -> dict[str, Any]:
        said: dict[str, Any] = {"path": self.path}
        if self.wanted is not MISSING:
            said["wanted"] = JsonText.of(self.wanted)
        if self.got is not MISSING:
            said["got"] = JsonText.of(self.got)
        return said


@dataclass(frozen=True, slots=True)
class Failure:
    """`paths` stand against the call of the tool that comes nearest, for `different` only."""

    kind: FailureKind
    tool: str
    paths: tuple[Difference, ...] = ()

    def wire(self) -> dict[str, Any]:
        said: dict[str, Any] = {"kind": self.kind.value, "tool": self.tool}
        return said | ({"paths": [difference.wire() for difference in self.paths]} if self.paths else {})


@dataclass(frozen=True, slots=True)
class WantedCall:
    """An entry of `shouldCall`, ready to be compared many times."""

    tool: str
    args: Mapping[str, Any]
    fields: frozenset[tuple[str, str]]


def wanted_calls(entries: Iterable[ExpectedCall]) -> tuple[WantedCall, ...]:
    return tuple(WantedCall(entry.tool, entry.args, _fields(entry.args, entry.args)) for entry in entries)


def unmet(wanted: Sequence[WantedCall], made: Sequence[Call]) -> list[Failure]:
    """A failure for each entry left over when as many as possible have a call of their own, in the order of entries.

    An entry fits a call of its tool in which each of its fields is there with an equal value; more may be there.
    """
    failures: dict[int, Failure] = {}
    for tool, places in _places_by_tool(wanted).items():
        calls = [call for call in made if call.tool == tool]
        of_tool = _OneTool([wanted[place] for place in places], calls)
        failures |= {places[index]: failure for index, failure in of_tool.failures()}
    return [failures[place] for place in sorted(failures)]


def forbidden(must_not_call: Iterable[str], made: Iterable[Call]) -> list[Failure]:
    """A call that failed was made all the same (decision 4)."""
    called = {call.tool for call in made}
    return [Failure(FailureKind.FORBIDDEN, tool) for tool in dict.fromkeys(must_not_call) if tool in called]


def other_tools(recorded: Iterable[str], made: Iterable[Call]) -> list[Failure]:
    """The tools only one of the two runs called, those of the recorded run first; how often does not count."""
    before, now = dict.fromkeys(recorded), dict.fromkeys(call.tool for call in made)
    differing = [tool for tool in before if tool not in now] + [tool for tool in now if tool not in before]
    return [Failure(FailureKind.TOOLS_DIFFER, tool) for tool in differing]


def differences(wanted: Any, got: Any, path: str = "") -> Iterator[Difference]:
    """Where two parsed values differ, as deep as their objects and lists go along together."""
    if isinstance(wanted, dict) and isinstance(got, dict):
        yield from _differing_fields({**wanted, **got}, wanted, got, path)
    elif isinstance(wanted, list) and isinstance(got, list):
        for index in range(max(len(wanted), len(got))):
            one = wanted[index] if index < len(wanted) else MISSING
            other = got[index] if index < len(got) else MISSING
            yield from differences(one, other, f"{path}/{index}")
    elif wanted is MISSING or got is MISSING or canonical(wanted) != canonical(got):
        yield Difference(path, wanted, got)


def _differing_fields(
    names: Iterable[str], wanted: Mapping[str, Any], got: Mapping[str, Any], path: str
) -> Iterator[Difference]:
    for name in names:
        yield from differences(wanted.get(name, MISSING), got.get(name, MISSING), f"{path}/{escaped(name)}")


def _places_by_tool(wanted: Sequence[WantedCall]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for place, entry in enumerate(wanted):
        places.setdefault(entry.tool, []).append(place)
    return places


def _fields(arguments: Any, names: Iterable[str]) -> frozenset[tuple[str, str]]:
    if not isinstance(arguments, dict):
        return frozenset()
    return frozenset((name, canonical(arguments[name])) for name in names if name in arguments)


class _OneTool:
    """The entries and the calls of one tool."""

    def __init__(self, entries: Sequence[WantedCall], calls: Sequence[Call]) -> None:
        self.entries, self.calls = entries, calls
        names = {name for entry in entries for name in entry.args}
        self.fields = [_fields(call.arguments, names) for call in calls]
        self.taken_by: dict[int, int] = {}

    def failures(self) -> list[tuple[int, Failure]]:
        fitting = [
            [call for call, fields in enumerate(self.fields) if entry.fields <= fields] for entry in self.entries
        ]
        left = [entry for entry in range(len(self.entries)) if not self._placed(entry, fitting, set())]
        return [(entry, self._failure(self.entries[entry], has_fitting=bool(fitting[entry]))) for entry in left]

    def _placed(self, entry: int, fitting: list[list[int]], tried: set[int]) -> bool:
        """Gives the entry a call, moving others to other calls where that makes room (an augmenting path)."""
        for call in fitting[entry]:
            if call not in self.taken_by:
                self.taken_by[call] = entry
                return True
        for call in fitting[entry]:
            if call not in tried:
                tried.add(call)
                if self._placed(self.taken_by[call], fitting, tried):
                    self.taken_by[call] = entry
                    return True
        return False

    def _failure(self, entry: WantedCall, *, has_fitting: bool) -> Failure:
        # A call no entry has taken is the likely attempt at this one. Where there is none, and calls that fit are
        # all taken, the tool was called as asked but not often enough.
        free = [call for call in range(len(self.calls)) if call not in self.taken_by]
        if not self.calls or (has_fitting and not free):
            return Failure(FailureKind.MISSING, entry.tool)
        return Failure(FailureKind.DIFFERENT, entry.tool, self._nearest(entry, free or range(len(self.calls))))

    def _nearest(self, entry: WantedCall, calls: Iterable[int]) -> tuple[Difference, ...]:
        """The differences to the call that has the fewest fields wrong, then the fewest places, then came first."""
        lacking = {call: self._lacking(entry, call) for call in calls}
        fewest = min(lacking.values())
        # Calls equal in all the fields that are asked for differ in the same places: one of them is enough.
        nearest: dict[frozenset[tuple[str, str]], int] = {}
        for call, count in lacking.items():
            if count == fewest:
                nearest.setdefault(self.fields[call], call)
        return min((self._paths(entry, call) for call in nearest.values()), key=len)

    def _lacking(self, entry: WantedCall, call: int) -> tuple[bool, int]:
        return not isinstance(self.calls[call].arguments, dict), len(entry.fields - self.fields[call])

    def _paths(self, entry: WantedCall, call: int) -> tuple[Difference, ...]:
        got = self.calls[call].arguments
        if not isinstance(got, dict):
            return (Difference("", entry.args, got),)
        return tuple(islice(_differing_fields(entry.args, entry.args, got, ""), MAX_PATHS))
