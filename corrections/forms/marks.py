"""Marks on a run's calls as a form posts them: on a card, and for calls that are missing."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from django.utils.translation import gettext as _

from corrections.drafts import ExpectedCall
from corrections.presenters.text import json_words, plain
from corrections.rules.calls import Call
from corrections.rules.pointers import MISSING
from kindgi_site import exact_json

FEW_CALLS = 40  # up to here every card carries its form, folded; beyond, a card's comes when it is asked for
LONG_TEXT = 120


class Match(StrEnum):
    ANY = "any"
    TEXT = "text"
    VALUE = "value"


class CardChoice(StrEnum):
    NONE = ""
    NOT = "not"
    LIKE = "like"


class MarkError(ValueError):
    """What was typed into a mark says nothing yet; the words say why."""


@dataclass(slots=True)
class ArgumentRow:
    """One argument of a call that should be made. `seen` is the value the run passed, MISSING for an added row."""

    prefix: str
    index: int
    name: str
    match: str
    value: str
    seen: Any = MISSING
    error: str = ""

    @property
    def is_added(self) -> bool:
        return self.seen is MISSING

    @property
    def field_name(self) -> str:
        return f"{self.prefix}-name-{self.index}"

    @property
    def field_match(self) -> str:
        return f"{self.prefix}-match-{self.index}"

    @property
    def field_value(self) -> str:
        return f"{self.prefix}-value-{self.index}"

    @property
    def fitting(self) -> str:
        """How a value typed here is likely meant."""
        return Match.TEXT if self.seen is MISSING else fitting_match(self.seen)

    @property
    def is_blank(self) -> bool:
        return self.is_added and not self.name.strip() and not self.value.strip()

    @property
    def lines(self) -> int:
        return min(max(self.value.count("\n") + 1, len(self.value) // 46 + 1), 8)

    def expected(self) -> Any:
        """The value asked for, or MISSING for any. An unchanged value is the seen one, digit for digit."""
        if self.match == Match.ANY:
            self._check_nothing_lost()
            return MISSING
        if self.seen is not MISSING and self.value == shown(self.seen) and self.match == fitting_match(self.seen):
            return self.seen
        if self.match == Match.TEXT:
            return self.value
        try:
            return exact_json.parse(self.value)
        except ValueError:
            raise MarkError(
                _("“%(value)s” is no number, true, false, list or JSON. For words choose “exactly this text”.")
                % {"value": plain(self.value)[:60]}
            ) from None

    def _check_nothing_lost(self) -> None:
        typed = self.value != shown(self.seen) if self.seen is not MISSING else bool(self.value.strip())
        if typed:
            raise MarkError(_("You typed a value but left “any value”. Choose which of the two you mean."))


@dataclass(slots=True)
class CallEditor:
    """The form for one call that should be made."""

    prefix: str
    tool: str
    rows: list[ArgumentRow]
    is_unseen: bool = False
    error: str = ""

    def expected(self) -> ExpectedCall:
        """Raises MarkError, having put each row's problem beside it."""
        if self.is_unseen:
            self.error = _("Say here what it should have been called with.")
            raise MarkError(_("%(tool)s: say what it should have been called with.") % {"tool": plain(self.tool)})
        if not self.tool.strip():
            self.error = _("Which tool should have been called?")
            raise MarkError(self.error)
        args: dict[str, object] = {}
        problem = ""
        for row in self.rows:
            try:
                args |= self._argument(row, args)
            except MarkError as found:
                row.error = str(found)
                problem = problem or _("%(tool)s: %(problem)s") % {"tool": plain(self.tool), "problem": found}
        if problem:
            raise MarkError(problem)
        return ExpectedCall(self.tool.strip(), args, exact_json.dumps(args))

    @staticmethod
    def _argument(row: ArgumentRow, taken: Mapping[str, object]) -> dict[str, object]:
        if row.is_blank:
            return {}
        if not row.name:
            raise MarkError(_("Give this argument its name, or empty its value."))
        if row.name in taken:
            raise MarkError(_("There are two arguments of this name."))
        value = row.expected()
        return {} if value is MISSING else {row.name: value}


@dataclass(slots=True)
class CardMark:
    """What is said of one call that was made."""

    index: int
    tool: str
    choice: str
    editor: CallEditor
    has_editor: bool

    @property
    def field(self) -> str:
        return f"call-{self.index}"


@dataclass(slots=True)
class MissingMark:
    """A call that was not made. `at` is how many cards stand before it; only the page cares."""

    number: int
    at: int
    editor: CallEditor

    @property
    def anchor(self) -> str:
        return f"missing-{self.number}"


@dataclass(slots=True)
class DecisionMarks:
    cards: list[CardMark]
    missing: list[MissingMark]
    never: list[str]
    problems: list[str] = field(default_factory=list)

    @property
    def are_any(self) -> bool:
        return bool(self.missing or self.never or any(card.choice for card in self.cards))

    @property
    def count(self) -> int:
        return len(self.missing) + len(self.never) + sum(bool(card.choice) for card in self.cards)

    def should_call(self) -> Iterator[ExpectedCall]:
        """Those that are whole; what is wrong with the others is added to `problems`."""
        marked = [(card.index, 1, card.editor) for card in self.cards if card.choice == CardChoice.LIKE]
        marked += [(mark.at, 0, mark.editor) for mark in self.missing]
        for _at, _order, editor in sorted(marked, key=lambda mark: mark[:2]):
            try:
                yield editor.expected()
            except MarkError as problem:
                self.problems.append(str(problem))

    def must_not_call(self) -> Iterator[str]:
        named = [card.tool for card in self.cards if card.choice == CardChoice.NOT] + self.never
        yield from dict.fromkeys(named)


def read_marks(posted: Mapping[str, Any], calls: Sequence[Call]) -> DecisionMarks:
    """The marks in what a form posted. `posted` answers `get` with a text, `getlist` with all of one name."""
    return DecisionMarks(
        cards=[_card(posted, index, call, len(calls)) for index, call in enumerate(calls)],
        missing=[_missing(posted, number, len(calls)) for number in _numbers(posted)],
        never=[line.strip() for line in text_of(posted, "never").splitlines() if line.strip()],
    )


def text_of(posted: Mapping[str, Any], name: str) -> str:
    """A posted text with the line ends a browser put in made plain again."""
    return str(posted.get(name) or "").replace("\r\n", "\n")


def shown(seen: Any) -> str:
    """A value the run passed, as a form shows it for editing."""
    if isinstance(seen, str):
        return plain(seen)
    return json_words(seen, indent=2 if len(json_words(seen)) > LONG_TEXT else None)


def fitting_match(seen: Any) -> Match:
    return Match.TEXT if isinstance(seen, str) else Match.VALUE


def first_match(seen: Any) -> Match:
    """What a card's form starts with: short values matter, long texts seldom word for word."""
    return Match.ANY if isinstance(seen, str) and len(seen) > LONG_TEXT else fitting_match(seen)


def _numbers(posted: Mapping[str, Any]) -> list[int]:
    listed = posted.getlist("missing") if hasattr(posted, "getlist") else []
    return sorted({int(number) for number in listed if number.isdecimal() and len(number) < 5})


def _card(posted: Mapping[str, Any], index: int, call: Call, total: int) -> CardMark:
    prefix = f"call-{index}"
    said = text_of(posted, prefix)
    choice = said if said in set(CardChoice) else CardChoice.NONE
    seen = list(call.arguments.items()) if isinstance(call.arguments, dict) else []
    rows = [_seen_row(posted, prefix, place, name, value) for place, (name, value) in enumerate(seen)]
    rows += _added_rows(posted, prefix, start=len(seen))
    # Of many cards only the marked ones carry their form; one just marked was not there to be filled in.
    is_unseen = choice == CardChoice.LIKE and bool(seen) and rows[0].field_match not in posted
    has_editor = total <= FEW_CALLS or choice == CardChoice.LIKE
    return CardMark(index, call.tool, choice, CallEditor(prefix, call.tool, rows, is_unseen), has_editor)


def _seen_row(posted: Mapping[str, Any], prefix: str, index: int, name: str, seen: Any) -> ArgumentRow:
    row = ArgumentRow(prefix, index, name, first_match(seen), shown(seen), seen)
    if row.field_match in posted:
        row.match = _match(posted, row)
        row.value = text_of(posted, row.field_value)
    return row


def _added_rows(posted: Mapping[str, Any], prefix: str, *, start: int) -> list[ArgumentRow]:
    rows: list[ArgumentRow] = []
    while f"{prefix}-match-{start + len(rows)}" in posted and len(rows) < exact_json.MAX_DEPTH:
        row = ArgumentRow(prefix, start + len(rows), "", Match.TEXT, "")
        row.name = text_of(posted, row.field_name)
        row.value = text_of(posted, row.field_value)
        row.match = _match(posted, row)
        rows.append(row)
    return rows


def _missing(posted: Mapping[str, Any], number: int, total: int) -> MissingMark:
    prefix = f"missing-{number}"
    at = text_of(posted, f"{prefix}-at")
    place = min(int(at), total) if at.isdecimal() and len(at) < 6 else total
    tool = text_of(posted, f"{prefix}-tool")
    return MissingMark(number, place, CallEditor(prefix, tool, _added_rows(posted, prefix, start=0)))


def _match(posted: Mapping[str, Any], row: ArgumentRow) -> str:
    said = text_of(posted, row.field_match)
    return said if said in set(Match) else Match.TEXT
