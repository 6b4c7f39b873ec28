"""Ask the configured judge about answers that nobody decided (contract 17.4)."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache
from time import monotonic
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connections
from django.utils.module_loading import import_string

from corrections.rules.pointers import MISSING
from corrections.vocabulary import Verdict
from kindgi_site.stored_json import JsonText
from testsets.models import TestRunCase, TestRunOutput
from testsets.rules.cases import Case, narrowed, read_case
from testsets.rules.grading import AnswerVerdict, Question, Submission, question_for

logger = logging.getLogger(__name__)

# A judge is given a question and the case's parsed input; None, or anything it raises, leaves the answer ungraded.
# It is called from several threads at once.
Judge = Callable[[Question, Any], AnswerVerdict | None]
# A case of a test run and one of its repetitions.
Place = tuple[UUID, int]

# How often whoever waits says that it still does.
BEAT_SECONDS = 10


def verdicts_on(
    outputs: Sequence[TestRunOutput],
    cases: Iterable[TestRunCase],
    *,
    seconds: float,
    still_at_it: Callable[[], None],
) -> dict[Place, JsonText]:
    """What the configured judge says of the answers that need it, by case and repetition; {} without a judge.

    Up to JUDGE_AT_ONCE are asked about at once. What is not answered within `seconds` has no verdict.
    Outside any transaction, since it may take that long; `still_at_it` is called meanwhile, and at the end.
    """
    judge = configured_judge()
    if judge is None:
        return {}
    by_id = {case.id: case for case in cases}
    threads = ThreadPoolExecutor(settings.JUDGE_AT_ONCE, "judge")
    try:
        asked = {
            (output.run_case_id, output.repetition): threads.submit(_asked, judge, question, case)
            for output in outputs
            if (question := _question(case := by_id[output.run_case_id], output)) is not None
        }
        _wait_for(asked.values(), seconds, still_at_it)
        return _answered(asked)
    finally:
        threads.shutdown(wait=False, cancel_futures=True)


def _wait_for(asked: Iterable[Future[Any]], seconds: float, still_at_it: Callable[[], None]) -> None:
    deadline = monotonic() + seconds
    waiting = set(asked)
    while waiting and (left := deadline - monotonic()) > 0:
        _done, waiting = wait(waiting, timeout=min(BEAT_SECONDS, left))
        still_at_it()
    if waiting:
        logger.warning("%s answers were not judged within %s seconds", len(waiting), seconds)


def _answered(asked: Mapping[Place, Future[JsonText | None]]) -> dict[Place, JsonText]:
    answers = {place: future.result() for place, future in asked.items() if future.done()}
    return {place: verdict for place, verdict in answers.items() if verdict is not None}


def configured_judge() -> Judge | None:
    """The callable that the setting TEST_JUDGE names, or None."""
    return _imported(settings.TEST_JUDGE) if settings.TEST_JUDGE else None


@cache
def _imported(path: str) -> Judge:
    judge: Judge = import_string(path)
    return judge


def _question(run_case: TestRunCase, output: TestRunOutput) -> Question | None:
    return question_for(narrowed(case_of(run_case), run_case.test_run.group_weights), submission_of(output))


def _asked(judge: Judge, question: Question, run_case: TestRunCase) -> JsonText | None:
    wire = run_case.frozen.wire
    assert wire is not None
    try:
        verdict = judge(question, wire.value["input"])
        return None if verdict is None else JsonText.of(_wire(verdict))
    except Exception:  # whatever a judge does, the output is kept and its answer stays ungraded
        logger.exception("The judge failed on case %s", run_case.case_id)
        return None
    finally:
        connections.close_all()  # this thread's, should the judge have opened any


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
