"""POST /v1/test-runs/{runId}/outputs, /complete and /cancel (contract 17.3)."""

import pytest

from tests.api.expect import assert_refused, nothing_stored
from tests.at_once import at_once
from tests.loop import ANSWER, RIGHT_CALL, WRONG_CALL, output
from testsets.models import TestRun, TestRunOutput


@pytest.fixture
def frozen(loop):
    """Two cases, in the order of the set."""
    made = [loop.correct(), loop.correct()]
    loop.freeze()
    return made[::-1]


@pytest.fixture
def running(loop, frozen):
    return loop.start()


@pytest.fixture
def path(running):
    return f"/v1/test-runs/{running}/outputs"


def outputs():
    return TestRunOutput.objects.count()


def test_outputs_are_taken_until_the_last_one_ends_the_run(loop, frozen, running):
    assert loop.submit(running, output(frozen[0])) == {"accepted": 1, "remaining": 1, "status": "running"}
    assert loop.ask("GET", f"/v1/test-runs/{running}")["status"] == "running"

    assert loop.submit(running, output(frozen[1])) == {"accepted": 1, "remaining": 0, "status": "completed"}
    done = loop.ask("GET", f"/v1/test-runs/{running}")
    assert (done["status"], done["completedAt"]) == ("completed", done["result"]["summary"]["completedAt"])


def test_an_output_is_kept_as_it_was_sent(loop, frozen, running):
    """Key order, `1.0` and a long integer are evidence (decision 2)."""
    sent = '{"b":1.0, "a":12345678901234567890, "content": "\\u00e9"}'
    body = (
        f'{{"outputs":[{{"caseId":"{frozen[0]}","output":{sent},"calls":[{{"toolId":"t","error":"No."}}],'
        '"answer":{"verdict":"right","reason":"So it is.","model":{"providerId":"p","model":"m"}},"runId":"r-1",'
        '"diverged":true,"refusedWrites":2.0,"model":{"providerId":"p","model":"m"}}]}'
    )
    loop.ask("POST", f"/v1/test-runs/{running}/outputs", body)

    row = TestRunOutput.objects.get()
    assert (row.output.text, row.calls.text) == (sent, '[{"toolId":"t","error":"No."}]')
    assert (row.run_id, row.diverged, row.refused_writes, row.stopped, row.error) == ("r-1", True, 2, None, "")
    assert row.answer.value == {
        "verdict": "right",
        "reason": "So it is.",
        "model": {"providerId": "p", "model": "m"},
    }


def test_an_output_of_null_is_an_output(loop, frozen, running):
    loop.submit(running, {"caseId": frozen[0], "output": None, "calls": []}, output(frozen[1]))

    summary = loop.ask("GET", f"/v1/test-runs/{running}")["result"]["summary"]
    assert (summary["errors"], summary["decisions"]) == (0, {"right": 1, "wrong": 1, "ungraded": 0})


@pytest.mark.parametrize(
    ("entry", "field"),
    [
        ({}, "outputs"),
        ({"output": ANSWER, "error": "No."}, "outputs"),
        ({"output": ANSWER, "stopped": {"reason": "No."}}, "outputs"),
        ({"stopped": {}}, "outputs.stopped.reason"),
        ({"error": " "}, "outputs.error"),
        ({"error": "x" * 4001}, "outputs.error"),
        ({"output": ANSWER, "calls": {}}, "outputs.calls"),
        ({"output": ANSWER, "calls": [{"tool": "t"}]}, "calls"),
        ({"output": ANSWER, "calls": [{"toolId": ""}]}, "calls"),
        ({"output": ANSWER, "answer": {"verdict": "good"}}, "outputs.answer.verdict"),
        ({"output": ANSWER, "answer": {"verdict": "right", "reason": "x" * 4001}}, "outputs.answer.reason"),
        ({"output": ANSWER, "repetition": -1}, "outputs.repetition"),
        ({"output": ANSWER, "repetition": 1}, "outputs"),
        ({"output": ANSWER, "repetition": True}, "outputs.repetition"),
        ({"output": ANSWER, "refusedWrites": -1}, "outputs.refusedWrites"),
        ({"output": ANSWER, "diverged": 1}, "outputs.diverged"),
        ({"output": ANSWER, "caseId": "case-0"}, "outputs"),
        ({"output": ANSWER, "rank": 1}, "outputs.rank"),
    ],
)
def test_one_bad_entry_refuses_the_whole_request(loop, frozen, path, refusal, entry, field):
    good = output(frozen[0])

    with nothing_stored():
        response = loop.client.post(path, {"outputs": [good, {"caseId": frozen[1]} | entry]})

    assert (response.status_code, response.json()) == (400, refusal(response, "bad-input", {"field": field}))


@pytest.mark.parametrize("count", [0, 101])
def test_one_to_a_hundred_outputs_are_handed_in_at_once(loop, frozen, path, refusal, count):
    with nothing_stored():
        response = loop.client.post(path, {"outputs": [output(frozen[0])] * count})

    assert (response.status_code, response.json()) == (400, refusal(response, "bad-input", {"field": "outputs"}))


def test_the_same_output_again_is_accepted_silently(loop, frozen, running):
    """By value: spacing and the order of keys are no difference, neither is it within one request."""
    entry = output(frozen[0])
    loop.submit(running, entry)
    before = TestRunOutput.objects.values().get()
    reordered = {name: entry[name] for name in reversed(entry)} | {"repetition": 0}

    assert loop.submit(running, reordered, entry) == {"accepted": 2, "remaining": 1, "status": "running"}
    assert TestRunOutput.objects.values().get() == before


@pytest.mark.parametrize(
    "other",
    [
        {"calls": [WRONG_CALL]},
        {"output": {"content": "Never."}},
        {"diverged": True},
        {"runId": "r-2"},
    ],
    ids=["calls", "output", "diverged", "run"],
)
def test_another_output_of_the_same_repetition_is_refused_with_all_beside_it(loop, frozen, running, path, other):
    loop.submit(running, output(frozen[0]))

    with nothing_stored():
        refused = loop.client.post(path, {"outputs": [output(frozen[1]), output(frozen[0]) | other]})

    assert_refused(refused, 409, "test-run-output-exists", caseId=frozen[0], repetition=0)


def test_two_outputs_of_one_repetition_in_one_request_are_refused_too(loop, frozen, path):
    with nothing_stored():
        twice = {"outputs": [output(frozen[0]), output(frozen[0], [WRONG_CALL])]}
        assert_refused(loop.client.post(path, twice), 409, "test-run-output-exists", caseId=frozen[0], repetition=0)


def test_each_repetition_takes_an_output_of_its_own(loop, frozen):
    run = loop.start(repetitions=2)

    first = loop.submit(run, *(output(case, repetition=number) for case in frozen for number in (1,)))
    last = loop.submit(run, output(frozen[0]), output(frozen[1], [WRONG_CALL]))

    assert (first["remaining"], last["remaining"], last["status"]) == (2, 0, "completed")
    assert TestRunOutput.objects.filter(run_case__case_id=frozen[0]).count() == 2


def test_a_run_that_is_over_takes_nothing_and_cannot_end_again(loop, frozen, running, path):
    loop.submit(running, *map(output, frozen))

    with nothing_stored():
        for address, body in (
            (path, {"outputs": [output(frozen[0])]}),
            (f"/v1/test-runs/{running}/complete", b""),
            (f"/v1/test-runs/{running}/cancel", b""),
        ):
            refused = loop.client.post(address, body)
            assert_refused(refused, 409, "test-run-already-terminal", runId=running, status="completed")


def test_completing_counts_what_is_missing_as_an_error(loop, frozen, running):
    loop.submit(running, output(frozen[0]))

    done = loop.ask("POST", f"/v1/test-runs/{running}/complete")

    assert done == loop.ask("GET", f"/v1/test-runs/{running}")
    assert (done["status"], done["result"]["summary"]["status"], done["result"]["summary"]["errors"]) == (
        "completed",
        "partial",
        1,
    )
    assert [case.get("error") for case in done["result"]["perCase"]] == [None, "no output submitted"]


def test_a_run_without_any_output_fails(loop, frozen, running):
    done = loop.ask("POST", f"/v1/test-runs/{running}/complete")

    summary = done["result"]["summary"]
    assert (done["status"], summary["status"], summary["errors"], summary["cases"]) == ("failed", "failed", 2, 2)
    assert summary["outcomes"] == {"right": 0, "wrong": 0, "ungraded": 2}


def test_errors_and_stops_are_told_apart(loop, frozen, running):
    done = loop.submit(
        running,
        {"caseId": frozen[0], "error": "It fell over."},
        {"caseId": frozen[1], "stopped": {"reason": "Somebody had to approve."}},
    )

    assert done["status"] == "completed"
    result = loop.ask("GET", f"/v1/test-runs/{running}")["result"]
    summary = result["summary"]
    assert (summary["status"], summary["errors"], summary["stopped"]) == ("partial", 1, 1)
    told = [{name: case[name] for name in ("error", "stopped") if name in case} for case in result["perCase"]]
    assert told == [{"error": "It fell over."}, {"stopped": {"reason": "Somebody had to approve."}}]


def test_cancelling_ends_a_run_without_a_result(loop, frozen, running):
    loop.submit(running, output(frozen[0]))

    cancelled = loop.ask("POST", f"/v1/test-runs/{running}/cancel", {"reason": "Wrong build."})

    assert cancelled == loop.ask("GET", f"/v1/test-runs/{running}")
    assert (cancelled["status"], cancelled["cancelReason"]) == ("cancelled", "Wrong build.")
    assert (set(cancelled) & {"result", "error"}, cancelled["completedAt"] >= cancelled["startedAt"]) == (set(), True)


@pytest.mark.parametrize(
    ("body", "code", "details"),
    [
        (b"{", "bad-input", None),
        ([], "bad-input", None),
        ({"reason": 1}, "bad-input", {"field": "reason"}),
        ({"reason": "x" * 2001}, "bad-input", {"field": "reason"}),
        ({"why": "x"}, "unknown-field", {"fields": ["why"]}),
    ],
)
def test_a_cancelling_body_is_checked(loop, running, refusal, body, code, details):
    with nothing_stored():
        response = loop.client.post(f"/v1/test-runs/{running}/cancel", body)

    assert (response.status_code, response.json()) == (400, refusal(response, code, details))


def test_who_may_do_what_with_a_run(loop, frozen, running, path, viewer_client, api_client, project):
    resource = {"type": "project", "id": str(project.id)}

    def refused(client, action, address, body=b""):
        reason = f"You need the {action} permission on this project."
        with nothing_stored():
            response = client.post(address, body)
        assert_refused(response, 403, "permission-denied", action=action, resource=resource, reason=reason)

    handed = {"outputs": [output(frozen[0])]}
    refused(viewer_client, "execute", path, handed)
    refused(viewer_client, "execute", f"/v1/test-runs/{running}/complete")
    refused(viewer_client, "write", f"/v1/test-runs/{running}/cancel")
    refused(api_client, "admin", f"/v1/test-runs/{running}/rescore")
    assert viewer_client.get(f"/v1/test-runs/{running}").status_code == 200
    assert api_client.post(path, handed).status_code == 200
    assert api_client.post(f"/v1/test-runs/{running}/cancel").status_code == 200


def test_refusals_of_a_submission_come_in_their_order(loop, frozen, running, path, viewer_client):
    loop.submit(running, *map(output, frozen))
    unknown = {"outputs": [output("case-0")]}

    with nothing_stored():
        assert viewer_client.post(path, {"outputs": []}).json()["error"]["code"] == "bad-input"
        assert viewer_client.post(path, unknown).json()["error"]["code"] == "permission-denied"
        assert loop.client.post(path, unknown).json()["error"]["code"] == "bad-input"
        assert loop.client.post(path, {"outputs": [output(frozen[0], [])]}).json()["error"]["code"] == (
            "test-run-already-terminal"
        )


def test_a_replayed_submission_is_answered_once_even_after_the_end(loop, frozen, path):
    body = {"outputs": [output(case) for case in frozen]}

    first = loop.client.post(path, body, idempotency_key="k1")
    again = loop.client.post(path, body, idempotency_key="k1")

    assert (again.status_code, again.content, outputs()) == (200, first.content, 2)


@pytest.mark.django_db(transaction=True)
def test_two_who_hand_the_last_outputs_in_at_once_end_the_run_once(loop, frozen):
    """Different cases, so both are taken: one of them is the last, and the run is graded by it alone."""
    run = loop.start()
    path = f"/v1/test-runs/{run}/outputs"

    answers = at_once([lambda case=case: loop.client.post(path, {"outputs": [output(case)]}) for case in frozen])

    told = sorted((answer.json()["remaining"], answer.json()["status"]) for answer in answers)
    assert told == [(0, "completed"), (1, "running")]
    assert loop.ask("GET", f"/v1/test-runs/{run}")["result"]["summary"]["outcomes"]["right"] == 2


@pytest.mark.django_db(transaction=True)
def test_two_who_hand_the_same_last_output_in_at_once_store_it_once(loop, frozen):
    run = loop.start()
    loop.submit(run, output(frozen[0]))
    path, body = f"/v1/test-runs/{run}/outputs", {"outputs": [output(frozen[1])]}

    answers = at_once([lambda: loop.client.post(path, body)] * 2)

    told = sorted((answer.status_code, answer.json().get("remaining")) for answer in answers)
    assert told == [(200, 0), (409, None)]
    assert (outputs(), TestRun.objects.get().status) == (2, "completed")


def test_calls_that_failed_count_as_called(loop, frozen, running):
    loop.submit(running, *(output(case, [RIGHT_CALL | {"error": "Not found."}]) for case in frozen))

    assert loop.ask("GET", f"/v1/test-runs/{running}")["result"]["summary"]["outcomes"]["right"] == 2
