"""Four trials of a real airline agent, graded by what people said of the first (shared data, read where it stands).

The counts were checked by `is_right_by_hand` below: it reads the same files with plain `json`, compares arguments as
sorted `json.dumps` texts and tries every way of giving wanted calls to calls made. It shares no code with the rules.
"""

import json
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from corrections.drafts import CorrectionDraft
from corrections.rules.expectations import expectation_of, read_calls
from corrections.vocabulary import Verdict
from kindgi_site.exact_json import parse
from testsets.rules.cases import Case
from testsets.rules.grading import Submission, grade_case

AIRLINE = Path(__file__).parents[3] / "shared" / "data" / "airline"
pytestmark = pytest.mark.skipif(not AIRLINE.is_dir(), reason="the airline data is not beside the project")

COUNTS = [
    ("1.0.0", {"wrong": 29, "right": 21}, {"missing": 22, "different": 13, "forbidden": 11}),
    (
        "1.1.0",
        {"wrong": 31, "right": 18, "ungraded": 1},
        {"missing": 16, "different": 7, "forbidden": 5, "tools-differ": 26},
    ),
    (
        "1.2.0",
        {"wrong": 34, "right": 15, "ungraded": 1},
        {"missing": 12, "different": 15, "forbidden": 6, "tools-differ": 21},
    ),
    (
        "1.3.0",
        {"wrong": 35, "right": 14, "ungraded": 1},
        {"missing": 14, "different": 14, "forbidden": 5, "tools-differ": 26},
    ),
]


@pytest.mark.parametrize(("version", "outcomes", "kinds"), COUNTS)
def test_each_trial_against_the_corrections_of_the_first(version, outcomes, kinds):
    grades = [
        grade_case(case, [Submission(output=run["output"], calls=run["calls"])], k=10)
        for case, run in zip(cases(), runs(version, parse), strict=True)
    ]

    decisions = [grade.parts.decisions for grade in grades if grade.parts.decisions]
    assert Counter(str(grade.outcome) for grade in grades) == outcomes
    assert Counter(str(failure.kind) for part in decisions for failure in part.failures) == kinds


@pytest.mark.parametrize("version", [version for version, _, _ in COUNTS])
def test_each_grade_is_what_counting_by_hand_says(version):
    recorded = runs("1.0.0", json.loads)
    for case, said, before, run, plain in zip(
        cases(), corrections(json.loads), recorded, runs(version, parse), runs(version, json.loads), strict=True
    ):
        if "decisions" in said:
            part = grade_case(case, [Submission(output=run["output"], calls=run["calls"])], k=10).parts.decisions
            assert (part.outcome == "right") == is_right_by_hand(said, before["calls"], plain["calls"]), said["runId"]


def is_right_by_hand(said: dict, recorded: list[dict], made: list[dict]) -> bool:
    names = {call["toolId"] for call in made}
    if said["decisions"] == "right":
        return names == {call["toolId"] for call in recorded}
    return not names & set(said.get("mustNotCall", [])) and can_give_each(said.get("shouldCall", []), made)


def can_give_each(wanted: list[dict], made: list[dict]) -> bool:
    if not wanted:
        return True
    first, *rest = wanted
    return any(
        can_give_each(rest, made[:place] + made[place + 1 :])
        for place, call in enumerate(made)
        if call["toolId"] == first["tool"]
        and all(text(call["arguments"].get(name, ...)) == text(value) for name, value in first["args"].items())
    )


def text(value: object) -> str:
    return "left out" if value is ... else json.dumps(value, sort_keys=True)


def cases() -> list[Case]:
    return [
        Case(
            case_id=said["runId"],
            subject_kind="agent",
            output=run["output"],
            expect=expectation_of(draft_of(said)),
            called_tools=tuple(call["toolId"] for call in run["calls"]),
        )
        for said, run in zip(corrections(parse), runs("1.0.0", parse), strict=True)
    ]


def draft_of(said: dict) -> CorrectionDraft:
    return CorrectionDraft(
        decisions=Verdict(said["decisions"]) if "decisions" in said else None,
        should_call=read_calls(said.get("shouldCall", ())),
        must_not_call=tuple(said.get("mustNotCall", ())),
        answer=Verdict(said["answer"]) if "answer" in said else None,
        should_say=said.get("shouldSay"),
        why=said.get("why"),
    )


@cache
def corrections(reader) -> list[dict]:
    return [reader(line) for line in (AIRLINE / "corrections.jsonl").read_text().split("\n") if line]


@cache
def runs(version: str, reader) -> list[dict]:
    """Of one trial, in the order of the tasks, which is the corrections' order too."""
    every = [reader(line) for line in (AIRLINE / "runs.jsonl").read_text().split("\n") if line]
    return [run for run in every if run["agent"]["version"] == version]


def test_the_corrections_stand_in_the_order_of_the_first_trials_runs():
    assert [said["runId"] for said in corrections(json.loads)] == [run["runId"] for run in runs("1.0.0", json.loads)]
