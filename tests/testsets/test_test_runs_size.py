"""A test run of many cases: statements by the hundred, whatever is in the cases (performance of contract 17)."""

from itertools import count

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from corrections.models import Correction
from tests.factories import crowd
from tests.loop import ANSWER

_versions = count(1)


@pytest.fixture
def frozen(loop):
    """Freezes the agent's set with so many corrections in it; returns the ids of its cases."""

    def make(size):
        have = Correction.objects.count()
        crowd(loop.project, size - have)
        version = f"{next(_versions)}.0.0"
        loop.freeze(version)
        return version, [str(key) for key in Correction.objects.order_by("id").values_list("id", flat=True)]

    return make


def statements(work):
    with CaptureQueriesContext(
        connection,
    ) as captured:
        work()
    return len(captured)


def entries(cases, verdict):
    said = {"output": {"content": "New."}, "answer": {"verdict": verdict}}
    return [{"caseId": case} | said for case in cases]


def submit_all(loop, run, rows):
    for start in range(0, len(rows), 100):
        loop.submit(run, *rows[start : start + 100])


def test_statements_of_a_test_run_grow_by_the_hundred_cases_only(loop, frozen):
    """Every correction is settled too: the version is live. 100, 200 and 300 cases are equally far apart."""
    loop.change("pin", "1.1.0")
    told = {"start": [], "submit": [], "complete": [], "rescore": [], "cases": [], "get": []}

    for size in (100, 200, 300):
        version, cases = frozen(size)
        Correction.objects.update(status="open", fixed_at=None)
        asked = {"testSetVersion": version, "repetitions": 2}
        told["start"].append(statements(lambda asked=asked: loop.start("1.1.0", **asked)))
        run = loop.said["runId"]
        rows = entries(cases, "right")
        submit_all(loop, run, rows[100:])
        told["submit"].append(statements(lambda run=run, rows=rows: loop.submit(run, *rows[:100])))
        second = [row | {"repetition": 1} for row in rows]
        submit_all(loop, run, second[1:])
        last = [row | {"repetition": 1} for row in rows[:1]]
        told["complete"].append(statements(lambda run=run, last=last: loop.submit(run, *last)))
        assert loop.said["status"] == "completed"
        assert Correction.objects.filter(status="fixed").count() == size
        told["get"].append(statements(lambda run=run: loop.ask("GET", f"/v1/test-runs/{run}")))
        told["cases"].append(statements(lambda run=run: loop.ask("GET", f"/v1/test-runs/{run}/cases?limit=100")))
        told["rescore"].append(statements(lambda run=run: loop.ask("POST", f"/v1/test-runs/{run}/rescore", status=201)))

    steps = {name: (two - one, three - two) for name, (one, two, three) in told.items()}
    assert all(first == second for first, second in steps.values()), told
    assert {name: first for name, (first, _) in steps.items() if name in ("submit", "get", "cases")} == {
        "submit": 0,
        "get": 0,
        "cases": 0,
    }
    assert max(steps["start"][0], steps["complete"][0]) <= 12
    assert steps["rescore"][0] <= 20


def test_a_live_change_settles_any_number_of_corrections_by_the_hundred(loop, frozen):
    told = []
    for size in (100, 200, 300):
        version, cases = frozen(size)
        Correction.objects.update(status="open", fixed_at=None)
        run = loop.start(version, testSetVersion=version)
        submit_all(loop, run, entries(cases, "right"))
        told.append(statements(lambda version=version: loop.change("pin", version)))
        assert Correction.objects.filter(status="fixed").count() == size

    assert told[1] - told[0] == told[2] - told[1] <= 6, told


def test_a_thousand_cases_with_the_recorded_answer_are_all_graded(loop, frozen):
    version, cases = frozen(1000)
    run = loop.start("1.1.0", testSetVersion=version)

    submit_all(loop, run, [{"caseId": case, "output": ANSWER} for case in cases])

    summary = loop.ask("GET", f"/v1/test-runs/{run}")["result"]["summary"]
    assert (summary["cases"], summary["outcomes"]["right"] + summary["outcomes"]["ungraded"]) == (1000, 1000)
