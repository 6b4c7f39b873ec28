"""Ask the configured judge about answers that nobody decided (contract 17.4)."""

import logging
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string

from corrections.rules.pointers import MISSING
from corrections.vocabulary import Verdict
from kindgi_site.stored_json import JsonText
from testsets.models import TestRunCase, TestRunOutput
from testsets.rules.cases import Case, read_case
from testsets.rules.grading import AnswerVerdict, Question, Submission, question_for

logger = logging.getLogger(__name__)

# A judge is given a question and the case's parsed input; None, or anything it raises, leaves the answer ungraded.
Judge = Callable[[Question, Any], AnswerVerdict | None]


def judged(outputs: Sequence[TestRunOutput], cases: Iterable[TestRunCase]) -> Sequence[TestRunOutput]:
    """The outputs, with the judge's verdict on each answer that needs one. Without a judge they stay as they are."""
    judge = configured_judge()
    if judge is None:
        return outputs
    by_id = {case.id: case for case in cases}
    for output in outputs:
        verdict = _asked(judge, by_id[output.run_case_id], output)
        if verdict is not None:
            output.judged = JsonText.of(_wire(verdict))
    return outputs


def configured_judge() -> Judge | None:
    """The callable that the setting TEST_JUDGE names, or None."""
    return _imported(settings.TEST_JUDGE) if settings.TEST_JUDGE else None


@cache
def _imported(path: str) -> Judge:
    judge: Judge = import_string(path)
    return judge


def _asked(judge: Judge, run_case: TestRunCase, output: TestRunOutput) -> AnswerVerdict | None:
    wire = run_case.frozen.wire
    assert wire is not None
    question = question_for(case_of(run_case), submission_of(output))
    if question is None:
        return None
    try:
        return judge(question, wire.value["input"])
    except Exception:  # whatever a judge does, the output is kept and its answer stays ungraded
        logger.exception("The judge failed on case %s", run_case.case_id)
        return None


def case_of(run_case: TestRunCase) -> Case:
    frozen = run_case.frozen
    assert frozen.wire is not None
    tools: list[str] | None = frozen.called_tools.value if frozen.called_tools else None
    return read_case(frozen.wire.value, tools)


def submission_of(output: TestRunOutput, fresh: dict[str, Any] | None = None) -> Submission:
    """One repetition as grading sees it; `fresh` are sums of what was said since of the run behind it."""
    return Submission(
        output=output.output.value if output.output else MISSING,
        calls=output.calls.value if output.calls else None,
        answer=_verdict(output.answer),
        judged=_verdict(output.judged),
        stopped=output.stopped is not None,
        fresh=fresh,
    )


def _verdict(stored: JsonText | None) -> AnswerVerdict | None:
    if stored is None:
        return None
    return AnswerVerdict(Verdict(stored.value["verdict"]), stored.value.get("reason"))


def _wire(verdict: AnswerVerdict) -> dict[str, str]:
    said = {"verdict": verdict.verdict.value}
    return said if verdict.reason is None else said | {"reason": verdict.reason}
