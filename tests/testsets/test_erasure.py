"""What an erasure does to test sets, hand cases and test runs (contract 12.3)."""

from uuid import uuid4

import pytest

from tests.loop import ANSWER, RIGHT_CALL, WRONG_CALL, output
from tests.seed_schema import faults, needs_seed_schema
from testsets.models import HandCase, TestCase, TestRunCase, TestRunOutput

ERASED = {"input": None, "output": None, "items": [], "erased": True}
SUBJECT = {"subject": {"kind": "agent", "id": "support", "version": "1.0.0"}}
SEGMENTS = [{"key": "team", "value": "north"}]
SETTLED = {"decisions": "wrong", "shouldCall": [{"tool": "find_order", "args": {"order": 7}}]}


def result(loop, run):
    return loop.ask("GET", f"/v1/test-runs/{run}")["result"]


def running(loop, run):
    record = loop.ask("GET", f"/v1/test-runs/{run}")
    rows = loop.ask("GET", f"/v1/test-runs/{run}/cases")["data"]
    return record["status"], [(row["caseId"], row["remaining"], row.get("erased")) for row in rows]


@needs_seed_schema
def test_built_cases_are_emptied_in_every_version_and_keep_their_ids(loop, root_client):
    run, other = loop.run(segments=SEGMENTS, context={"history": ["x"]}, calls=[WRONG_CALL]), loop.run()
    correction = loop.correct(run, **SETTLED)
    loop.correct(other, answer="wrong", why="Late.")
    loop.build("1.0.0")
    loop.build("2.0.0")
    loop.freeze()
    loop.ask("POST", "/v1/test-sets/built/versions/1.0.0/unregister")
    specs = [loop.ask("GET", f"/v1/test-sets/built/versions/{version}") for version in ("1.0.0", "2.0.0")]
    before = {name: loop.cases("1.0.0", name) for name in ("built", "support.corrections")}

    loop.erase(run, root_client)

    for version in ("1.0.0", "2.0.0"):
        assert loop.cases(version, "built") == [before["built"][0], {"caseId": run, "runId": run} | SUBJECT | ERASED]
    frozen = loop.cases("1.0.0")
    assert frozen == [before["support.corrections"][0], {"caseId": correction, "runId": run} | SUBJECT | ERASED]
    assert [problem for case in frozen for problem in faults("TestCase", case)] == []
    assert [loop.ask("GET", f"/v1/test-sets/built/versions/{version}") for version in ("1.0.0", "2.0.0")] == specs
    gone = TestCase.objects.filter(run_id=run)
    assert (gone.filter(erased_at=None).count(), gone.exclude(called_tools=None).count()) == (0, 0)
    loop.build("3.0.0")
    assert [case["runId"] for case in loop.cases("3.0.0", "built")] == [other]


def test_an_experts_erased_case_stays_an_experts(loop, root_client):
    run = loop.run()
    body = {"expect": {"answer": {"verdict": "right"}}, "runId": run, "expert": True}
    hand = loop.ask("POST", f"{loop.base}/test-set/cases", body, status=201)["caseId"]
    loop.freeze()

    loop.erase(run, root_client)

    assert loop.cases("1.0.0") == [{"caseId": hand, "runId": run} | SUBJECT | {"expert": True} | ERASED]


def test_hand_cases_made_from_the_run_go_with_what_was_frozen_of_them(loop, root_client):
    run, other = loop.run(), loop.run()
    base = f"{loop.base}/test-set/cases"
    expect = {"expect": {"answer": {"verdict": "right"}}, "note": "As it should be."}
    draft = {"query": "Where is it?", "expectedOutput": "Here.", "agentVersion": "1.0.0"}
    made = [
        loop.ask("POST", base, expect | {"runId": run}, status=201)["caseId"],
        loop.ask("POST", f"{base}/from-run", {"runId": run}, status=201)["caseId"],
        loop.ask("POST", f"{base}/from-draft", draft | {"sourceKind": "FailedRun", "sourceRunId": run}, status=201)[
            "caseId"
        ],
    ]
    stays = loop.ask("POST", base, expect | {"runId": other}, status=201)["caseId"]
    loop.freeze()
    removed = loop.ask("POST", f"{base}/{made[0]}/unregister")["caseId"]
    at = HandCase.objects.get(id=removed.removeprefix("case-")).unregistered_at

    loop.erase(run, root_client)

    assert [case["caseId"] for case in loop.ask("GET", base)["data"]] == [stays]
    told = [(case["caseId"], case.get("erased")) for case in loop.cases("1.0.0")]
    assert told == [(stays, None), *((case, True) for case in made[::-1])]
    nothing = {"input": None, "output": None, "context": None, "segments": None, "calls": None, "called_tools": None}
    emptied = HandCase.objects.exclude(id=stays.removeprefix("case-"))
    for row in emptied.values(*nothing, "note", "expect", "unregistered_at"):
        assert row.pop("unregistered_at") is not None
        assert row.pop("expect").text == "{}"
        assert row == nothing | {"note": ""}
    assert emptied.get(id=removed.removeprefix("case-")).unregistered_at == at


def test_a_draft_that_names_the_run_in_capital_letters_goes_too(loop, root_client):
    run = loop.run()
    draft = {"query": "Where is it?", "expectedOutput": "Here.", "agentVersion": "1.0.0", "sourceRunId": run.upper()}
    base = f"{loop.base}/test-set/cases"
    assert loop.ask("POST", f"{base}/from-draft", draft, status=201)["sourceRunId"] == run

    loop.erase(run, root_client)

    assert loop.ask("GET", base)["data"] == []


WORDED = {
    "answer": {"verdict": "wrong", "reason": "WORD-reason", "model": {"providerId": "p", "model": "m"}},
    "output": {"content": "WORD-output", "output": {"list": [{"id": "WORD-key"}]}},
    "calls": [{"toolId": "find_order", "arguments": {"WORD-name": "WORD-got", "order": "WORD-order"}}],
}


@pytest.fixture
def finished(loop):
    """A run whose correction, and the repetitions of a finished test run, say words; its case stands beside another."""
    run = loop.run(calls=[WRONG_CALL])
    said = SETTLED | {"answer": "wrong", "why": "WORD-why"}
    correction, other = loop.correct(run, **said), loop.correct()
    loop.freeze()
    graded = loop.start(repetitions=3)
    loop.submit(
        graded,
        *(output(other, repetition=number) for number in range(3)),
        {"caseId": correction, "runId": "r-1"} | WORDED,
        {"caseId": correction, "repetition": 1, "stopped": {"reason": "WORD-stopped"}},
        {"caseId": correction, "repetition": 2, "error": "WORD-error"},
    )
    return run, correction, other, graded


def test_a_finished_test_run_keeps_its_scores_and_loses_the_words(loop, finished, root_client):
    run, correction, other, graded = finished
    before = result(loop, graded)
    worded = before["perCase"][1]
    assert (worded["caseId"], worded["stopped"], len(worded["changes"]["new"])) == (
        correction,
        {"reason": "WORD-stopped"},
        2,
    )

    loop.erase(run, root_client)

    after = result(loop, graded)
    kept = {name: worded[name] for name in worded if name != "changes"}
    assert after == before | {
        "perCase": [
            before["perCase"][0],
            kept
            | {
                "stopped": {"reason": "erased"},
                "decisions": {"outcome": "wrong", "failures": [{"kind": "different", "tool": "find_order"}]},
                "answer": {"outcome": "wrong", "by": "submitted"},
            },
        ]
    }
    rows = TestRunOutput.objects.filter(run_case__case_id=correction).order_by("repetition")
    assert [(row.output, row.calls, row.answer and row.answer.value, row.error) for row in rows] == [
        (None, None, {"verdict": "wrong"}, "erased"),
        (None, None, None, ""),
        (None, None, None, "erased"),
    ]
    assert TestRunOutput.objects.filter(run_case__case_id=other).exclude(output=None).count() == 3


def test_scoring_again_leaves_the_erased_case_out_and_counts_it(loop, finished, root_client):
    run, _correction, other, graded = finished
    loop.erase(run, root_client)

    new = loop.ask("POST", f"/v1/test-runs/{graded}/rescore", status=201)["runId"]
    again = loop.ask("POST", f"/v1/test-runs/{new}/rescore", status=201)["runId"]

    for each in (new, again):
        found = result(loop, each)
        assert [case["caseId"] for case in found["perCase"]] == [other]
        assert (found["summary"]["cases"], found["summary"]["erased"]) == (1, 1)


def test_what_a_finished_test_run_found_still_settles_the_correction(loop, root_client):
    """Verdicts and scores stay, so a version that was graded right and then ships has still fixed it."""
    run = loop.run(calls=[WRONG_CALL])
    correction = loop.correct(run, **SETTLED)
    loop.freeze()
    loop.grade("1.1.0", {correction: [RIGHT_CALL]})
    loop.erase(run, root_client)

    loop.change("pin", "1.1.0")

    assert loop.correction(correction)["status"] == "fixed"


def test_a_running_test_run_waits_for_less_and_drops_what_comes_later(loop, root_client):
    run = loop.run(calls=[WRONG_CALL])
    gone, stays = loop.correct(run, **SETTLED), loop.correct()
    loop.freeze()
    at_work = loop.start(repetitions=2)
    loop.submit(at_work, output(gone), output(stays))

    loop.erase(run, root_client)

    assert running(loop, at_work) == ("running", [(stays, 1, None), (gone, 0, True)])
    assert TestRunOutput.objects.count() == 1
    late = loop.submit(at_work, output(gone), output(gone, [WRONG_CALL], repetition=1))
    assert (late, TestRunOutput.objects.count()) == ({"accepted": 2, "remaining": 1, "status": "running"}, 1)
    done = loop.submit(at_work, output(stays, repetition=1))
    assert done == {"accepted": 1, "remaining": 0, "status": "completed"}
    found = result(loop, at_work)
    assert [case["caseId"] for case in found["perCase"]] == [stays]
    told = {name: found["summary"][name] for name in ("cases", "erased", "errors", "status", "outcomes")}
    assert told == {
        "cases": 1,
        "erased": 1,
        "errors": 0,
        "status": "completed",
        "outcomes": {"right": 1, "wrong": 0, "ungraded": 0},
    }


def test_a_running_test_run_left_with_nothing_to_wait_for_finishes_and_settles(loop, root_client):
    run = loop.run(calls=[WRONG_CALL])
    gone, stays = loop.correct(run, **SETTLED), loop.correct()
    loop.freeze()
    loop.change("pin", "1.1.0")
    at_work = loop.start()
    loop.submit(at_work, output(stays))
    assert loop.correction(stays)["status"] == "with-owner"

    loop.erase(run, root_client)

    assert running(loop, at_work) == ("completed", [(stays, 0, None), (gone, 0, True)])
    assert (loop.correction(stays)["status"], loop.correction(gone)["status"]) == ("fixed", "with-owner")


def test_a_running_test_run_of_erased_cases_only_is_over_without_an_error(loop, root_client):
    run = loop.run(calls=[WRONG_CALL])
    loop.correct(run, **SETTLED)
    loop.freeze()
    at_work = loop.start()

    loop.erase(run, root_client)

    summary = result(loop, at_work)["summary"]
    assert (summary["status"], summary["cases"], summary["erased"], summary["errors"]) == ("completed", 0, 1, 0)


def test_a_test_run_to_come_leaves_the_case_out_and_counts_it(loop, root_client):
    run = loop.run(calls=[WRONG_CALL])
    loop.correct(run, **SETTLED)
    stays = loop.correct()
    loop.freeze()
    loop.erase(run, root_client)

    done = loop.grade("1.1.0", {stays: [RIGHT_CALL]})

    assert [case["caseId"] for case in done["result"]["perCase"]] == [stays]
    assert (done["result"]["summary"]["cases"], done["result"]["summary"]["erased"]) == (1, 1)


@pytest.mark.parametrize("is_over", [True, False], ids=["finished", "running"])
def test_an_output_that_the_erased_run_itself_gave_goes_too(loop, root_client, is_over):
    correction = loop.correct()
    loop.freeze()
    behind = loop.run(output=WORDED["output"], calls=WORDED["calls"], replayOf=str(uuid4()))
    at_work = loop.start(repetitions=1 if is_over else 2)
    entry = {"caseId": correction, "runId": behind.upper()} | WORDED
    loop.submit(at_work, entry)

    loop.erase(behind, root_client)

    row = TestRunOutput.objects.get()
    assert (row.output, row.calls, row.answer.value, row.error) == (None, None, {"verdict": "wrong"}, "erased")
    if is_over:
        case = result(loop, at_work)["perCase"][0]
        assert (case["outcome"], case["runIds"], "WORD" in str(case)) == ("wrong", [behind], False)
        return
    again = loop.submit(at_work, entry)
    assert again == {"accepted": 1, "remaining": 1, "status": "running"}
    loop.submit(at_work, output(correction, repetition=1))
    case = result(loop, at_work)["perCase"][0]
    assert (case["outcome"], len(case["candidate"]), "WORD" in str(case)) == ("right", 1, False)


@pytest.mark.parametrize("whose", ["participant", "conversation"])
def test_erasing_a_participant_or_a_conversation_does_the_same(loop, root_client, whose):
    conversation = str(uuid4())
    agent = {"id": "support", "version": "1.0.0", "conversationId": conversation}
    theirs = [loop.run(calls=[WRONG_CALL], participantId="u-1", agent=agent) for _ in range(2)]
    for run in theirs:
        loop.correct(run, **SETTLED)
    stays = loop.correct()
    loop.freeze()
    body = (
        {"subject": {"kind": "participant", "id": "u-1"}}
        if whose == "participant"
        else {"conversationId": conversation}
    )

    receipt = root_client.post("/v1/memory/erasures", body).json()

    assert [case.get("erased") for case in loop.cases("1.0.0")] == [None, True, True]
    assert loop.cases("1.0.0")[0]["caseId"] == stays
    assert receipt["counts"] == {
        "runs": 2,
        "copies": 2,
        "corrections": 2,
        "queue": 0,
        "answers": 0,
        "testCases": 2,
        "handCases": 0,
        "testRunOutputs": 0,
    }


def test_another_workspaces_run_of_the_same_id_is_not_touched(loop, root_client, foreign_loop):
    run = loop.run()
    loop.correct(run, answer="right")
    foreign_loop.ask("PUT", f"/v1/runs/{run}", foreign_body(foreign_loop), status=201)
    foreign_loop.correct(run, answer="right")
    loop.freeze()
    foreign_loop.freeze()
    before = foreign_loop.cases("1.0.0")

    loop.erase(run, root_client)

    assert (foreign_loop.cases("1.0.0"), loop.cases("1.0.0")[0]["erased"]) == (before, True)


def foreign_body(loop):
    return {
        "projectId": str(loop.project.id),
        "agent": {"id": "support", "version": "1.0.0"},
        "status": "completed",
        "completedAt": "2026-03-01T09:30:00Z",
        "input": {},
        "output": ANSWER,
    }


def test_erased_cases_of_test_runs_are_told_apart_by_their_time(loop, root_client):
    run = loop.run(calls=[WRONG_CALL])
    correction = loop.correct(run, **SETTLED)
    loop.freeze()
    loop.grade("1.1.0", {correction: [RIGHT_CALL]})

    loop.erase(run, root_client)

    case = TestRunCase.objects.get()
    assert (case.erased_at, case.settles) == (TestCase.objects.get().erased_at, "right")
