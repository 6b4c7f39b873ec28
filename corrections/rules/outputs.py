"""The items of an output: its answer and the ranked lists inside it (contract 17.2)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from corrections.vocabulary import SubjectKind
from kindgi_site.exact_json import Number

DEEPEST_OBJECT = 3
LONGEST_LIST = 100


@dataclass(frozen=True, slots=True)
class Item:
    """One item of an output. `rank` is None for the answer itself, which stands in no list."""

    key: str
    pointer: str
    value: Any
    rank: int | None = None
    has_own_key: bool = False


def items_of(subject_kind: str, output: Any) -> list[Item]:
    """Every item of an output, the answer first, lists in the sorted order of their keys."""
    if output is None:
        return []
    answer = answer_of(subject_kind, output)
    start, value = _where_lists_are(subject_kind, output)
    return ([answer] if answer else []) + list(_list_items(value, start, depth=0))


def answer_of(subject_kind: str, output: Any) -> Item | None:
    """What the run answered; None when an agent's output records messages but no answer among them."""
    if output is None:
        return None
    if subject_kind == SubjectKind.FLOW:
        return Item("output", "", output)
    appended = _appended(output)
    if appended is None:
        return Item("answer", "", output)
    for index in range(len(appended) - 1, -1, -1):
        entry = appended[index]
        if isinstance(entry, dict) and entry.get("role") == "agent" and not _is_tool_calls(entry.get("content")):
            return Item("answer", f"/appended/{index}/content", entry.get("content"))
    return None


def _where_lists_are(subject_kind: str, output: Any) -> tuple[str, Any]:
    if subject_kind == SubjectKind.AGENT and _appended(output) is not None:
        return "/output", output.get("output")
    return "", output


def _appended(output: Any) -> list[Any] | None:
    found = output.get("appended") if isinstance(output, dict) else None
    return found if isinstance(found, list) else None


def _is_tool_calls(content: Any) -> bool:
    return isinstance(content, dict) and isinstance(content.get("toolCalls"), list)


def _list_items(value: Any, pointer: str, *, depth: int) -> Iterator[Item]:
    if isinstance(value, list):
        if 1 <= len(value) <= LONGEST_LIST:
            yield from _elements(value, pointer)
    elif isinstance(value, dict) and depth <= DEEPEST_OBJECT:
        for key in sorted(value):
            yield from _list_items(value[key], f"{pointer}/{_token(key)}", depth=depth + 1)


def _elements(elements: list[Any], pointer: str) -> Iterator[Item]:
    used: set[str] = set()
    for rank, element in enumerate(elements):
        place = f"{pointer}/{rank}"
        own = _own_key(element)
        if own is None or own in used:
            yield Item(place, place, element, rank)
        else:
            used.add(own)
            yield Item(own, place, element, rank, has_own_key=True)


def _own_key(element: Any) -> str | None:
    if not isinstance(element, dict):
        return None
    for name in ("id", "key"):
        value = element.get(name)
        if isinstance(value, Number):
            return value.canonical()
        if isinstance(value, str) and value:
            return value
    return None


def _token(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
