"""How a case stands against an earlier test run, and why it is wrong, in words."""

import pytest

from kindgi_site import exact_json
from testsets.rules.standing import Compared, Standing, compared, reasons, share_right, standing_of


def result(outcome="right", case="c1", **more):
    return {"caseId": case, "outcome": outcome} | more


@pytest.mark.parametrize(
    ("now", "before", "standing"),
    [
        ("right", "right", Standing.STILL_RIGHT),
        ("right", "wrong", Standing.FIXED),
        ("right", "ungraded", Standing.NEW_RIGHT),
        ("right", None, Standing.NEW_RIGHT),
        ("wrong", "right", Standing.REGRESSED),
        ("wrong", "wrong", Standing.STILL_WRONG),
        ("wrong", "ungraded", Standing.NEW_WRONG),
        ("wrong", None, Standing.NEW_WRONG),
        ("ungraded", "right", Standing.NOT_MEASURABLE),
        ("ungraded", None, Standing.NOT_MEASURABLE),
    ],
)
def test_each_way_a_case_can_stand(now, before, standing):
    assert standing_of(result(now), before) == standing


@pytest.mark.parametrize("before", ["right", "wrong", None])
def test_an_error_is_an_error_whatever_was_before(before):
    assert standing_of(result("ungraded", error="It broke."), before) == Standing.ERROR


def test_worst_first_else_in_the_order_of_the_set():
    now = [result("right", "a"), result("wrong", "b"), result("wrong", "c"), result("right", "d"), result("wrong", "e")]
    before = [result("right", "b"), result("wrong", "d"), result("right", "e"), result("right", "gone")]

    found = [(case.case_id, case.standing.value) for case in compared(now, before)]

    assert found == [("b", "regressed"), ("e", "regressed"), ("d", "fixed"), ("c", "new, wrong"), ("a", "new, right")]


@pytest.mark.parametrize(
    ("standings", "share"),
    [
        ([], None),
        ([Standing.NOT_MEASURABLE, Standing.ERASED], None),
        ([Standing.FIXED], 1.0),
        ([Standing.ERROR], 0.0),
        ([Standing.STILL_RIGHT, Standing.NEW_WRONG, Standing.NOT_MEASURABLE], 0.5),
        ([Standing.NEW_RIGHT, Standing.REGRESSED, Standing.STILL_WRONG, Standing.ERROR], 0.25),
    ],
)
def test_the_share_is_of_what_could_be_measured(standings, share):
    assert share_right([Compared("c", standing, {}) for standing in standings]) == share


def test_no_standing_is_both_right_and_wrong():
    assert not [standing for standing in Standing if standing.is_right and standing.is_wrong]


def test_reasons_for_everything_that_can_be_wrong():
    path = {"path": "/order", "wanted": exact_json.parse("7"), "got": "7"}
    missing = {"path": "/day", "wanted": {"at": exact_json.parse("1.0")}}
    extra = {"path": "/x", "got": None}
    failures = [
        {"kind": "missing", "tool": "tell"},
        {"kind": "different", "tool": "find", "paths": [path, missing, extra]},
        {"kind": "forbidden", "tool": "cancel"},
        {"kind": "tools-differ", "tool": "ask"},
        {"kind": "of later", "tool": "ask"},
    ]
    whole = result(
        "wrong",
        error="It broke.",
        decisions={"outcome": "wrong", "failures": failures},
        answer={"outcome": "wrong", "reason": "Late."},
        items={"outcome": "wrong"},
    )

    assert reasons(whole) == [
        "error: It broke.",
        "tell was not called",
        'find was called with other arguments (/order: wanted 7, got "7"; /day: wanted {"at":1.0}, got nothing; '
        "/x: wanted nothing, got null)",
        "cancel must not be called",
        "ask differs from the tools of the corrected run",
        "ask of later",
        "answer: wrong (Late.)",
        "items: an unwanted one is shown, or no wanted one is",
    ]


def test_right_parts_have_no_reasons():
    parts = {
        "decisions": {"outcome": "right"},
        "answer": {"outcome": "right", "reason": "x"},
        "items": {"outcome": "right"},
    }

    assert reasons(result("right", **parts)) == []
    assert reasons(result("wrong", answer={"outcome": "wrong"})) == ["answer: wrong"]
