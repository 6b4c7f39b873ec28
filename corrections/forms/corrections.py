"""The form on a run's page: verdicts on decisions, answer and items, and for whom one speaks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from corrections.drafts import CorrectedItem, CorrectionDraft
from corrections.forms.marks import read_marks, text_of
from corrections.models import CorrectorGroup
from corrections.rules.calls import Call
from corrections.rules.outputs import Item
from corrections.vocabulary import Verdict

VERDICTS = [
    ("", gettext_lazy("No verdict")),
    (Verdict.RIGHT.value, gettext_lazy("Right")),
    (Verdict.WRONG.value, gettext_lazy("Wrong")),
]
NO_GROUP = ("", gettext_lazy("No group, just me"))


@dataclass(frozen=True, slots=True)
class Correctable:
    """What of a run can be marked. `calls` is None when the run did not record them."""

    calls: list[Call] | None
    items: list[Item]
    answer_text: str


@dataclass(frozen=True, slots=True)
class ItemMark:
    index: int
    item: Item
    verdict: str

    @property
    def field(self) -> str:
        return f"item-{self.index}"


class CorrectionForm(forms.Form):
    """Built on what was posted, or on what the caller said before, or on nothing.

    Whatever was typed is still in `marks` and `items` when the form turns out wrong.
    """

    decisions = forms.ChoiceField(choices=VERDICTS, required=False)
    answer = forms.ChoiceField(choices=VERDICTS, required=False)
    should_say = forms.CharField(required=False, strip=False)
    why = forms.CharField(required=False, strip=False)
    corrector_group = forms.ChoiceField(required=False)

    def __init__(
        self,
        posted: QueryDict | None,
        correctable: Correctable,
        *,
        groups: Sequence[CorrectorGroup],
        earlier: QueryDict | None = None,
    ) -> None:
        said = posted if posted is not None else earlier if earlier is not None else QueryDict()
        super().__init__(said)
        self.correctable = correctable
        self.is_posted = posted is not None
        self.said = said
        self.marks = read_marks(said, correctable.calls or [])
        self.items = list(_item_marks(said, correctable.items))
        self.groups = groups
        field = self.fields["corrector_group"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [NO_GROUP, *((str(group.id), group.name) for group in groups)]

    @property
    def should_say_text(self) -> str:
        return text_of(self.said, "should_say")

    @property
    def why_text(self) -> str:
        return text_of(self.said, "why")

    @property
    def never_text(self) -> str:
        return "\n".join(self.marks.never)

    @property
    def group_id(self) -> str:
        return text_of(self.said, "corrector_group")

    @property
    def decisions_said(self) -> str:
        """A mark on a call says that the decisions were wrong, whether or not the button was pressed too."""
        said = text_of(self.said, "decisions")
        return said or (Verdict.WRONG.value if self.marks.are_any else "")

    @property
    def answer_said(self) -> str:
        said = text_of(self.said, "answer")
        return said or (Verdict.WRONG.value if self.should_say_text.strip() else "")

    @property
    def decisions_are_implied(self) -> bool:
        return bool(self.decisions_said) and not text_of(self.said, "decisions")

    def clean(self) -> dict[str, Any]:
        self._refuse_contradictions()
        self._draft = CorrectionDraft(
            decisions=_verdict(self.decisions_said),
            should_call=tuple(self.marks.should_call()),
            must_not_call=tuple(self.marks.must_not_call()),
            answer=_verdict(self.answer_said),
            should_say=self._should_say(),
            why=self.why_text if self.why_text.strip() else None,
            items=tuple(_corrected(self.items)),
            corrector_group_id=self.group_id or None,
        )
        for problem in self.marks.problems:
            self.add_error(None, problem)
        return self.cleaned_data

    def draft(self) -> CorrectionDraft:
        """What the form says. Only of a valid form; `said_so_far` is for the others."""
        assert self.is_valid()
        return self._draft

    def said_so_far(self) -> CorrectionDraft:
        """The part of it that is already whole, for the sentence under the form."""
        self.is_valid()
        return self._draft

    def _should_say(self) -> str | None:
        """An answer that was only taken over, to start from, says nothing yet."""
        said = self.should_say_text
        return said if said.strip() and said.strip() != self.correctable.answer_text.strip() else None

    def _refuse_contradictions(self) -> None:
        if self.decisions_said == Verdict.RIGHT and self.marks.are_any:
            words = ngettext(
                "You said all decisions are right, and marked %(count)d call. Choose wrong, or take the mark off.",
                "You said all decisions are right, and marked %(count)d calls. Choose wrong, or take the marks off.",
                self.marks.count,
            )
            self.add_error(None, words % {"count": self.marks.count})
        if self.answer_said == Verdict.RIGHT and self.should_say_text.strip():
            self.add_error(
                None, _("You said the answer is right, and what it should have said instead. Choose one of the two.")
            )


def _item_marks(posted: Mapping[str, Any], items: Sequence[Item]) -> Iterator[ItemMark]:
    for index, item in enumerate(items):
        said = text_of(posted, f"item-{index}")
        yield ItemMark(index, item, said if said in set(Verdict) else "")


def _corrected(marks: Sequence[ItemMark]) -> Iterator[CorrectedItem]:
    for mark in marks:
        if mark.verdict:
            item = mark.item
            yield CorrectedItem(item.key, Verdict(mark.verdict), pointer=item.pointer, rank=item.rank)


def _verdict(said: str) -> Verdict | None:
    return Verdict(said) if said in set(Verdict) else None
