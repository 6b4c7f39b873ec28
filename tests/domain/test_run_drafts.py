"""What a run that is handed in must say (contract 11.2, decision 4): each rule at its limit and one past it."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from corrections.drafts import RunDraft
from corrections.rules.runs import check_run
from corrections.rules.segments import check_segments, starts_with
from corrections.vocabulary import RunStatus, SubjectKind
from kindgi_site.errors import Code, InvalidError
from kindgi_site.exact_json import JsonText

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
COMPLETED, FAILED = {"status": RunStatus.COMPLETED, "output": "x"}, {"status": RunStatus.FAILED, "completed_at": AT}
FLOW = {"subject_kind": SubjectKind.FLOW}
CALL, STEP = {"toolId": "t"}, {"agentId": "a", "agentVersion": "1.0.0"}


def draft(**said: object) -> RunDraft:
    """A completed agent turn; JSON parts are given as values."""
    parts = ("input", "output", "context", "calls")
    plain = {
        "run_id": UUID(int=1),
        "project_id": UUID(int=2),
        "subject_kind": SubjectKind.AGENT,
        "subject_id": "support",
        "subject_version": "1.0.0",
        "completed_at": AT,
        "input": "in",
    }
    said = plain | COMPLETED | said
    return RunDraft(
        **said | {name: JsonText.of(said[name]) for name in parts if name in said and said[name] is not None}
    )


def context(**parts: object) -> dict:
    return {"context": parts}


def flow_with(**parts: object) -> dict:
    return FLOW | context(flow=parts)


UNSAID = {"output": None}
ACCEPTED = {
    "a completed agent turn": {},
    "a completed flow run": FLOW,
    "an output that is false": {"output": False},
    "an output that is empty": {"output": {}},
    "a failed run": FAILED | UNSAID,
    "a failure message of 4000 characters": FAILED | UNSAID | {"failure_message": "\U0001f600" * 4000},
    "a cancelled run": UNSAID | {"status": RunStatus.CANCELLED},
    "a pending run without times": UNSAID | {"status": RunStatus.PENDING, "completed_at": None},
    "a running run": UNSAID | {"status": RunStatus.RUNNING, "completed_at": None},
    "a suspended run": UNSAID | {"status": RunStatus.SUSPENDED, "completed_at": None},
    "an empty context": context(),
    "a thousand messages": context(history=[0] * 1000),
    "anything retrieved": context(retrieved=1, recalled=None),
    "five thousand calls of a flow": flow_with(calls=[CALL] * 5000, steps=[STEP]),
    "calls": {"calls": [CALL, CALL | {"arguments": None, "result": 1, "callId": "c", "durationMs": 1}]},
    "no calls": {"calls": []},
    "a tool of 200 characters": {"calls": [{"toolId": "t" * 200}]},
    "a call that failed with 4000 characters": {"calls": [CALL | {"error": "e" * 4000}]},
}
REFUSED = {
    "completed without output": (UNSAID, "output"),
    "completed with null": ({"output": "null"}, "output"),
    "failed with output": (FAILED, "output"),
    "running with output": ({"status": RunStatus.RUNNING, "completed_at": None}, "output"),
    "a failure message on a completed run": ({"failure_message": "no"}, "failureMessage"),
    "a failure message of 4001 characters": (FAILED | UNSAID | {"failure_message": "x" * 4001}, "failureMessage"),
    "completed without its time": ({"completed_at": None}, "completedAt"),
    "failed without its time": (FAILED | UNSAID | {"completed_at": None}, "completedAt"),
    "cancelled without its time": (UNSAID | {"status": RunStatus.CANCELLED, "completed_at": None}, "completedAt"),
    "a context that is a list": ({"context": []}, "context"),
    "a thousand and one messages": (context(history=[0] * 1001), "context"),
    "a history that is an object": (context(history={}), "context"),
    "a null history": (context(history=None), "context"),
    "a session approval that is a boolean": (context(sessionApproval=True), "context"),
    "a tool environment that is a list": (context(toolEnv=[]), "context"),
    "a flow that is a list": (FLOW | context(flow=[]), "context"),
    "five thousand and one calls of a flow": (flow_with(calls=[CALL] * 5001), "context.flow.calls"),
    "a flow's calls that are an object": (flow_with(calls={}), "context.flow.calls"),
    "a flow's call without a tool": (flow_with(calls=[CALL, {}]), "context.flow.calls"),
    "steps that are an object": (flow_with(steps={}), "context"),
    "a step that is a text": (flow_with(steps=["step"]), "context"),
    "a step without a version": (flow_with(steps=[{"agentId": "a"}]), "context"),
    "calls of a flow beside it": (FLOW | {"calls": [CALL]}, "calls"),
    "a call that is a text": ({"calls": ["t"]}, "calls"),
    "a call with an empty tool": ({"calls": [{"toolId": ""}]}, "calls"),
    "a call with a numeric tool": ({"calls": [{"toolId": 7}]}, "calls"),
    "a tool of 201 characters": ({"calls": [{"toolId": "t" * 201}]}, "calls"),
    "a tool with NUL": ({"calls": [{"toolId": "t\x00"}]}, "calls"),
    "a failure of 4001 characters": ({"calls": [CALL | {"error": "e" * 4001}]}, "calls"),
    "a failure that is no text": ({"calls": [CALL | {"error": None}]}, "calls"),
}


@pytest.mark.parametrize("said", ACCEPTED.values(), ids=ACCEPTED)
def test_accepted(said):
    check_run(draft(**said))


@pytest.mark.parametrize(("said", "field"), REFUSED.values(), ids=REFUSED)
def test_refused(said, field):
    refused = draft(**said)
    if said.get("output") == "null":
        refused = RunDraft(**{n: getattr(refused, n) for n in refused.__slots__} | {"output": JsonText("null")})

    with pytest.raises(InvalidError) as caught:
        check_run(refused)

    assert (caught.value.code, caught.value.details) == (Code.BAD_INPUT, {"field": field})


def path(*pairs: str) -> list[dict[str, str]]:
    return [dict(zip(("key", "value"), pair.split("=", 1), strict=True)) for pair in pairs]


@pytest.mark.parametrize(
    "segments",
    [
        [],
        path("region=eu"),
        path(*[f"k{n}=v" for n in range(8)]),
        path("a=v"),
        path(f"a{'b' * 63}=v"),
        path("a_b-9=v"),
        path(f"a={'v' * 256}"),
        path("a= "),
        path("a=v", "b=v"),
    ],
)
def test_segments_within_their_bounds(segments):
    check_segments(segments)


@pytest.mark.parametrize(
    "segments",
    [
        path(*[f"k{n}=v" for n in range(9)]),
        path("=v"),
        path("9a=v"),
        path("A=v"),
        path("aB=v"),
        path("é=v"),
        path("a.b=v"),
        path("a\n=v"),
        path(f"a{'b' * 64}=v"),
        path("a="),
        path(f"a={'v' * 257}"),
        path("a=v", "b=v", "a=w"),
    ],
)
def test_segments_past_them(segments):
    with pytest.raises(InvalidError) as caught:
        check_segments(segments)

    assert (caught.value.code, caught.value.details) == (Code.BAD_INPUT, {"field": "segments"})


@pytest.mark.parametrize(
    ("prefix", "matches"),
    [
        ([], True),
        (path("region=eu"), True),
        (path("region=eu", "shop=1"), True),
        (path("region=us"), False),
        (path("shop=1"), False),
        (path("shop=1", "region=eu"), False),
        (path("region=eu", "shop=1", "desk=2"), False),
    ],
)
def test_a_path_starts_with_a_prefix_position_by_position(prefix, matches):
    assert starts_with(path("region=eu", "shop=1"), prefix) is matches
