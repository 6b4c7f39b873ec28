"""A correction made before, as its form would have been posted: what opens when one corrects again."""

from collections.abc import Sequence
from typing import Any

from django.http import QueryDict

from corrections.forms.corrections import Correctable
from corrections.forms.marks import CardChoice, Match, fitting_match, shown
from corrections.models import Correction
from corrections.rules.calls import Call


def posted_before(correction: Correction, correctable: Correctable) -> QueryDict:
    posted = QueryDict(mutable=True)
    posted["decisions"] = correction.decisions
    posted["answer"] = correction.answer
    posted["should_say"] = correction.should_say
    posted["why"] = correction.why
    posted["corrector_group"] = str(correction.group_id or "")
    calls = correctable.calls or []
    taken = _put_must_not_call(posted, _list(correction.must_not_call), calls)
    _put_should_call(posted, _list(correction.should_call), calls, taken)
    verdicts = {item["key"]: item["verdict"] for item in _list(correction.items)}
    for index, item in enumerate(correctable.items):
        if item.key in verdicts:
            posted[f"item-{index}"] = verdicts[item.key]
    return posted


def items_not_shown(correction: Correction, correctable: Correctable) -> int:
    """How many of its items have no place in the form; saving again leaves them out, so the page says so."""
    keys = {item.key for item in correctable.items}
    return sum(item["key"] not in keys for item in _list(correction.items))


def _put_must_not_call(posted: QueryDict, tools: list[str], calls: Sequence[Call]) -> set[int]:
    taken: set[int] = set()
    never: list[str] = []
    for tool in tools:
        places = [index for index, call in enumerate(calls) if call.tool == tool]
        if places:
            posted[f"call-{places[0]}"] = CardChoice.NOT
            taken.add(places[0])
        else:
            never.append(tool)
    posted["never"] = "\n".join(never)
    return taken


def _put_should_call(posted: QueryDict, wanted: list[dict[str, Any]], calls: Sequence[Call], taken: set[int]) -> None:
    for entry in wanted:
        place = next((i for i, call in enumerate(calls) if i not in taken and _is_variant(entry, call)), None)
        if place is None:
            _put_missing(posted, entry, len(calls))
        else:
            taken.add(place)
            _put_like(posted, place, entry["args"], calls[place])


def _is_variant(entry: dict[str, Any], call: Call) -> bool:
    """Whether an entry can be said on a call's card: same tool, and the card names its arguments or more."""
    if call.tool != entry["tool"]:
        return False
    return not entry["args"] or (
        isinstance(call.arguments, dict) and bool(entry["args"].keys() & call.arguments.keys())
    )


def _put_like(posted: QueryDict, place: int, args: dict[str, Any], call: Call) -> None:
    prefix = f"call-{place}"
    posted[prefix] = CardChoice.LIKE
    seen = call.arguments if isinstance(call.arguments, dict) else {}
    for row, (name, value) in enumerate(seen.items()):
        asked = args.get(name, value)
        posted[f"{prefix}-match-{row}"] = fitting_match(asked) if name in args else Match.ANY
        posted[f"{prefix}-value-{row}"] = shown(asked)
    added = [(name, value) for name, value in args.items() if name not in seen]
    _put_rows(posted, prefix, added, start=len(seen))


def _put_missing(posted: QueryDict, entry: dict[str, Any], at: int) -> None:
    number = len(posted.getlist("missing"))
    posted.appendlist("missing", str(number))
    posted[f"missing-{number}-at"] = str(at)
    posted[f"missing-{number}-tool"] = entry["tool"]
    _put_rows(posted, f"missing-{number}", list(entry["args"].items()), start=0)


def _put_rows(posted: QueryDict, prefix: str, pairs: list[tuple[str, Any]], *, start: int) -> None:
    for row, (name, value) in enumerate(pairs, start):
        posted[f"{prefix}-name-{row}"] = name
        posted[f"{prefix}-match-{row}"] = fitting_match(value)
        posted[f"{prefix}-value-{row}"] = shown(value)


def _list(stored: Any) -> list[Any]:
    return stored.value if stored else []
