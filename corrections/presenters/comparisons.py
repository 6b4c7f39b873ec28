"""What was called beside what should have been, with the arguments that differ marked."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.utils.safestring import SafeString

from corrections.drafts import CorrectionDraft, ExpectedCall
from corrections.presenters.text import plain
from corrections.presenters.trees import value_html
from corrections.rules.calls import Call
from corrections.rules.pointers import MISSING
from kindgi_site.exact_json import canonical


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument. `got` is None when the nearest call lacks it, `wanted` when any value will do."""

    name: str
    wanted: SafeString | None
    got: SafeString | None
    differs: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """One expectation. `state` is `missing`, `different`, `met`, `forbidden` or `unknown` (no calls are recorded)."""

    tool: str
    state: str
    arguments: list[Argument]


def comparisons(draft: CorrectionDraft, calls: Sequence[Call] | None, raw_url: str) -> list[Comparison]:
    """An entry a call that should, or must not, have been made, against the nearest call of its tool.

    `raw_url` is where the calls can be read whole.
    """
    made = list(calls or [])
    free = list(made)
    wanted = [_wanted(entry, made, free, raw_url) for entry in draft.should_call]
    if calls is None:
        wanted = [replace(comparison, state="unknown") for comparison in wanted]
        return wanted + [Comparison(tool, "unknown", []) for tool in draft.must_not_call]
    return wanted + [
        Comparison(call.tool, "forbidden", _unwanted(call, (), raw_url))
        for tool in dict.fromkeys(draft.must_not_call)
        for call in made
        if call.tool == tool
    ]


def _wanted(entry: ExpectedCall, made: Sequence[Call], free: list[Call], raw_url: str) -> Comparison:
    """Each call stands against one entry, the one that it comes nearest to first come first served."""
    candidates = [call for call in free if call.tool == entry.tool] or [c for c in made if c.tool == entry.tool]
    nearest = min(candidates, key=lambda call: _distance(entry, call), default=None)
    if nearest is None:
        lacking = [_argument(name, value, MISSING, raw_url) for name, value in entry.args.items()]
        return Comparison(entry.tool, "missing", lacking)
    if nearest in free:
        free.remove(nearest)
    got = _arguments_of(nearest)
    arguments = [_argument(name, value, got.get(name, MISSING), raw_url) for name, value in entry.args.items()]
    state = "different" if any(argument.differs for argument in arguments) else "met"
    return Comparison(entry.tool, state, arguments + _unwanted(nearest, entry.args, raw_url))


def _arguments_of(call: Call) -> dict[str, Any]:
    return call.arguments if isinstance(call.arguments, dict) else {}


def _unwanted(call: Call, asked: Collection[str], raw_url: str) -> list[Argument]:
    """What a call had beside the arguments that were asked for."""
    return [
        Argument(plain(name), None, value_html(value, raw_url), differs=False)
        for name, value in _arguments_of(call).items()
        if name not in asked
    ]


def _distance(entry: ExpectedCall, call: Call) -> int:
    got = _arguments_of(call)
    return sum(_differs(value, got.get(name, MISSING)) for name, value in entry.args.items())


def _argument(name: str, wanted: Any, got: Any, raw_url: str) -> Argument:
    return Argument(
        name=plain(name),
        wanted=value_html(wanted, raw_url),
        got=None if got is MISSING else value_html(got, raw_url),
        differs=_differs(wanted, got),
    )


def _differs(wanted: Any, got: Any) -> bool:
    return got is MISSING or canonical(wanted) != canonical(got)
