"""What a run answered, and the ranked lists in it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from corrections.drafts import CorrectedItem, CorrectionDraft
from corrections.forms.corrections import ItemMark
from corrections.presenters.text import cut, json_words, plain, value_words
from corrections.presenters.trees import BLOB, blob_html, value_html
from corrections.rules.outputs import Item, items_of
from kindgi_site.markdown import markdown_html

WORDS_OF_ANSWER = ("content", "answer", "text", "message", "reply", "note", "summary")
SHOWN_FIELDS = 5
TITLES = ("title", "name", "label", "heading")


@dataclass(frozen=True, slots=True)
class Answer:
    """`words` is the answer read as markdown; `fields` is what it holds beside them."""

    words: SafeString
    fields: list[tuple[str, SafeString]]


@dataclass(frozen=True, slots=True)
class ListedItem:
    rank: int | None
    key: str
    title: str
    fields: list[tuple[str, str]]
    mark: ItemMark


@dataclass(frozen=True, slots=True)
class RankedList:
    pointer: str
    name: str
    items: list[ListedItem]


def answer_words(value: Any) -> str:
    """The text of an answer, as one would start to rewrite it."""
    if isinstance(value, str):
        return plain(value)
    name = _name_of_words(value)
    return plain(value[name]) if name else ""


def answer_shown(answer: Item | None, items: Sequence[Item], raw_url: str) -> Answer | None:
    """None when the run answered nothing. Lists that stand below as ranked lists are not repeated."""
    if answer is None:
        return None
    value = answer.value
    words = answer_words(value)
    listed = {_unescaped(item.pointer.split("/")[1]) for item in items if item.pointer.count("/") == 2}
    name = _name_of_words(value)
    fields: list[tuple[str, SafeString]] = []
    if isinstance(value, dict):
        left = {key: part for key, part in value.items() if key != name and key not in listed}
        fields = [(plain(key), value_html(part, raw_url)) for key, part in left.items()]
    elif not isinstance(value, str):
        fields = [(_("Value"), value_html(value, raw_url))]
    return Answer(words_html(words, raw_url), fields)


def words_html(words: str, raw_url: str) -> SafeString:
    """The words of an answer read as markdown; of a large one only how large it is."""
    return markdown_html(words) if len(words) <= BLOB else blob_html(words, len(words), raw_url)


def _name_of_words(value: Any) -> str | None:
    if not isinstance(value, dict):
        return None
    return next((name for name in WORDS_OF_ANSWER if isinstance(value.get(name), str) and value[name].strip()), None)


def ranked_lists(marks: Sequence[ItemMark]) -> Iterator[RankedList]:
    """The list items, list by list, each in its own order."""
    for pointer, listed in groupby(marks, key=lambda mark: mark.item.pointer.rpartition("/")[0]):
        name = plain(_unescaped(pointer.rpartition("/")[2]))
        yield RankedList(pointer, name or _("list"), [_listed(mark) for mark in listed])


def marked_items(draft: CorrectionDraft, subject_kind: str, output: Any) -> list[ListedItem]:
    """The items that a correction marks, in the order of its run's lists; then those the run's output no longer has."""
    marks = {item.key: item for item in draft.items}
    there = _places(marks, items_of(subject_kind, output))
    gone = [
        Item(item.key, item.pointer or "", {}, item.rank, has_own_key=True)
        for key, item in marks.items()
        if key not in there
    ]
    shown = enumerate([*there.values(), *gone])
    return [_listed(ItemMark(index, item, marks[item.key].verdict)) for index, item in shown]


def _places(marks: Mapping[str, CorrectedItem], items: Iterable[Item]) -> dict[str, Item]:
    """The items that are marked, by key; of several lists with the key the one that was marked, else the first."""
    found: dict[str, Item] = {}
    for item in items:
        if item.key in marks and (item.key not in found or item.pointer == marks[item.key].pointer):
            found.pop(item.key, None)  # it stands where the place that was marked does
            found[item.key] = item
    return found


def _unescaped(token: str) -> str:
    return token.replace("~1", "/").replace("~0", "~")


def _listed(mark: ItemMark) -> ListedItem:
    item = mark.item
    value = item.value
    rank = None if item.rank is None else item.rank + 1
    if not isinstance(value, dict):
        return ListedItem(rank, _key(item), cut(value_words(value), 200), [], mark)
    title_name = next((name for name in TITLES if isinstance(value.get(name), str)), None)
    own = [(name, part) for name, part in value.items() if name not in ("id", "key", title_name)]
    fields = [(plain(name), cut(value_words(part), 90)) for name, part in own[:SHOWN_FIELDS]]
    if len(own) > SHOWN_FIELDS:
        fields.append((_("more"), cut(json_words(dict(own[SHOWN_FIELDS:])), 120)))
    title = cut(plain(value[title_name]), 200) if title_name else ""
    return ListedItem(rank, _key(item), title, fields, mark)


def _key(item: Item) -> str:
    return plain(item.key) if item.has_own_key else ""
