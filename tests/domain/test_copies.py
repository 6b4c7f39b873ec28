"""What of a run's context goes into its copy (contract 7.5), text for text."""

import json

import pytest

from corrections.rules.copies import CopiedContext, copied_context

RUN = "5b7d1f0e-0000-4000-8000-000000000001"


def copied(kind: str, context: object, replay_of: str = "") -> CopiedContext:
    """`context` is its JSON text, or a value to be written as one."""
    text = context if isinstance(context, str | None) else json.dumps(context)
    return copied_context(subject_kind=kind, run_id=RUN, context_text=text, replay_of=replay_of)


def wire(kind: str, context: object, replay_of: str = "") -> object:
    made = copied(kind, context, replay_of).wire
    return made and json.loads(made.text)


@pytest.mark.parametrize("kind", ["agent", "flow"])
@pytest.mark.parametrize(
    "context",
    [
        None,
        "{}",
        " { } ",
        {"other": 1},
        {"history": [], "toolEnv": {}, "flow": {}},
        {"flow": {"calls": [], "steps": []}},
    ],
)
def test_nothing_to_copy_is_no_context(kind, context):
    assert copied(kind, context) == CopiedContext(wire=None)


def test_an_agent_turn_copies_its_parts_and_no_other():
    context = {
        "toolEnv": {"find": {"region": "eu"}},
        "recalled": None,
        "unknown": 1,
        "flow": {"calls": [{"toolId": "x"}], "steps": []},
        "retrieved": [{"id": "doc"}],
        "sessionApproval": {"approved": True},
        "history": [{"role": "user", "content": "hi"}],
    }

    assert list(wire("agent", context).items()) == [
        ("history", [{"role": "user", "content": "hi"}]),
        ("retrieved", [{"id": "doc"}]),
        ("recalled", None),
        ("sessionApproval", {"approved": True}),
        ("toolEnv", {"find": {"region": "eu"}}),
    ]


def test_parts_are_copied_as_they_were_sent():
    message = '{ "n" : 1.0, "long":12345678901234567890, "text":"\\u0000\\ud800", "b":1, "a":2, "a":3 }'

    assert copied("agent", f'{{"retrieved": {message} , "history" : [ {message} ]}}').wire.text == (
        f'{{"history":[{message}],"retrieved":{message}}}'
    )


@pytest.mark.parametrize(("said", "kept"), [(1, 1), (199, 199), (200, 200), (201, 200), (1000, 200)])
def test_the_last_two_hundred_messages_are_kept(said, kept):
    context = wire("agent", {"history": list(range(said))})

    assert context["history"] == list(range(said - kept, said))
    assert context.get("historyTruncated") == (True if said > 200 else None)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"approved": True}, {"approved": True}),
        ({"approved": True, "rationale": "fine", "by": "me"}, {"approved": True}),
        ({"approved": False, "rationale": "no", "by": "me"}, {"approved": False, "rationale": "no"}),
        ({"rationale": "no", "approved": False}, {"approved": False, "rationale": "no"}),
        ({"approved": False}, {"approved": False}),
        ({"approved": False, "rationale": 7}, {"approved": False}),
        ({"approved": "yes"}, None),
        ({"approved": None}, None),
        ({"rationale": "no"}, None),
        ([True], None),
        (None, None),
    ],
)
def test_a_rationale_is_kept_with_a_rejection_only(given, kept):
    assert wire("agent", {"sessionApproval": given}) == (kept and {"sessionApproval": kept})


@pytest.mark.parametrize("kind", ["agent", "flow"])
@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"a": {"x": "1", "y": "2"}, "b": {}}, {"a": {"x": "1", "y": "2"}, "b": {}}),
        ({"a": {"x": "1", "y": 2}, "b": {"x": "1"}}, {"b": {"x": "1"}}),
        ({"a": {"x": None}, "b": "text", "c": ["x"]}, None),
        ("text", None),
    ],
)
def test_a_tools_environment_is_kept_when_all_its_values_are_texts(kind, given, kept):
    assert wire(kind, {"toolEnv": given}) == (kept and {"toolEnv": kept})


CALL = {"nodeId": "n1", "scope": "s", "toolId": "search", "arguments": {"q": 1}, "result": None}
STEP = {"nodeId": "n2", "scope": "s", "agentId": "ranker", "agentVersion": "1.0.0", "retrieved": [1], "recalled": {}}


def test_a_flow_copies_calls_and_steps_with_the_wires_fields():
    off_the_wire = {"callId": "c1", "error": "late", "startedAt": "2026-01-01T00:00:00Z", "durationMs": 5, "more": 1}
    context = {
        "history": ["no turn"],
        "flow": {
            "calls": [off_the_wire | CALL | {"fromEvent": True, "runId": "its own"}],
            "steps": [STEP | {"input": 1}],
            "more": 1,
        },
    }

    assert wire("flow", context) == {
        "flow": {
            "calls": [CALL | {"fromEvent": True, "runId": "its own"}],
            "steps": [STEP | {"runId": RUN}],
        }
    }


def test_the_calls_beside_the_copy_keep_what_the_wire_leaves_out():
    call = {"toolId": "search", "error": "late", "durationMs": 5, "more": 1.0}

    assert json.loads(copied("flow", {"flow": {"calls": [call]}}).flow_calls.text) == [call]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"toolId": "t"}, {"runId": RUN, "toolId": "t"}),
        ({"toolId": "t", "runId": 7, "scope": None}, {"runId": RUN, "toolId": "t"}),
        ({"toolId": "t", "fromEvent": False}, {"runId": RUN, "toolId": "t"}),
        ({"toolId": "t", "fromEvent": "true"}, {"runId": RUN, "toolId": "t"}),
    ],
)
def test_a_call_names_its_run_and_drops_what_is_not_of_its_type(given, kept):
    assert wire("flow", {"flow": {"calls": [given]}}) == {"flow": {"calls": [kept], "steps": []}}


@pytest.mark.parametrize(("made", "kept"), [(1, 1), (499, 499), (500, 500), (501, 500), (5000, 500)])
def test_the_first_five_hundred_calls_are_kept(made, kept):
    calls = [{"toolId": "t", "result": number} for number in range(made)]

    context = copied("flow", {"flow": {"calls": calls}})

    flow = json.loads(context.wire.text)["flow"]
    assert [call["result"] for call in flow["calls"]] == list(range(kept))
    assert flow.get("truncated") == (True if made > 500 else None)
    assert json.loads(context.flow_calls.text) == calls[:kept]


def test_steps_alone_are_a_context():
    assert wire("flow", {"flow": {"steps": [STEP]}}) == {"flow": {"calls": [], "steps": [STEP | {"runId": RUN}]}}


@pytest.mark.parametrize("broken", [None, 1, "text", {}, [1], ["text", None]])
@pytest.mark.parametrize("part", ["calls", "steps"])
def test_an_unreadable_part_is_dropped_and_the_rest_copied(part, broken):
    flow = {"calls": [CALL], "steps": [STEP]} | {part: broken}

    copy = wire("flow", {"flow": flow, "toolEnv": {"t": {}}})

    whole = {"calls": [CALL | {"runId": RUN}], "steps": [STEP | {"runId": RUN}]}
    assert copy == {"flow": whole | {part: []}, "toolEnv": {"t": {}}}


@pytest.mark.parametrize("history", [None, 1, "text", {"0": "x"}])
def test_an_unreadable_history_is_dropped(history):
    assert wire("agent", {"history": history, "retrieved": 1}) == {"retrieved": 1}


@pytest.mark.parametrize("kind", ["agent", "flow"])
def test_a_replay_names_the_run_it_replays(kind):
    assert wire(kind, None, replay_of="earlier") == {"replayOf": "earlier"}
    assert wire(kind, {"toolEnv": {"t": {}}}, replay_of="earlier") == {"toolEnv": {"t": {}}, "replayOf": "earlier"}
