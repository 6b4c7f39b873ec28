"""The run behind a case, to be read: its calls, its answer and its lists with the votes on each item."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from corrections.presenters.answers import Answer, answer_shown
from corrections.presenters.speech import Conversation, conversation
from corrections.presenters.text import cut, json_head, kind_words, plain, size_words, value_words
from corrections.presenters.trees import tree_html, value_html
from corrections.rules.calls import Call, calls_made, listed
from corrections.rules.outputs import Item, answer_of, items_of
from corrections.rules.pointers import MISSING
from corrections.rules.weights import ItemSum
from corrections.vocabulary import SubjectKind
from kindgi_site.exact_json import JsonText, dumps
from testsets.presenters.numbers import weight_words

SHORT = 80
TITLES = ("title", "name", "label", "heading")
SHOWN_FIELDS = 4
LARGE_TREE = 2000


@dataclass(frozen=True, slots=True)
class CallShown:
    """One call as `corrections/_card.html` shows it to somebody who marks nothing."""

    number: int
    tool: str
    arguments: list[tuple[str, SafeString]]
    other_arguments: SafeString | None
    result: SafeString
    result_summary: str
    result_kind: str
    error: str
    result_url: str = ""
    duration: str = ""


@dataclass(frozen=True, slots=True)
class ItemShown:
    """One item of a list. `leans` is `right`, `wrong`, `even` or '' where nobody spoke of it."""

    rank: int | None
    key: str
    title: str
    fields: list[tuple[str, str]]
    leans: str
    right: str
    total: str
    voters: int
    reasons: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class EvidenceShown:
    conversation: Conversation
    calls: list[CallShown]
    calls_known: bool
    answer: Answer | None
    answer_votes: ItemShown | None
    items: list[ItemShown]
    input_json: dict[str, Any] | None
    output_json: dict[str, Any] | None


def evidence_shown(
    wire: Mapping[str, Any], calls: JsonText | None, sums: Mapping[str, ItemSum], raw_url: str
) -> EvidenceShown:
    """`sums` are what counts of the case, by item; `raw_url` is where the whole case can be read."""
    kind, output = wire["subject"]["kind"], wire["output"]
    made = calls_of(kind, output, wire.get("context"), calls)
    items = [item for item in items_of(kind, output) if item.rank is not None]
    answer = answer_of(kind, output)
    votes = sums.get("output" if kind == SubjectKind.FLOW else "answer")
    return EvidenceShown(
        conversation=conversation(wire["input"], wire.get("context"), raw_url),
        calls=[call_shown(call, number, raw_url) for number, call in enumerate(made or [], start=1)],
        calls_known=made is not None,
        answer=answer_shown(answer, items, raw_url),
        answer_votes=_voted("", "", [], None, votes) if votes else None,
        items=list(_items(items, sums)),
        input_json=_json(wire["input"], raw_url),
        output_json=_json(output, raw_url),
    )


def calls_of(kind: str, output: Any, context: Any, calls: JsonText | None) -> list[Call] | None:
    if calls is not None and kind == SubjectKind.FLOW:
        return list(listed(calls.value))
    return calls_made(kind, output, context, calls.value if calls else None)


def call_shown(call: Call, number: int, raw_url: str) -> CallShown:
    by_name = call.arguments if isinstance(call.arguments, dict) else {}
    has_other = call.arguments is not MISSING and not isinstance(call.arguments, dict)
    words = "" if call.result is MISSING else _head(call.result)
    is_short = len(words) <= SHORT and "\n" not in words
    return CallShown(
        number=number,
        tool=plain(call.tool),
        arguments=[(plain(name), value_html(value, raw_url)) for name, value in by_name.items()],
        other_arguments=value_html(call.arguments, raw_url) if has_other else None,
        result=_result(call.result, words, raw_url),
        result_summary="" if is_short else cut(" ".join(words[:400].split()), 76),
        result_kind="" if is_short else kind_words(call.result),
        error=plain(call.error or ""),
    )


def _head(result: Any) -> str:
    return plain(result[:LARGE_TREE]) if isinstance(result, str) else json_head(result, LARGE_TREE)


def _result(result: Any, words: str, raw_url: str) -> SafeString:
    if result is MISSING:
        return SafeString("")
    if result == "":
        return format_html('<span class="tree-hint">{}</span>', _("empty text"))
    if isinstance(result, dict | list) and len(words) > SHORT:
        return tree_html(result, raw_url)
    return value_html(result, raw_url)


def _items(items: Sequence[Item], sums: Mapping[str, ItemSum]) -> Iterator[ItemShown]:
    for item in items:
        value = item.value
        fields: list[tuple[str, str]] = []
        title = "" if isinstance(value, dict) else cut(value_words(value), 200)
        if isinstance(value, dict):
            named = next((name for name in TITLES if isinstance(value.get(name), str)), None)
            title = cut(plain(value[named]), 200) if named else ""
            own = [(name, part) for name, part in value.items() if name not in ("id", "key", named)]
            fields = [(plain(name), cut(value_words(part), 90)) for name, part in own[:SHOWN_FIELDS]]
        key = plain(item.key) if item.has_own_key else ""
        yield _voted(key, title, fields, item.rank, sums.get(item.key))


def _voted(key: str, title: str, fields: list[tuple[str, str]], rank: int | None, votes: ItemSum | None) -> ItemShown:
    place = None if rank is None else rank + 1
    if votes is None:
        return ItemShown(place, key, title, fields, "", "", "", 0, [])
    leans = "right" if votes.leans_yes else "wrong" if votes.leans_no else "even"
    return ItemShown(
        rank=place,
        key=key,
        title=title,
        fields=fields,
        leans=leans,
        right=weight_words(votes.yes_weight),
        total=weight_words(votes.total_weight),
        voters=votes.yes + votes.no,
        reasons=[("right" if reason.says_yes else "wrong", plain(reason.text)) for reason in votes.reasons],
    )


def _json(value: Any, raw_url: str) -> dict[str, Any]:
    """A part as a fold; what is long is opened as text."""
    length = len(dumps(value))
    tree = tree_html(value, raw_url)
    return {"size": size_words(length), "tree": tree, "url": raw_url, "part_url": raw_url}
