"""Real agents graded over /v1 by what people said of them (shared data, read where it stands)."""

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.loop import Loop
from tests.testsets.test_grading_airline import is_right_by_hand

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
pytestmark = pytest.mark.skipif(not DATA.exists(), reason="the recorded runs are not here")


def lines(name, kind):
    return [json.loads(line) for line in (DATA / name / f"{kind}.jsonl").read_text().splitlines()]


def hand_in(loop, runs):
    for run in runs:
        body = run | {"projectId": str(loop.project.id)}
        loop.ask("PUT", f"/v1/runs/{body.pop('runId')}", body, status=201)


# How each of trials 1, 2 and 3 does by the corrections of trial 0: cases, then how often each kind of failure is named.
#
# Checked independently of the grader, from the same two files read with plain `json`: each case with expected decisions
# is judged by `is_right_by_hand` (tests/testsets/test_grading_airline.py), which compares arguments as sorted
# `json.dumps` texts and tries every way of giving wanted calls to calls made; `counted_by_hand` below counts forbidden
# calls, tools that only one run called, and wanted calls left over by the best of all ways of giving them out; and the
# arguments that `different` names are found again by comparing wanted and made arguments field by field.
TRIALS = {
    "1.1.0": (
        {"right": 18, "wrong": 31, "ungraded": 1},
        {"missing": 16, "different": 7, "forbidden": 5, "tools-differ": 26},
    ),
    "1.2.0": (
        {"right": 15, "wrong": 34, "ungraded": 1},
        {"missing": 12, "different": 15, "forbidden": 6, "tools-differ": 21},
    ),
    "1.3.0": (
        {"right": 14, "wrong": 35, "ungraded": 1},
        {"missing": 14, "different": 14, "forbidden": 5, "tools-differ": 26},
    ),
}


def test_the_airlines_trials_graded_by_the_corrections_of_the_first(loop):
    airline = Loop(loop.client, loop.project, lines("airline", "runs")[0]["agent"]["id"])
    trials = {}
    for run in lines("airline", "runs"):
        trials.setdefault(run["agent"]["version"], []).append(run)
    said = lines("airline", "corrections")
    hand_in(airline, trials["1.0.0"])
    cases = [airline.ask("POST", "/v1/corrections", each, status=201)["id"] for each in said]
    name = airline.freeze("1.0.0")
    assert airline.said["caseCount"] == 50

    for version, (outcomes, kinds) in TRIALS.items():
        graded = airline.start(version, testSetId=name)
        # Trials name their tasks nowhere: the n-th run of one is the task of the n-th run of another.
        handed = [
            {"caseId": case, "output": run["output"], "calls": run["calls"], "runId": run["runId"]}
            for case, run in zip(cases, trials[version], strict=True)
        ]
        assert airline.submit(graded, *handed) == {"accepted": 50, "remaining": 0, "status": "completed"}
        result = airline.ask("GET", f"/v1/test-runs/{graded}")["result"]

        of_case = {case["caseId"]: case for case in result["perCase"]}
        failures = [failure for case in of_case.values() for failure in case.get("decisions", {}).get("failures", [])]
        assert result["summary"]["outcomes"] == outcomes == Counter(case["outcome"] for case in of_case.values())
        assert Counter(failure["kind"] for failure in failures) == kinds
        by_hand = Counter()
        for case, each, before, run in zip(cases, said, trials["1.0.0"], trials[version], strict=True):
            if "decisions" in each:
                is_right = is_right_by_hand(each, before["calls"], run["calls"])
                assert of_case[case]["decisions"]["outcome"] == ("right" if is_right else "wrong")
                assert_named(of_case[case]["decisions"], each, run["calls"])
                by_hand += counted_by_hand(each, before["calls"], run["calls"])
        left_over = kinds["missing"] + kinds["different"]
        assert by_hand == {"forbidden": kinds["forbidden"], "tools-differ": kinds["tools-differ"], "left": left_over}


def assert_named(decisions, said, made):
    """A mismatch names a tool that was called, and of one of those calls each argument that is not as it should be."""
    for failure in decisions.get("failures", []):
        paths = failure.get("paths", [])
        assert (failure["kind"] == "different") == bool(paths)
        wanted = [call["args"] for call in said.get("shouldCall", []) if call["tool"] == failure["tool"]]
        got = [call["arguments"] for call in made if call["toolId"] == failure["tool"]]
        if paths:
            named = {path["path"].split("/")[1] for path in paths}
            assert any(named == differing(args, arguments) for args in wanted for arguments in got)
        elif failure["kind"] == "missing":
            assert wanted


def counted_by_hand(said, recorded, made):
    names, before = {call["toolId"] for call in made}, {call["toolId"] for call in recorded}
    if said["decisions"] == "right":
        return Counter({"tools-differ": len(names ^ before)})
    wanted = said.get("shouldCall", [])
    forbidden = len(names & set(said.get("mustNotCall", [])))
    return Counter({"forbidden": forbidden, "left": len(wanted) - most_given(wanted, made)})


def most_given(wanted, made):
    """How many of the wanted calls can each have a made call of its own, by trying everything."""
    if not wanted:
        return 0
    first, *rest = wanted
    given = [
        1 + most_given(rest, made[:place] + made[place + 1 :])
        for place, call in enumerate(made)
        if call["toolId"] == first["tool"] and not differing(first.get("args", {}), call["arguments"])
    ]
    return max([most_given(rest, made), *given])


def differing(wanted, got):
    return {name for name in wanted if name not in got or wanted[name] != got[name]}


PUBLISHED = {5: 0.2667, 10: 0.3, 15: 0.3111, 20: 0.3667, 30: 0.3333, 100: 0.2467}


def test_the_searches_published_precision_comes_out_of_a_built_set(loop):
    """A scoring program published these means over three topics; pooled over lists of one length they are the same."""
    runs = lines("search", "runs")
    hand_in(loop, runs)
    for said in lines("search", "corrections"):
        loop.ask("POST", "/v1/corrections", said, status=201)
    flow = runs[0]["flow"]
    build = {"projectId": str(loop.project.id), "flowId": flow["id"], "version": "1.0.0"}
    built = loop.ask("POST", "/v1/test-sets/search/versions/from-corrections", build, status=201)
    assert (built["caseCount"], built["truncated"]) == (3, False)
    ref = {"flowId": flow["id"], "version": flow["version"]}
    found = {}

    for k in PUBLISHED:
        body = {"projectId": str(loop.project.id), "flowRef": ref, "k": k}
        graded = loop.ask("POST", "/v1/test-sets/search/runs", body, status=201)["runId"]
        loop.submit(graded, *({"caseId": run["runId"], "output": run["output"]} for run in runs))
        metric = loop.ask("GET", f"/v1/test-runs/{graded}")["result"]["summary"]["metrics"]["weightedPrecisionAtK"]
        assert (metric["candidate"], metric["delta"], metric["k"]) == (metric["baseline"], 0, k)
        assert (metric["baselineN"], metric["baselineWeight"]) == (3, 3 * k)
        found[k] = round(metric["baseline"], 4)

    assert found == PUBLISHED
