"""Grading a case over its repetitions (contract 17.4; decisions 1, 7, 9, 16 and 19)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from corrections.rules.calls import Call, calls_made, listed
from corrections.rules.matching import Failure, WantedCall, forbidden, other_tools, unmet, wanted_calls
from corrections.rules.outputs import Item, answer_of, items_of
from corrections.rules.pointers import MISSING
from corrections.rules.weights import AnswerPlace, ItemSum, answer_place
from corrections.vocabulary import Verdict
from kindgi_site.exact_json import canonical
from testsets.rules.cases import Case
from testsets.rules.changes import Changes, changes
from testsets.rules.items import CaseItems, ranked
from testsets.rules.metrics import Score, score


class Outcome(StrEnum):
    RIGHT = "right"
    WRONG = "wrong"
    UNGRADED = "ungraded"


class By(StrEnum):
    """Who said whether an answer is right; nobody had to where it equals the recorded one."""

    SUBMITTED = "submitted"
    JUDGE = "judge"


@dataclass(frozen=True, slots=True)
class AnswerVerdict:
    verdict: Verdict
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """What one repetition gave. `output` is parsed, MISSING when it stopped or failed; `calls` is the parsed list sent.

    `fresh` are sums of corrections made since on the run behind it, for a rescore.
    """

    output: Any = MISSING
    calls: Sequence[Any] | None = None
    answer: AnswerVerdict | None = None
    judged: AnswerVerdict | None = None
    stopped: bool = False
    fresh: Mapping[str, ItemSum] | None = None

    @property
    def has_output(self) -> bool:
        return self.output is not MISSING


@dataclass(frozen=True, slots=True)
class Question:
    """What a judge is asked about one answer."""

    recorded: Any
    new: Any
    verdict: Verdict
    should_say: str | None
    why: str | None


@dataclass(frozen=True, slots=True)
class Part:
    """How one part of what a case asks came out. `failures` say why decisions are wrong."""

    outcome: Outcome
    failures: tuple[Failure, ...] = ()
    by: By | None = None
    reason: str | None = None

    def wire(self) -> dict[str, Any]:
        said: dict[str, Any] = {"outcome": self.outcome.value}
        if self.failures:
            said["failures"] = [failure.wire() for failure in self.failures]
        if self.by is not None:
            said["by"] = self.by.value
        if self.reason is not None:
            said["reason"] = self.reason
        return said


UNGRADED = Part(Outcome.UNGRADED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """A part the case does not ask for is None."""

    decisions: Part | None = None
    answer: Part | None = None
    items: Part | None = None

    def asked(self) -> list[Part]:
        return [part for part in (self.decisions, self.answer, self.items) if part is not None]

    def wire(self) -> dict[str, Any]:
        named = {"decisions": self.decisions, "answer": self.answer, "items": self.items}
        return {name: part.wire() for name, part in named.items() if part is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseGrade:
    """`repetitions` and `scores` are of the repetitions that gave an output; `changes` is the first one's."""

    outcome: Outcome
    parts: Parts
    repetitions: tuple[Parts, ...]
    baseline: Score
    scores: tuple[Score, ...]
    changes: Changes | None
    settles: Outcome | None
    """What the grading says of the correction behind a frozen case (contract 16.3); None when it says nothing."""

    def wire(self) -> dict[str, Any]:
        return {"outcome": self.outcome.value} | self.parts.wire()


def grade_case(case: Case, submissions: Sequence[Submission], *, k: int) -> CaseGrade:
    """The case, narrowed already to the words that count, against what each repetition of the test run gave."""
    measure = _Measure(case, k)
    given = [submission for submission in submissions if submission.has_output]
    outputs = [items_of(case.subject_kind, submission.output) for submission in given]
    repetitions = tuple(measure.parts(one, items) for one, items in zip(given, outputs, strict=True))
    parts = _over_repetitions(repetitions)
    return CaseGrade(
        outcome=_case_outcome(parts),
        parts=parts,
        repetitions=repetitions,
        baseline=measure.baseline,
        scores=tuple(measure.score(items, one.fresh) for one, items in zip(given, outputs, strict=True)),
        changes=changes(case.items, measure.sums, outputs[0]) if outputs else None,
        settles=_settled(case, submissions, repetitions),
    )


def question_for(case: Case, submission: Submission) -> Question | None:
    """What to ask a judge: None where the case asks nothing of the answer, or it is decided without."""
    if case.expect is None or case.expect.answer is None or not submission.has_output:
        return None
    recorded, new = (answer_of(case.subject_kind, output) for output in (case.output, submission.output))
    if new is None or submission.answer is not None:
        return None
    if recorded is not None and canonical(recorded.value) == canonical(new.value):
        return None
    asked = case.expect.answer
    return Question(recorded.value if recorded else None, new.value, asked.verdict, asked.should_say, asked.why)


@dataclass(frozen=True, slots=True)
class _Leaning:
    """Whether people want to see an item. `is_wanted` is None when their words weigh the same."""

    key: str
    pointer: str | None
    rank: int | None
    is_wanted: bool | None


@dataclass(frozen=True, slots=True)
class _CallsAsked:
    wanted: tuple[WantedCall, ...]
    not_called: tuple[str, ...]

    def failures(self, made: Sequence[Call]) -> list[Failure]:
        return unmet(self.wanted, made) + forbidden(self.not_called, made)


@dataclass(frozen=True, slots=True)
class _ToolsAsked:
    recorded: tuple[str, ...]

    def failures(self, made: Sequence[Call]) -> list[Failure]:
        return other_tools(self.recorded, made)


class _Measure:
    """One case made ready once, to measure any number of outputs against."""

    def __init__(self, case: Case, k: int) -> None:
        self.case, self.k = case, k
        self.sums = CaseItems(case.items, case.output)
        recorded = items_of(case.subject_kind, case.output)
        self.baseline = score(recorded, self.sums, k)
        place = answer_place(case.subject_kind, case.output)
        self.asks_items, leanings = _leanings(case, ranked(recorded), place)
        self.some_wanted = any(leaning.is_wanted for leaning in leanings)
        self.some_lean = any(leaning.is_wanted is not None for leaning in leanings)
        self.leanings = CaseItems(leanings, case.output)
        self.decisions = _decisions_asked(case)
        answer = answer_of(case.subject_kind, case.output) if case.expect and case.expect.answer else None
        self.answer = canonical(answer.value) if answer else None

    def parts(self, submission: Submission, output_items: Sequence[Item]) -> Parts:
        return Parts(
            decisions=self._decisions(submission),
            answer=self._answer(submission),
            items=self._items(output_items),
        )

    def score(self, output_items: Sequence[Item], fresh: Mapping[str, ItemSum] | None) -> Score:
        return score(output_items, self.sums, self.k, fresh)

    def _decisions(self, submission: Submission) -> Part | None:
        if self.decisions is None:
            return None
        made = _calls_of(self.case.subject_kind, submission)
        if made is None or not self.decisions:
            return UNGRADED
        # Two people may ask for the same call: it fails once.
        failures: list[Failure] = []
        for asked in self.decisions:
            failures += [failure for failure in asked.failures(made) if failure not in failures]
        return Part(Outcome.WRONG if failures else Outcome.RIGHT, tuple(failures))

    def _answer(self, submission: Submission) -> Part | None:
        asked = self.case.expect.answer if self.case.expect else None
        if asked is None:
            return None
        new = answer_of(self.case.subject_kind, submission.output)
        if new is not None and canonical(new.value) == self.answer:
            return Part(Outcome(asked.verdict.value))
        for said, by in ((submission.answer, By.SUBMITTED), (submission.judged, By.JUDGE)):
            if said is not None:
                return Part(Outcome(said.verdict.value), by=by, reason=said.reason)
        return UNGRADED

    def _items(self, output_items: Sequence[Item]) -> Part | None:
        if not self.asks_items:
            return None
        if not self.some_lean:
            return UNGRADED
        top = [self.leanings.same_as(item) for item in ranked(output_items, self.k)]
        shows_unwanted = any(leaning is not None and leaning.is_wanted is False for leaning in top)
        lacks_wanted = self.some_wanted and not any(leaning is not None and leaning.is_wanted for leaning in top)
        return Part(Outcome.WRONG if shows_unwanted or lacks_wanted else Outcome.RIGHT)


def _decisions_asked(case: Case) -> list[_CallsAsked | _ToolsAsked] | None:
    """None when nothing is asked, empty when what is asked cannot be known."""
    if case.expect is not None:
        asked = case.expect.decisions
        if asked is None:
            return None
        if asked.verdict == Verdict.RIGHT:
            return [] if case.called_tools is None else [_ToolsAsked(case.called_tools)]
        return [_CallsAsked(wanted_calls(asked.should_call), asked.must_not_call)]
    each = [_CallsAsked(wanted_calls(entry.calls), entry.not_called) for entry in case.corrections]
    return list(each) or None


def _leanings(case: Case, recorded: Sequence[Item], place: AnswerPlace) -> tuple[bool, list[_Leaning]]:
    """(whether the case asks for the right items, which it wants to see among the ranked ones and which not)."""
    spoken = _spoken(case)
    entering = [leaning for leaning in spoken if _may_be_ranked(leaning, recorded, place)]
    return bool(entering) or (case.expect is not None and bool(spoken)), entering


def _spoken(case: Case) -> list[_Leaning]:
    if case.expect is not None:
        return [
            _Leaning(item.key, item.pointer, item.rank, item.verdict == Verdict.RIGHT) for item in case.expect.items
        ]
    return [_Leaning(item.key, item.pointer, item.rank, _is_wanted(item)) for item in case.items]


def _is_wanted(item: ItemSum) -> bool | None:
    return item.leans_yes if item.leans_yes or item.leans_no else None


def _may_be_ranked(leaning: _Leaning, recorded: Sequence[Item], place: AnswerPlace) -> bool:
    """Whether it speaks of an item in a list. Some who correct leave the rank out, so its place is looked at too."""
    if leaning.rank is not None or any(leaning.pointer == item.pointer for item in recorded):
        return True
    return leaning.pointer is None and leaning.key != place.key


def _calls_of(subject_kind: str, submission: Submission) -> list[Call] | None:
    if submission.calls is not None:
        return list(listed(submission.calls))
    # A flow's calls stand in its context, which is not handed in with an output: they are unknown then.
    return calls_made(subject_kind, submission.output, None, None)


def _over_repetitions(repetitions: Sequence[Parts]) -> Parts:
    return Parts(
        decisions=_over([parts.decisions for parts in repetitions]),
        answer=_over([parts.answer for parts in repetitions]),
        items=_over([parts.items for parts in repetitions]),
    )


def _over(parts: Iterable[Part | None]) -> Part | None:
    """The first repetition's part that was wrong, else that was right, else any (decision 19)."""
    asked = [part for part in parts if part is not None]
    order = (Outcome.WRONG, Outcome.RIGHT, Outcome.UNGRADED)
    return min(asked, key=lambda part: order.index(part.outcome), default=None)


def _case_outcome(parts: Parts) -> Outcome:
    outcomes = {part.outcome for part in parts.asked()}
    if Outcome.WRONG in outcomes:
        return Outcome.WRONG
    return Outcome.RIGHT if Outcome.RIGHT in outcomes else Outcome.UNGRADED


def _settled(case: Case, submissions: Sequence[Submission], repetitions: Sequence[Parts]) -> Outcome | None:
    if case.expect is None or any(submission.stopped for submission in submissions):
        return None
    outcomes = [part.outcome for parts in repetitions for part in parts.asked()]
    if Outcome.WRONG in outcomes:
        return Outcome.WRONG
    is_whole = bool(outcomes) and len(repetitions) == len(submissions)
    return Outcome.RIGHT if is_whole and set(outcomes) == {Outcome.RIGHT} else None
