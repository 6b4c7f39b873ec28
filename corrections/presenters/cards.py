"""Decision cards: one per call, in order, with the mark on it, and the places where a call may be missing."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from corrections.forms.marks import CardMark, DecisionMarks, MissingMark
from corrections.presenters.text import cut, is_longer, json_head, json_words, kind_words, plain
from corrections.presenters.trees import tree_html, value_html
from corrections.rules.calls import Call
from corrections.rules.pointers import MISSING

SHORT_RESULT = 80
SUMMARY = 400  # as much of a result as its one line is cut from
LARGE_RESULT = 2000  # a longer one comes when its fold is opened


@dataclass(frozen=True, slots=True)
class Card:
    number: int
    tool: str
    arguments: list[tuple[str, SafeString]]
    other_arguments: SafeString | None
    result: SafeString
    result_summary: str
    result_kind: str
    result_url: str
    error: str
    duration: str
    mark: CardMark


@dataclass(frozen=True, slots=True)
class Gap:
    """A place between cards: after `at` of them, with the calls said to be missing there."""

    at: int
    missing: list[MissingMark]


@dataclass(frozen=True, slots=True)
class CardPlace:
    """A card and the gap after it."""

    card: Card
    gap: Gap


def gap_at(marks: DecisionMarks, at: int) -> Gap:
    return Gap(at, [mark for mark in marks.missing if mark.at == at])


def places(calls: Sequence[Call], marks: DecisionMarks, raw_url: str) -> Iterator[CardPlace]:
    """`raw_url` has `calls` for its last part; a call's own is `call-<number>`."""
    for call, mark in zip(calls, marks.cards, strict=True):
        yield CardPlace(card_of(call, mark, raw_url), gap_at(marks, mark.index + 1))


def card_of(call: Call, mark: CardMark, calls_url: str) -> Card:
    number = mark.index + 1
    raw_url = calls_url.replace("/raw/calls/", f"/raw/call-{number}/")
    by_name = call.arguments if isinstance(call.arguments, dict) else {}
    has_other = call.arguments is not MISSING and not isinstance(call.arguments, dict)
    words = "" if call.result is MISSING else _head(call.result)
    is_short = len(words) <= SHORT_RESULT and "\n" not in words
    is_large = is_longer(call.result, LARGE_RESULT)
    return Card(
        number=number,
        tool=plain(call.tool),
        arguments=[(plain(name), value_html(value, raw_url)) for name, value in by_name.items()],
        other_arguments=value_html(call.arguments, raw_url) if has_other else None,
        result=SafeString("") if is_large else _result(call.result, words, raw_url),
        result_summary="" if is_short else cut(" ".join(words[:SUMMARY].split()), 76),
        result_kind="" if is_short else kind_words(call.result),
        result_url=raw_url.replace("/raw/", "/parts/") if is_large else "",
        error=plain(call.error or ""),
        duration=duration_words(call.duration_ms),
        mark=mark,
    )


def _head(result: Any) -> str:
    """A text up to where it is too large to show at once; of JSON as much as a summary takes."""
    return plain(result[: LARGE_RESULT + 1]) if isinstance(result, str) else json_head(result, SUMMARY)


def _result(result: Any, words: str, raw_url: str) -> SafeString:
    if result is MISSING:
        return SafeString("")
    if result == "":
        return format_html('<span class="tree-hint">{}</span>', _("empty text"))
    if isinstance(result, dict | list) and len(words) > SHORT_RESULT:
        return tree_html(result, raw_url)
    return format_html("{}" if isinstance(result, str) else '<span class="json">{}</span>', words)


def duration_words(milliseconds: object) -> str:
    try:
        amount = float(json_words(milliseconds))
    except ValueError:
        return ""
    return _("%(count)d ms") % {"count": amount} if amount < 1000 else _("%(count).1f s") % {"count": amount / 1000}
