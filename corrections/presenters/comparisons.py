"""What was called beside what should have been, with the arguments that differ marked."""

from collections.abc import Sequence
from dataclasses import dataclass
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
    """One argument of a call that should have been made; `got` is None when the nearest call lacks it."""

    name: str
    wanted: SafeString
    got: SafeString | None
    differs: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """One expectation. `state` is `missing`, `different`, `met` or `forbidden`."""

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
    called = {call.tool for call in made}
    never = [Comparison(tool, "forbidden", []) for tool in draft.must_not_call if tool in called or calls is None]
    return wanted + never


def _wanted(entry: ExpectedCall, made: Sequence[Call], free: list[Call], raw_url: str) -> Comparison:
    """Each call stands against one entry, the one that it comes nearest to first come first served."""
    candidates = [call for call in free if call.tool == entry.tool] or [c for c in made if c.tool == entry.tool]
    nearest = min(candidates, key=lambda call: _distance(entry, call), default=None)
    if nearest is None:
        lacking = [_argument(name, value, MISSING, raw_url) for name, value in entry.args.items()]
        return Comparison(entry.tool, "missing", lacking)
    if nearest in free:
        free.remove(nearest)
    got = nearest.arguments if isinstance(nearest.arguments, dict) else {}
    arguments = [_argument(name, value, got.get(name, MISSING), raw_url) for name, value in entry.args.items()]
    state = "different" if any(argument.differs for argument in arguments) else "met"
    return Comparison(entry.tool, state, arguments)


def _distance(entry: ExpectedCall, call: Call) -> int:
    got = call.arguments if isinstance(call.arguments, dict) else {}
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
