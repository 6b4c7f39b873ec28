"""`POST …/test-set/cases/from-run` (decision 6)."""

import pytest

from corrections.models import Run, RunContent
from tests.api.expect import assert_refused, nothing_stored
from tests.at_once import at_once
from tests.factories import ProjectFactory
from tests.loop import ANSWER, WRONG_CALL, Loop
from tests.seed_schema import faults, needs_seed_schema
from tests.wire import WireClient
from testsets.models import HandCase

INPUT = {"message": "Where is my order?"}
SUBJECT = {"kind": "agent", "id": "support", "version": "1.0.0"}


@pytest.fixture
def path(loop):
    return f"{loop.base}/test-set/cases/from-run"


@pytest.fixture
def run_of(loop):
    """A run in some status; its id."""

    def one(status):
        run_id = loop.run()
        Run.objects.filter(run_id=run_id).update(status=status)
        return run_id

    return one


def test_a_good_run_becomes_a_reference(loop, path):
    run_id = loop.run(context={"retrieved": 1}, segments=[{"key": "country", "value": "NL"}])

    response = loop.client.post(path, {"runId": run_id})

    case = HandCase.objects.get()
    assert (response.status_code, response.json()) == (
        201,
        {
            "caseId": f"case-{case.id}",
            "runId": run_id,
            "subject": SUBJECT,
            "input": INPUT,
            "context": {"retrieved": 1},
            "output": ANSWER,
            "segments": [{"key": "country", "value": "NL"}],
            "items": [
                {"key": "answer", "pointer": "", "yes": 1, "no": 0, "yesWeight": 1, "totalWeight": 1, "reasons": []}
            ],
            "expect": {"decisions": {"verdict": "right"}, "answer": {"verdict": "right"}},
            "source": "hand",
            "sourceKind": "ReferenceRun",
            "sourceRunId": run_id,
        },
    )


def test_a_run_whose_calls_are_unknown_has_no_decisions_to_be_right(loop, path):
    run_id = loop.run()
    RunContent.objects.update(calls=None)

    case = loop.ask("POST", path, {"runId": run_id}, status=201)

    assert case["expect"] == {"answer": {"verdict": "right"}}


def test_a_run_that_was_wrong_takes_its_newest_live_correction(loop, path, api_client):
    run_id = loop.run(calls=[WRONG_CALL])
    loop.correct(run_id)
    body = {"runId": run_id, "answer": "wrong", "shouldSay": "On Tuesday."}
    assert api_client.post("/v1/corrections", body).status_code == 201

    case = loop.ask("POST", path, {"runId": run_id}, status=201)

    assert (case["sourceKind"], case["output"]) == ("NegativeScore", None)
    assert case["expect"] == {"answer": {"verdict": "wrong", "shouldSay": "On Tuesday."}}
    assert "incomplete" not in case


def test_a_failed_run_waits_for_what_it_should_have_done(loop, path):
    run_id = failing(loop)

    case = loop.ask("POST", path, {"runId": run_id}, status=201)

    assert case == {
        "caseId": case["caseId"],
        "runId": run_id,
        "subject": SUBJECT,
        "input": INPUT,
        "output": None,
        "items": [],
        "expect": {},
        "source": "hand",
        "incomplete": True,
        "sourceKind": "FailedRun",
        "sourceRunId": run_id,
    }
    assert loop.ask("GET", f"{loop.base}/test-set/cases")["data"] == [case]
    assert loop.ask("GET", f"{loop.base}/test-set") == {
        "projectId": str(loop.project.id),
        "agentId": "support",
        "caseCount": 1,
        "fromCorrections": 0,
        "byHand": 1,
        "incomplete": 1,
    }

    expect = {"decisions": {"verdict": "wrong", "mustNotCall": ["cancel"]}}
    filled = loop.ask("PATCH", f"{loop.base}/test-set/cases/{case['caseId']}", {"expect": expect})

    del case["incomplete"]
    assert filled == case | {"expect": expect}
    assert loop.ask("GET", f"{loop.base}/test-set")["incomplete"] == 0


def failing(loop):
    """A failed run that was handed in; its id."""
    run_id = str(loop.project.id)[:-4] + "f00d"
    body = {
        "projectId": str(loop.project.id),
        "agent": {"id": "support", "version": "1.0.0"},
        "status": "failed",
        "completedAt": "2026-03-01T09:30:00Z",
        "input": INPUT,
    }
    loop.ask("PUT", f"/v1/runs/{run_id}", body, status=201)
    return run_id


@pytest.mark.parametrize("kind", ["FailedRun", "NegativeScore"])
def test_a_kind_that_is_said_wins(loop, path, kind):
    case = loop.ask("POST", path, {"runId": loop.run(), "sourceKind": kind}, status=201)

    assert (case["sourceKind"], case["output"], case["expect"], case["incomplete"]) == (kind, None, {}, True)


def test_a_corrected_run_said_to_be_a_reference_keeps_what_it_did(loop, path):
    run_id = loop.run()
    loop.correct(run_id)

    case = loop.ask("POST", path, {"runId": run_id, "sourceKind": "ReferenceRun"}, status=201)

    assert (case["output"], case["expect"]["decisions"]) == (ANSWER, {"verdict": "right"})


def test_a_failed_run_is_no_reference(loop, path):
    run_id = failing(loop)
    with nothing_stored():
        response = loop.client.post(path, {"runId": run_id, "sourceKind": "ReferenceRun"})

    assert_refused(response, 409, "run-not-finished", runId=run_id, status="failed")


@pytest.mark.parametrize("status", ["pending", "running", "suspended", "cancelled"])
@pytest.mark.parametrize("kind", [{}, {"sourceKind": "FailedRun"}], ids=["kind left out", "kind said"])
def test_a_run_that_has_not_ended(loop, path, run_of, status, kind):
    run_id = run_of(status)
    with nothing_stored():
        response = loop.client.post(path, {"runId": run_id} | kind)

    assert_refused(response, 409, "run-not-finished", runId=run_id, status=status)


def test_twice_is_one_case(loop, path):
    run_id = loop.run()
    first = loop.client.post(path, {"runId": run_id})

    with nothing_stored():
        second = loop.client.post(path, {"runId": run_id, "sourceKind": "FailedRun"})

    assert (first.status_code, second.status_code) == (201, 200)
    assert first.content == second.content


def test_removed_it_can_be_promoted_anew(loop, path):
    run_id = loop.run()
    first = loop.ask("POST", path, {"runId": run_id}, status=201)["caseId"]
    loop.ask("POST", f"{loop.base}/test-set/cases/{first}/unregister")

    assert loop.ask("POST", path, {"runId": run_id}, status=201)["caseId"] != first


@pytest.mark.django_db(transaction=True)
def test_twenty_at_once_are_one_case(loop, path):
    run_id, key = loop.run(), loop.client.key

    def promote():
        response = WireClient(key).post(path, {"runId": run_id})
        return response.status_code, response.content

    answers = at_once([promote] * 20)

    assert sorted(status for status, _body in answers) == [200] * 19 + [201]
    assert len({body for _status, body in answers}) == 1
    assert HandCase.objects.count() == 1


def test_runs_that_are_not_this_agents_here(loop, path, root_client):
    elsewhere = Loop(root_client, ProjectFactory(workspace=loop.project.workspace)).run()
    other_agent = loop.run(agent={"id": "billing", "version": "1.0.0"})
    unknown = "00000000-0000-4000-8000-000000000000"
    with nothing_stored():
        for run_id in (elsewhere, other_agent, unknown, "no-uuid"):
            assert_refused(loop.client.post(path, {"runId": run_id}), 404, "run-not-found", runId=run_id)


def test_an_erased_run(loop, path, root_client):
    run_id = loop.run()
    loop.erase(run_id, root_client)
    with nothing_stored():
        assert_refused(loop.client.post(path, {"runId": run_id}), 410, "run-erased", runId=run_id)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "runId"),
        ({"runId": ""}, "runId"),
        ({"runId": 7}, "runId"),
        ({"runId": "x", "sourceKind": "Odd"}, "sourceKind"),
    ],
)
def test_bodies_that_are_refused(loop, path, body, field):
    with nothing_stored():
        assert_refused(loop.client.post(path, body), 400, "bad-input", field=field)


def test_a_viewer_may_not(loop, path, viewer_client):
    run_id = loop.run()
    reason = "You need the write permission on this project."
    resource = {"type": "project", "id": str(loop.project.id)}
    with nothing_stored():
        response = viewer_client.post(path, {"runId": run_id})

    assert_refused(response, 403, "permission-denied", action="write", resource=resource, reason=reason)


@needs_seed_schema
def test_promoted_cases_fit_the_contracts_schema_when_frozen(loop, path):
    for run_id in (loop.run(), failing(loop)):
        loop.ask("POST", path, {"runId": run_id}, status=201)
    wrong = loop.run(calls=[WRONG_CALL])
    loop.correct(wrong)
    loop.ask("POST", path, {"runId": wrong}, status=201)
    name = loop.freeze()

    page = loop.ask("GET", f"/v1/test-sets/{name}/versions/1.0.0/cases")

    assert len(page["data"]) == 3
    assert faults("TestCasePage", page) == []
