"""GET /v1/test-runs, one with its whole result, and /rescore (contract 17.3 to 17.5)."""

from uuid import uuid4

import pytest

from kindgi_site import clock
from kindgi_site.callers import Role
from tests.api.expect import assert_refused, nothing_stored
from tests.factories import CorrectorGroupFactory, ProjectFactory
from tests.loop import RIGHT_CALL, WRONG_CALL, output
from testsets.models import TestRun

RANKED = {"content": "Two sources.", "output": {"sources": [{"id": "faq-1"}, {"id": "faq-2"}]}}
ITEMS = [
    {"key": "faq-1", "pointer": "/output/sources/0", "rank": 0, "verdict": "wrong"},
    {"key": "faq-2", "pointer": "/output/sources/1", "rank": 1, "verdict": "right"},
]


def counts(right=0, wrong=0, ungraded=0):
    return {"right": right, "wrong": wrong, "ungraded": ungraded}


def test_the_whole_result_of_two_repetitions(loop):
    """Worked out by hand from 17.4 and 17.5.

    The older correction's case: items faq-1 (no) and faq-2 (yes), beside the answer, which nobody spoke of. Both
    repetitions show faq-2 first, one of them faq-3 after it, the other nothing. The recorded output has all three of
    its items in order, two of them corrected: 1 of 2 by weight, 2 of 3 covered. The repetitions have the answer, faq-2
    and in one also faq-3: 1 of 1 by weight; covered 1 of 3 and, of the other case nothing in 1 item, pooled with it.
    """
    listed = loop.correct(loop.run(output=RANKED), items=ITEMS)
    called = loop.correct()
    loop.freeze()
    model = {"providerId": "p", "model": "m-1"}
    run = loop.start(repetitions=2, k=1, correlationId="build 7")

    better = {"content": "One source.", "output": {"sources": [{"id": "faq-2"}]}}
    longer = {"content": "One source.", "output": {"sources": [{"id": "faq-2"}, {"id": "faq-3"}]}}
    loop.submit(
        run,
        {"caseId": listed, "output": longer, "runId": "r-1", "model": model, "diverged": True, "refusedWrites": 2},
        {"caseId": listed, "output": better, "repetition": 1, "model": model},
        output(called, [WRONG_CALL], runId="r-3"),
        output(called, [RIGHT_CALL], repetition=1, refusedWrites=1),
    )

    record = loop.ask("GET", f"/v1/test-runs/{run}")
    nothing = {"yesWeight": 0, "totalWeight": 0}
    one = {"yesWeight": 1, "totalWeight": 1}
    metric = {"direction": "higher"}
    summary = {
        "testRunId": run,
        "status": "completed",
        "completedAt": record["completedAt"],
        "testSet": {"id": "support.corrections", "version": "1.0.0"},
        "candidate": {"kind": "agent", "agentId": "support", "version": "1.1.0"},
        "baseline": {"kind": "recorded", "versions": [{"agentId": "support", "version": "1.0.0", "cases": 2}]},
        "scope": {"projectId": str(loop.project.id)},
        "cases": 2,
        "diverged": 1,
        "refusedWrites": 3,
        "errors": 0,
        "stopped": 0,
        "reads": "recorded",
        "groupWeights": "as-recorded",
        "sampling": {"models": [model]},
        "repetitions": 2,
        "metrics": {
            "weightedYesShare": metric
            | {"candidate": 1, "spread": 0, "n": 1, "weight": 1}
            | {"baseline": 0.5, "baselineN": 1, "baselineWeight": 2, "delta": 0.5},
            "correctedCoverage": metric
            | {"candidate": (1 / 4 + 1 / 3) / 2, "spread": 1 / 3 - 1 / 4, "n": 2, "weight": 1}
            | {"baseline": 2 / 4, "baselineN": 2, "baselineWeight": 2, "delta": (1 / 4 + 1 / 3) / 2 - 0.5},
            "weightedPrecisionAtK": metric
            | {"candidate": 1, "spread": 0, "n": 1, "weight": 1, "k": 1}
            | {"baseline": 0, "baselineN": 1, "baselineWeight": 1, "delta": 1},
        },
        "decisions": counts(wrong=1),
        "answers": counts(),
        "outcomes": counts(right=1, wrong=1),
    }
    plain = {"noContext": True, "approvalSkipped": False}
    of_called = {
        "caseId": called,
        "runIds": ["r-3"],
        "baseline": nothing | {"items": 1, "correctedItems": 0, "topK": nothing},
        "candidate": [nothing | {"items": 1, "correctedItems": 0, "topK": nothing}] * 2,
        "changes": {"kept": [], "dropped": [], "new": [{"key": "answer", "pointer": ""}]},
        "diverged": False,
        "refusedWrites": 1,
        "outcome": "wrong",
        "decisions": {
            "outcome": "wrong",
            "failures": [
                {"kind": "different", "tool": "find_order", "paths": [{"path": "/order", "wanted": 7, "got": 8}]}
            ],
        },
    }
    of_listed = {
        "caseId": listed,
        "runIds": ["r-1"],
        "baseline": {"yesWeight": 1, "totalWeight": 2, "items": 3, "correctedItems": 2}
        | {"topK": {"yesWeight": 0, "totalWeight": 1}},
        "candidate": [
            one | {"items": 3, "correctedItems": 1, "topK": one},
            one | {"items": 2, "correctedItems": 1, "topK": one},
        ],
        "changes": {
            "kept": [{"key": "faq-2", "rankBefore": 1, "rank": 0}],
            "dropped": [{"key": "faq-1", "rankBefore": 0}],
            "new": [
                {"key": "answer", "pointer": ""},
                {"key": "faq-3", "pointer": "/output/sources/1", "rank": 1},
            ],
        },
        "diverged": True,
        "refusedWrites": 2,
        "outcome": "right",
        "items": {"outcome": "right"},
    }
    assert record == {
        "runId": run,
        "tenantId": str(loop.project.workspace_id),
        "projectId": str(loop.project.id),
        "testSetId": "support.corrections",
        "testSetVersion": "1.0.0",
        "kind": "corrections",
        "agentRef": {"agentId": "support", "version": "1.1.0"},
        "status": "completed",
        "dryRun": False,
        "startedAt": record["startedAt"],
        "completedAt": record["completedAt"],
        "correlationId": "build 7",
        "comparison": {
            "baseline": "recorded",
            "reads": "recorded",
            "repetitions": 2,
            "k": 1,
            "groupWeights": "as-recorded",
        },
        "result": {"summary": summary, "perCase": [of_called | plain, of_listed | plain]},
    }


def test_an_answer_is_graded_by_equality_then_by_the_verdict_handed_in(loop):
    right = loop.correct(loop.run(), answer="right")
    wrong = loop.correct(loop.run(), answer="wrong", why="It is late.")
    loop.freeze()
    told = {"verdict": "wrong", "reason": "Still late.", "model": {"providerId": "p", "model": "m"}}
    new = {"content": "On Tuesday."}
    answers = []

    for one, other in [
        ({"output": {"content": "It arrives on Monday."}}, {"output": {"content": "It arrives on Monday."}}),
        ({"output": new, "answer": {"verdict": "right"}}, {"output": new, "answer": told}),
        ({"output": new}, {"output": new}),
    ]:
        run = loop.start()
        loop.submit(run, {"caseId": right} | one, {"caseId": wrong} | other)
        result = loop.ask("GET", f"/v1/test-runs/{run}")["result"]
        answers.append([case["answer"] for case in result["perCase"][::-1]] + [result["summary"]["answers"]])

    assert answers == [
        [{"outcome": "right"}, {"outcome": "wrong"}, counts(right=1, wrong=1)],
        [
            {"outcome": "right", "by": "submitted"},
            {"outcome": "wrong", "by": "submitted", "reason": "Still late."},
            counts(right=1, wrong=1),
        ],
        [{"outcome": "ungraded"}, {"outcome": "ungraded"}, counts(ungraded=2)],
    ]


def test_only_the_experts_count_when_asked(loop):
    """One expert says faq-1 is wrong, somebody else that faq-2 is right: experts alone see one item of weight 3."""
    group = CorrectorGroupFactory(workspace=loop.project.workspace, weight=3, principal_kinds=["user"])
    loop.correct(loop.run(output=RANKED), items=ITEMS[:1], correctorGroupId=str(group.id))
    loop.correct(loop.run(output=RANKED), items=ITEMS[1:])
    loop.freeze()
    shares = {}

    for weights in ("as-recorded", "experts-only"):
        run = loop.start(groupWeights=weights)
        for row in loop.ask("GET", f"/v1/test-runs/{run}/cases")["data"]:
            loop.submit(run, {"caseId": row["caseId"], "output": RANKED})
        result = loop.ask("GET", f"/v1/test-runs/{run}")["result"]
        share = result["summary"]["metrics"]["weightedYesShare"]
        outcomes = [case["outcome"] for case in result["perCase"]]
        shares[weights] = (share["candidate"], share["weight"], share["n"], outcomes)

    assert shares == {
        "as-recorded": (0.25, 4, 2, ["right", "wrong"]),
        "experts-only": (0, 3, 1, ["ungraded", "wrong"]),
    }


def rescored(loop, run):
    new = loop.ask("POST", f"/v1/test-runs/{run}/rescore", status=201)
    assert set(new) == {"runId"}
    return loop.ask("GET", f"/v1/test-runs/{new['runId']}")


def test_a_rescore_counts_what_people_said_since_of_the_runs_behind_the_outputs(loop):
    """The case speaks of faq-1 and faq-2; faq-3 came with the new output, and was corrected on its own run."""
    listed = loop.correct(loop.run(output=RANKED), items=ITEMS)
    called = loop.correct()
    loop.freeze()
    longer = {"content": "?", "output": {"sources": [{"id": "faq-2"}, {"id": "faq-3"}]}}
    behind = loop.run(output=longer, replayOf="x")
    run = loop.start()
    loop.submit(run, {"caseId": listed, "output": longer, "runId": behind.upper()}, output(called))
    first = loop.ask("GET", f"/v1/test-runs/{run}")
    wrong = {"key": "faq-3", "pointer": "/output/sources/1", "rank": 1, "verdict": "wrong"}
    again = {"key": "faq-2", "pointer": "/output/sources/0", "rank": 0, "verdict": "wrong"}
    loop.correct(behind, items=[wrong, again])

    new = rescored(loop, run)

    assert loop.ask("GET", f"/v1/test-runs/{run}") == first
    assert new["comparison"] == first["comparison"] | {"rescoreOf": run}
    summary, before = new["result"]["summary"], first["result"]["summary"]
    share, earlier = summary["metrics"]["weightedYesShare"], before["metrics"]["weightedYesShare"]
    assert (earlier["candidate"], earlier["weight"], "freshWeight" in earlier) == (1, 1, False)
    assert (share["candidate"], share["weight"], share["freshWeight"]) == (0.5, 2, 1)
    assert "freshWeight" not in summary["metrics"]["weightedPrecisionAtK"]
    assert (summary["rescoreOf"], summary["notRescored"], summary["cases"]) == (run, 1, 2)
    assert [case["runIds"] for case in new["result"]["perCase"]] == [[], [behind]]
    assert summary["outcomes"] == before["outcomes"]


def test_a_rescore_by_experts_counts_only_what_experts_said_since(loop):
    group = CorrectorGroupFactory(workspace=loop.project.workspace, principal_kinds=["user"])
    listed = loop.correct(loop.run(output=RANKED), items=ITEMS, correctorGroupId=str(group.id))
    loop.freeze()
    longer = {"content": "?", "output": {"sources": [{"id": "faq-2"}, {"id": "faq-3"}]}}
    behind = loop.run(output=longer, replayOf="x")
    run = loop.start(groupWeights="experts-only")
    loop.submit(run, {"caseId": listed, "output": longer, "runId": behind})
    wrong = {"key": "faq-3", "pointer": "/output/sources/1", "rank": 1, "verdict": "wrong"}
    loop.correct(behind, items=[wrong])

    share = rescored(loop, run)["result"]["summary"]["metrics"]["weightedYesShare"]

    assert (share["candidate"], share["weight"], share["freshWeight"]) == (1, 1, 0)


@pytest.mark.parametrize("state", ["running", "cancelled", "failed", "dry"])
def test_only_a_completed_comparison_can_be_scored_again(loop, state):
    loop.correct()
    loop.freeze()
    run = loop.start(dryRun=state == "dry")
    if state in ("cancelled", "failed"):
        loop.ask("POST", f"/v1/test-runs/{run}/{'cancel' if state == 'cancelled' else 'complete'}")

    with nothing_stored():
        refused = loop.client.post(f"/v1/test-runs/{run}/rescore")

    status = "completed" if state == "dry" else state
    assert_refused(refused, 409, "test-run-not-rescorable", status=status)


@pytest.fixture
def listed(loop, admin):
    """Four runs by name, an hour apart: of two sets, an agent and a flow, two projects, three states."""
    loop.correct()
    loop.freeze()
    loop.ask("POST", f"{loop.base}/test-set/freeze", {"version": "1.0.0", "testSetId": "other"}, status=201)
    project = ProjectFactory(workspace=loop.project.workspace)
    project.roles.create(person=admin, role=Role.ADMIN)
    runs = {
        "cancelled": loop.start(),
        "dry": loop.start(dryRun=True, testSetId="other"),
        "flow": _flow_run(loop),
        "elsewhere": loop.start(projectId=str(project.id)),
    }
    loop.ask("POST", f"/v1/test-runs/{runs['cancelled']}/cancel")
    for hour, run in enumerate(runs.values()):
        TestRun.objects.filter(id=run).update(started_at=f"2026-03-01T0{hour}:00:00Z")
    return runs


def _flow_run(loop):
    body = {"projectId": str(loop.project.id), "flowRef": {"flowId": "ranking", "version": "1.0.0"}}
    return loop.ask("POST", "/v1/test-sets/support.corrections/runs", body, status=201)["runId"]


def names(loop, runs, query):
    page = loop.ask("GET", f"/v1/test-runs?{query}")
    by_id = {run: name for name, run in runs.items()}
    return [by_id[row["runId"]] for row in page["data"]]


EVERY = ["elsewhere", "flow", "dry", "cancelled"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", EVERY),
        ("testSetId=other", ["dry"]),
        ("testSetId=nothing", []),
        ("status=running", ["elsewhere", "flow"]),
        ("status=cancelled,completed", ["dry", "cancelled"]),
        ("status=cancelled&status=completed", ["dry", "cancelled"]),
        ("status=pending", []),
        ("agentId=support", ["elsewhere", "dry", "cancelled"]),
        ("flowId=ranking", ["flow"]),
        ("from=2026-03-01T02:00:00Z", ["elsewhere", "flow"]),
        ("to=2026-03-01T01:00:00Z", ["dry", "cancelled"]),
        ("from=2026-03-01T01:00:00Z&to=2026-03-01T02:00:00Z", ["flow", "dry"]),
        ("status=&agentId=&unknown=1", EVERY),
    ],
)
def test_the_list_is_newest_first_and_narrowed_by_each_filter(loop, listed, query, found):
    assert names(loop, listed, query) == found


def test_the_list_is_narrowed_to_the_project_the_run_is_in(loop, listed):
    elsewhere = TestRun.objects.get(id=listed["elsewhere"]).project_id

    assert names(loop, listed, f"scopeKind=project&scopeId={elsewhere}") == ["elsewhere"]
    assert names(loop, listed, f"scopeKind=project&scopeId={loop.project.id}") == ["flow", "dry", "cancelled"]
    assert names(loop, listed, "scopeKind=tenant") == EVERY
    assert names(loop, listed, "scopeKind=org&scopeId=x") == []


@pytest.mark.parametrize(
    ("query", "code", "field"),
    [
        ("status=done", "bad-input", "status"),
        ("status=running,done", "bad-input", "status"),
        ("from=yesterday", "bad-input", "from"),
        ("to=2026-03-01", "bad-input", "to"),
        ("cursor=x", "bad-input", "cursor"),
        ("scopeKind=project", "scope-invalid", "scopeKind"),
        ("scopeKind=project&scopeId=x&status=done", "scope-invalid", "scopeKind"),
    ],
)
def test_a_filter_that_means_nothing_is_refused(loop, query, code, field):
    assert_refused(loop.client.get(f"/v1/test-runs?{query}"), 400, code, field=field)


def test_a_row_of_the_list_is_the_record_without_its_result(loop, listed):
    done = loop.correct()
    loop.freeze("2.0.0")
    run = loop.grade("1.1.0", {case["caseId"]: [RIGHT_CALL] for case in _cases(loop)})
    assert done in [case["caseId"] for case in run["result"]["perCase"]]

    rows = loop.ask("GET", "/v1/test-runs")["data"]

    assert rows[0] == {name: value for name, value in run.items() if name != "result"}
    assert rows[1:] == [loop.ask("GET", f"/v1/test-runs/{listed[name]}") for name in EVERY]


def _cases(loop):
    return loop.ask("GET", "/v1/test-sets/support.corrections/versions/2.0.0/cases")["data"]


def test_pages_follow_one_another_also_at_one_moment(loop, listed):
    TestRun.objects.update(started_at=clock.now())
    seen, query = [], "limit=3"
    while query:
        page = loop.ask("GET", f"/v1/test-runs?{query}")
        seen += [row["runId"] for row in page["data"]]
        query = page["hasMore"] and f"limit=3&cursor={page['nextCursor']}"

    assert seen == sorted(listed.values(), reverse=True)


def test_an_unknown_run_is_not_there(loop):
    nowhere = str(uuid4())
    for rest in ("", "/cases"):
        refused = loop.client.get(f"/v1/test-runs/{nowhere}{rest}")
        assert_refused(refused, 404, "test-run-not-found", runId=nowhere)
