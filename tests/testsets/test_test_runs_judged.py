"""A configured judge is asked while outputs are handed in (contract 17.4)."""

import pytest
from django.db import connection

from corrections.vocabulary import Verdict
from tests.loop import ANSWER
from testsets.rules.grading import AnswerVerdict
from testsets.services import judging

NEW = {"output": {"content": "On Tuesday."}}


class Judge:
    """Stands in for the judge of a deployment: says what it is told to, and remembers what it was asked."""

    def __init__(self, says):
        self.says, self.asked, self.held = says, [], []

    def __call__(self, question, said):
        self.asked.append((question.recorded, question.new, question.verdict, question.why, said))
        self.held.append(connection.in_atomic_block)
        if isinstance(self.says, Exception):
            raise self.says
        return self.says


@pytest.fixture
def judge(settings):
    """Sets the judge; what tests configure is imported by path, as a deployment's is."""

    def configured(says):
        settings.TEST_JUDGE = f"{__name__}.configured"
        globals()["configured"] = Judge(says)
        judging._imported.cache_clear()
        return globals()["configured"]

    yield configured
    judging._imported.cache_clear()


@pytest.fixture
def case(loop):
    correction = loop.correct(loop.run(), answer="wrong", why="It is late.")
    loop.freeze()
    return correction


def graded(loop, *entries):
    run = loop.start()
    for entry in entries:
        loop.submit(run, entry)
    return loop.ask("GET", f"/v1/test-runs/{run}")["result"]["perCase"][0]["answer"]


def test_the_judge_says_what_nobody_decided(loop, case, judge):
    said = judge(AnswerVerdict(Verdict.RIGHT, "Earlier than before."))

    told = graded(loop, {"caseId": case} | NEW)

    assert told == {"outcome": "right", "by": "judge", "reason": "Earlier than before."}
    asked = (ANSWER, NEW["output"], Verdict.WRONG, "It is late.", {"message": "Where is my order?"})
    assert said.asked == [asked]


@pytest.mark.parametrize(
    "entry",
    [{"output": ANSWER}, NEW | {"answer": {"verdict": "wrong"}}, {"error": "It fell over."}],
    ids=["as recorded", "submitted", "error"],
)
def test_the_judge_is_not_asked_what_is_decided(loop, case, judge, entry):
    said = judge(AnswerVerdict(Verdict.RIGHT))
    loop.submit(loop.start(), {"caseId": case} | entry)

    assert said.asked == []


@pytest.mark.parametrize("says", [None, ValueError("no")], ids=["nothing", "fails"])
def test_a_judge_that_knows_nothing_or_fails_leaves_the_answer_ungraded(loop, case, judge, says):
    judge(says)

    assert graded(loop, {"caseId": case} | NEW) == {"outcome": "ungraded"}


def test_a_refused_request_stores_no_verdict_and_an_output_that_is_there_is_not_judged_again(loop, judge):
    one, other = (loop.correct(loop.run(), answer="wrong", why="Late.") for _ in range(2))
    loop.freeze()
    said = judge(AnswerVerdict(Verdict.RIGHT))
    run = loop.start()

    loop.submit(run, {"caseId": one} | NEW)
    loop.submit(run, {"caseId": one} | NEW)
    assert len(said.asked) == 1
    conflict = {"outputs": [{"caseId": other} | NEW, {"caseId": one, "output": "Else."}]}
    assert loop.client.post(f"/v1/test-runs/{run}/outputs", conflict).status_code == 409
    assert len(said.asked) == 1


@pytest.mark.django_db(transaction=True)
def test_nothing_is_held_while_the_judge_thinks(loop, case, judge):
    said = judge(AnswerVerdict(Verdict.RIGHT))

    graded(loop, {"caseId": case} | NEW)

    assert said.held == [False]
