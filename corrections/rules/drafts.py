"""What a correction must say, in the order of the contract's table (7.2), first problem first."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

from corrections.drafts import CorrectedItem, CorrectionDraft, ExpectedCall
from corrections.rules.pointers import MISSING, is_pointer, resolve
from corrections.vocabulary import Verdict
from kindgi_site.errors import Code, InvalidError

MAX_CALLS = 50
MAX_TOOL = 200
MAX_ARGS_FIELDS = 100
MAX_ARGS_CHARACTERS = 4000
MAX_TEXT = 4000
MAX_ITEMS = 100
MAX_KEY = 200
MAX_POINTER = 500
MAX_PARTICIPANT = 256


def check_draft(draft: CorrectionDraft, *, before: str | None = None) -> None:
    """InvalidError `bad-input` for the first thing wrong with what is said; nothing stored is looked at.

    `before` names a field of the table: only the rows above it are checked.
    """
    for field, check in _ROWS:
        if field == before:
            return
        check(draft)


def check_pointers(items: Sequence[CorrectedItem], output: Any) -> None:
    """InvalidError `item-not-found` for the first item whose pointer leads nowhere in the parsed output."""
    for item in items:
        if item.pointer is not None and resolve(output, item.pointer) is MISSING:
            raise InvalidError(
                Code.ITEM_NOT_FOUND,
                f"There is nothing at {item.pointer!r} in the run's output.",
                key=item.key,
                pointer=item.pointer,
            )


def is_blank(text: str) -> bool:
    return not text.strip()


def refusal(message: str, field: str) -> InvalidError:
    return InvalidError(Code.BAD_INPUT, message, field=field)


def _check_should_call(draft: CorrectionDraft) -> None:
    _check_only_with(draft.should_call, draft.decisions, "shouldCall", "decisions")
    _check_count(draft.should_call, MAX_CALLS, "shouldCall")
    for call in draft.should_call:
        _check_call(call)


def _check_call(call: ExpectedCall) -> None:
    _check_tool(call.tool, "shouldCall")
    if len(call.args) > MAX_ARGS_FIELDS:
        raise refusal(f"args of {call.tool} has more than {MAX_ARGS_FIELDS} fields.", "shouldCall")
    if len(call.args_canonical) > MAX_ARGS_CHARACTERS:
        raise refusal(f"args of {call.tool} is longer than {MAX_ARGS_CHARACTERS} characters.", "shouldCall")


def _check_must_not_call(draft: CorrectionDraft) -> None:
    _check_only_with(draft.must_not_call, draft.decisions, "mustNotCall", "decisions")
    _check_count(draft.must_not_call, MAX_CALLS, "mustNotCall")
    for tool in draft.must_not_call:
        _check_tool(tool, "mustNotCall")
    both = {call.tool for call in draft.should_call} & set(draft.must_not_call)
    if both:
        raise refusal(f"{min(both)} cannot be both in shouldCall and in mustNotCall.", "mustNotCall")
    if draft.decisions == Verdict.WRONG and not (draft.should_call or draft.must_not_call):
        raise refusal("Wrong decisions need a call that should, or must not, be made.", "decisions")


def _check_should_say(draft: CorrectionDraft) -> None:
    if draft.should_say is not None:
        _check_only_with((draft.should_say,), draft.answer, "shouldSay", "answer")
        _check_length(draft.should_say, MAX_TEXT, "shouldSay")


def _check_why(draft: CorrectionDraft) -> None:
    if draft.why is not None:
        _check_length(draft.why, MAX_TEXT, "why")
    if draft.answer == Verdict.WRONG and is_blank(draft.should_say or "") and is_blank(draft.why or ""):
        raise refusal("A wrong answer needs what it should have said, or why it is wrong.", "answer")


def _check_items(draft: CorrectionDraft) -> None:
    _check_count(draft.items, MAX_ITEMS, "items")
    keys: set[str] = set()
    for item in draft.items:
        _check_item(item)
        if item.key in keys:
            raise refusal(f"The item {item.key!r} is there twice.", "items")
        keys.add(item.key)


def _check_item(item: CorrectedItem) -> None:
    if is_blank(item.key):
        raise refusal("An item's key must not be empty.", "items")
    _check_length(item.key, MAX_KEY, "items")
    if item.pointer is not None:
        _check_length(item.pointer, MAX_POINTER, "items")
        if not is_pointer(item.pointer):
            raise refusal(f"{item.pointer!r} is not a JSON Pointer.", "items")
    if item.rank is not None and item.rank < 0:
        raise refusal("A rank is 0 or more.", "items")


def _check_group(draft: CorrectionDraft) -> None:
    if draft.corrector_group_id is not None and is_blank(draft.corrector_group_id):
        raise refusal("correctorGroupId must not be empty.", "correctorGroupId")


def _check_participant(draft: CorrectionDraft) -> None:
    if draft.participant_id is not None and is_blank(draft.participant_id):
        raise refusal("participantId must not be empty.", "participantId")
    _check_length(draft.participant_id or "", MAX_PARTICIPANT, "participantId")


def _check_says_something(draft: CorrectionDraft) -> None:
    if not draft.verdicts:
        raise refusal("Say at least one of decisions, answer, items.", "decisions")


def _nothing(_draft: CorrectionDraft) -> None:
    """A field whose row has no rule beyond its type."""


def _check_only_with(said: Collection[object], verdict: Verdict | None, name: str, verdict_name: str) -> None:
    if said and verdict != Verdict.WRONG:
        raise refusal(f"{name} goes only with {verdict_name}: wrong.", name)


def _check_count(things: Collection[object], most: int, name: str) -> None:
    if len(things) > most:
        raise refusal(f"{name} has more than {most} entries.", name)


def _check_tool(tool: str, name: str) -> None:
    if not tool:
        raise refusal(f"A tool in {name} has no name.", name)
    _check_length(tool, MAX_TOOL, name)


def _check_length(text: str, most: int, name: str) -> None:
    if len(text) > most:
        raise refusal(f"{name} is longer than {most} characters.", name)


# The table's rows: the last field each rule looks at, and the rule.
_ROWS: tuple[tuple[str, Callable[[CorrectionDraft], None]], ...] = (
    ("runId", _nothing),
    ("decisions", _nothing),
    ("answer", _nothing),
    ("shouldCall", _check_should_call),
    ("mustNotCall", _check_must_not_call),
    ("shouldSay", _check_should_say),
    ("why", _check_why),
    ("items", _check_items),
    ("correctorGroupId", _check_group),
    ("participantId", _check_participant),
    ("", _check_says_something),
)
