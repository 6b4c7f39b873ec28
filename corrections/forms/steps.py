"""What a button inside the form does to what was typed, without saving it: one more row, all others wrong."""

from collections.abc import Callable

from django.http import QueryDict

from corrections.forms.corrections import Correctable
from corrections.forms.marks import Match, read_marks
from corrections.vocabulary import Verdict


def after_step(posted: QueryDict, correctable: Correctable) -> QueryDict:
    """The form as it is after the button named `step`, `<what>` or `<what>:<which>`; unknown ones change nothing."""
    typed = posted.copy()
    what, _colon, which = str(posted.get("step", "")).partition(":")
    step = _STEPS.get(what)
    if step is not None:
        step(typed, which, correctable)
    typed.pop("step", None)
    return typed


def _add_missing(typed: QueryDict, at: str, _correctable: Correctable) -> None:
    number = str(max((int(taken) for taken in typed.getlist("missing") if taken.isdecimal()), default=-1) + 1)
    typed.appendlist("missing", number)
    typed[f"missing-{number}-at"] = at
    typed[f"missing-{number}-match-0"] = Match.TEXT
    typed["newest"] = f"missing-{number}"


def _remove_missing(typed: QueryDict, number: str, _correctable: Correctable) -> None:
    typed.setlist("missing", [kept for kept in typed.getlist("missing") if kept != number])
    for name in [name for name in typed if name.startswith(f"missing-{number}-")]:
        del typed[name]


def _add_argument(typed: QueryDict, prefix: str, correctable: Correctable) -> None:
    marks = read_marks(typed, correctable.calls or [])
    editors = [card.editor for card in marks.cards] + [mark.editor for mark in marks.missing]
    for editor in editors:
        if editor.prefix == prefix:
            typed[f"{prefix}-match-{len(editor.rows)}"] = Match.TEXT
            typed["newest"] = f"{prefix}-name-{len(editor.rows)}"


def _mark_others(verdict: Verdict) -> Callable[[QueryDict, str, Correctable], None]:
    def mark(typed: QueryDict, pointer: str, correctable: Correctable) -> None:
        """The items of one list, named by the pointer it stands at, that have no verdict yet."""
        for index, item in enumerate(correctable.items):
            if item.pointer.rpartition("/")[0] == pointer and not typed.get(f"item-{index}"):
                typed[f"item-{index}"] = verdict.value

    return mark


def _from_answer(typed: QueryDict, _which: str, correctable: Correctable) -> None:
    typed["answer"] = Verdict.WRONG.value
    typed["should_say"] = correctable.answer_text
    typed["newest"] = "should-say"


_STEPS: dict[str, Callable[[QueryDict, str, Correctable], None]] = {
    "add-missing": _add_missing,
    "remove-missing": _remove_missing,
    "add-argument": _add_argument,
    "others-wrong": _mark_others(Verdict.WRONG),
    "others-right": _mark_others(Verdict.RIGHT),
    "from-answer": _from_answer,
}
