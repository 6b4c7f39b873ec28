"""A configured judge is asked while outputs are handed in (contract 17.4)."""

from datetime import timedelta
from threading import Barrier, Event
from time import monotonic

import pytest
from django.db import connections

from corrections.vocabulary import Verdict
from kindgi_site import clock
from kindgi_site.workspaces.models import IdempotencyRecord
from tests.loop import ANSWER
from testsets.models import TestRunOutput
from testsets.rules.grading import AnswerVerdict
from testsets.services import judging

NEW = {"output": {"content": "On Tuesday."}}


class Judge:
    """Stands in for the judge of a deployment: says what it is told to, and remembers what it was asked.

    `meanwhile` is done while it thinks.
    """

    def __init__(self, says, meanwhile):
        self.says, self.meanwhile, self.asked = says, meanwhile, []

    def __call__(self, question, said):
        self.asked.append((question.recorded, question.new, question.verdict, question.why, said))
        self.meanwhile()
        if isinstance(self.says, Exception):
            raise self.says
        return self.says


@pytest.fixture
def judge(settings):
    """Sets the judge; what tests configure is imported by path, as a deployment's is."""

    def configured(says, meanwhile=lambda: None):
        settings.TEST_JUDGE = f"{__name__}.configured"
        globals()["configured"] = Judge(says, meanwhile)
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


def test_the_judge_is_not_asked_about_answers_that_do_not_count(loop, case, judge):
    """No expert said anything of the case, so a test run by the experts' words alone does not ask for its answer."""
    said = judge(AnswerVerdict(Verdict.RIGHT))
    run = loop.start(groupWeights="experts-only")
    loop.submit(run, {"caseId": case} | NEW)

    assert said.asked == []
    (result,) = loop.ask("GET", f"/v1/test-runs/{run}")["result"]["perCase"]
    assert (result["outcome"], "answer" in result) == ("ungraded", False)


@pytest.mark.parametrize(
    "says",
    [None, ValueError("no"), "right", True, AnswerVerdict("fine"), AnswerVerdict(Verdict.RIGHT, object())],
    ids=["nothing", "fails", "a word", "a truth", "no verdict", "no reason"],
)
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


WITH_OR_WITHOUT_KEY = pytest.mark.parametrize("headers", [{}, {"idempotency_key": "k"}], ids=["plain", "keyed"])
LATER = {"outcome": "right", "by": "judge"}


def hand_in(loop, run, *cases, **headers):
    return loop.client.post(
        f"/v1/test-runs/{run}/outputs", {"outputs": [{"caseId": case} | NEW for case in cases]}, **headers
    )


def answers(loop, run):
    return [case["answer"] for case in loop.ask("GET", f"/v1/test-runs/{run}")["result"]["perCase"]]


@WITH_OR_WITHOUT_KEY
@pytest.mark.django_db(transaction=True)
def test_nothing_is_held_while_the_judge_thinks(loop, case, judge, headers):
    """Others write meanwhile, which on SQLite one open transaction would keep all from."""
    asking, held = connections["default"], []

    def meanwhile():
        held.append(asking.in_atomic_block)
        loop.correct()

    said = judge(AnswerVerdict(Verdict.RIGHT), meanwhile)
    run = loop.start()

    response = hand_in(loop, run, case, **headers)

    assert (response.status_code, len(said.asked), held) == (200, 1, [False])
    assert answers(loop, run) == [LATER]


@pytest.mark.django_db(transaction=True)
def test_a_retry_meanwhile_waits_for_the_first(loop, case, judge):
    retries = []
    said = judge(AnswerVerdict(Verdict.RIGHT), lambda: retries.append(hand_in(loop, run, case, idempotency_key="k")))
    run = loop.start()

    first = hand_in(loop, run, case, idempotency_key="k")
    replay = hand_in(loop, run, case, idempotency_key="k")

    assert [retry.json()["error"]["code"] for retry in retries] == ["idempotency-key-in-flight"]
    assert (first.status_code, replay.content, replay["X-Idempotent-Replay"]) == (200, first.content, "true")
    assert len(said.asked) == 1


@pytest.mark.django_db(transaction=True)
def test_the_key_stays_held_however_long_the_judge_takes(loop, case, judge, monkeypatch):
    monkeypatch.setattr(judging, "BEAT_SECONDS", 0.01)
    soon, seen = clock.now() + timedelta(seconds=1), []

    def meanwhile():
        IdempotencyRecord.objects.update(expires_at=soon)
        give_up = monotonic() + 20
        while not seen and monotonic() < give_up:
            seen.extend(IdempotencyRecord.objects.filter(expires_at__gt=soon + timedelta(seconds=20)))

    judge(AnswerVerdict(Verdict.RIGHT), meanwhile)

    assert hand_in(loop, loop.start(), case, idempotency_key="k").status_code == 200
    assert len(seen) == 1


@WITH_OR_WITHOUT_KEY
@pytest.mark.django_db(transaction=True)
def test_what_ended_meanwhile_takes_nothing_in(loop, case, judge, headers):
    judge(AnswerVerdict(Verdict.RIGHT), lambda: loop.client.post(f"/v1/test-runs/{run}/cancel"))
    run = loop.start()

    response = hand_in(loop, run, case, **headers)

    assert response.json()["error"]["code"] == "test-run-already-terminal"
    assert not TestRunOutput.objects.exists()


@pytest.fixture
def two(loop):
    cases = [loop.correct(loop.run(), answer="wrong", why="It is late.") for _ in range(2)]
    loop.freeze()
    return cases


@pytest.mark.django_db(transaction=True)
def test_several_answers_are_judged_at_once(loop, two, judge, settings):
    """Each waits for the other; one after the other they would never meet."""
    settings.JUDGE_AT_ONCE = 2
    meeting = Barrier(2)
    judge(AnswerVerdict(Verdict.RIGHT), lambda: meeting.wait(timeout=20))
    run = loop.start()

    hand_in(loop, run, *two)

    assert answers(loop, run) == [LATER, LATER]


@pytest.mark.django_db(transaction=True)
def test_not_more_at_once_than_is_set(loop, two, judge, settings):
    settings.JUDGE_AT_ONCE = 1
    at_work, most = [], []

    def meanwhile():
        at_work.append(1)
        most.append(len(at_work))
        loop.correct()
        at_work.pop()

    judge(AnswerVerdict(Verdict.RIGHT), meanwhile)
    run = loop.start()

    hand_in(loop, run, *two)

    assert (most, answers(loop, run)) == ([1, 1], [LATER, LATER])


@WITH_OR_WITHOUT_KEY
@pytest.mark.django_db(transaction=True)
def test_what_is_not_judged_in_time_stays_ungraded(loop, two, judge, settings, headers):
    settings.JUDGE_AT_ONCE, settings.JUDGE_BUDGET_SECONDS = 1, 0.2
    over = Event()
    said = judge(AnswerVerdict(Verdict.RIGHT), lambda: over.wait(timeout=20))
    run = loop.start()

    response = hand_in(loop, run, *two, **headers)
    over.set()

    assert response.json() == {"accepted": 2, "remaining": 0, "status": "completed"}
    assert answers(loop, run) == [{"outcome": "ungraded"}] * 2
    assert len(said.asked) == 1
