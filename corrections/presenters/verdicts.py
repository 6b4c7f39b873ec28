"""What is said so far, before it is saved."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString

from corrections.drafts import CorrectionDraft
from corrections.forms import CorrectionForm
from corrections.presenters.sentences import sentences
from corrections.vocabulary import Verdict


@dataclass(frozen=True, slots=True)
class VerdictSoFar:
    decisions: str
    decisions_are_implied: bool
    marks: int
    answer: str
    right_items: int
    wrong_items: int
    sentences: list[SafeString]
    problems: list[str]

    @property
    def says_nothing(self) -> bool:
        return not (self.decisions or self.answer or self.right_items or self.wrong_items)


def verdict_so_far(form: CorrectionForm, called: Sequence[str] | None, problems: Sequence[str] = ()) -> VerdictSoFar:
    draft: CorrectionDraft = form.said_so_far()
    verdicts = [item.verdict for item in draft.items]
    return VerdictSoFar(
        decisions=form.decisions_said,
        decisions_are_implied=form.decisions_are_implied,
        marks=form.marks.count,
        answer=form.answer_said,
        right_items=verdicts.count(Verdict.RIGHT),
        wrong_items=verdicts.count(Verdict.WRONG),
        sentences=sentences(draft, called),
        problems=[str(problem) for errors in form.errors.values() for problem in errors] + list(problems),
    )
