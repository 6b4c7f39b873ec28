"""Reading the tools a run called from where it recorded them (contract 11.2, decisions 4 and 15)."""

import pytest

from corrections.rules.calls import Call, calls_made
from corrections.rules.pointers import MISSING


def decided(*calls: dict) -> dict:
    return {"role": "agent", "content": {"toolCalls": list(calls)}}


def answered(call_id: str, tool: str = "find", **more: object) -> dict:
    content = {"content": more.pop("content")} if "content" in more else {}
    return {"role": "tool", "toolCall": {"invocationId": call_id, "toolId": tool, **more}, **content}


def tools(appended: object, calls: object = None) -> list[str] | None:
    made = calls_made("agent", {"appended": appended}, None, calls)
    return made and [call.tool for call in made]


FIND = {"id": "c1", "toolId": "find", "arguments": {"q": 1}}
PAY = {"id": "c2", "toolId": "pay"}


def test_an_appended_call_has_what_was_decided_and_what_came_of_it():
    appended = [
        decided(FIND),
        answered("c1", content={"hits": []}),
        decided(PAY),
        answered("c2", "pay", error="denied"),
    ]

    assert calls_made("agent", {"appended": appended}, None, None) == [
        Call(tool="find", arguments={"q": 1}, result={"hits": []}, call_id="c1"),
        Call(tool="pay", error="denied", call_id="c2"),
    ]


def test_arguments_of_the_tool_message_come_before_those_decided():
    appended = [decided(FIND), answered("c1", arguments={"q": 2})]

    (call,) = calls_made("agent", {"appended": appended}, None, None)

    assert (call.arguments, call.result) == ({"q": 2}, MISSING)


@pytest.mark.parametrize(
    ("appended", "expected"),
    [
        ([decided(PAY, FIND), answered("c1"), answered("c2", "pay")], ["find", "pay"]),
        ([decided(FIND), answered("c1"), answered("c1")], ["find", "find"]),
        ([decided(FIND), {"role": "user", "content": "wait"}, answered("c1")], ["find"]),
        ([decided(FIND), {"role": "tool", "toolCall": {"invocationId": "c1"}}], ["find"]),
        ([answered("c1"), decided(FIND)], []),
        ([decided(FIND), answered("c2", "pay")], []),
        ([decided(FIND)], []),
        ([{"role": "user", "content": {"toolCalls": [FIND]}}, answered("c1")], []),
        ([decided(FIND), {"role": "agent", "toolCall": {"invocationId": "c1", "toolId": "find"}}], []),
        ([decided({"toolId": "find"}), answered("c1")], []),
        ([decided({"id": 1, "toolId": "find"}), {"role": "tool", "toolCall": {"invocationId": 1}}], []),
        ([decided({"id": "c1"}), {"role": "tool", "toolCall": {"invocationId": "c1"}}], []),
        ([None, 1, "text", [], {}, {"role": "agent", "content": "text"}, {"role": "tool", "toolCall": None}], []),
        ([{"role": "agent", "content": {"toolCalls": {"id": "c1"}}}, {"role": "agent"}, answered("c1")], []),
        ([decided(None, "c1", FIND), answered("c1")], ["find"]),
    ],
)
def test_a_tool_message_counts_when_it_answers_a_call_decided_before(appended, expected):
    assert tools(appended) == expected


@pytest.mark.parametrize("output", [None, [], "text", {"content": "text"}, {"appended": "text"}, {"appended": None}])
def test_an_output_without_messages_leaves_it_to_the_runs_calls(output):
    calls = [{"toolId": "find", "arguments": 1, "result": None, "error": "late", "callId": "c1", "durationMs": 5}]

    assert calls_made("agent", output, None, calls) == [
        Call(tool="find", arguments=1, result=None, error="late", call_id="c1", duration_ms=5)
    ]
    assert calls_made("agent", output, None, None) is None
    assert calls_made("agent", output, {"flow": {"calls": calls}}, None) is None


def test_messages_that_carry_no_call_leave_it_to_the_runs_calls():
    only_text = [{"role": "agent", "content": "It arrives on Monday."}]

    assert tools(only_text, [{"toolId": "find"}]) == ["find"]
    assert tools(only_text) == []


def test_messages_that_carry_calls_win_over_the_runs_calls():
    assert tools([decided(FIND), answered("c1")], [{"toolId": "pay"}]) == ["find"]


def test_a_flows_calls_are_its_contexts_and_no_others():
    context = {"flow": {"calls": [{"toolId": "search", "result": []}, {"runId": "x"}, None, {"toolId": "rank"}]}}
    output = {"appended": [decided(FIND), answered("c1")]}

    made = calls_made("flow", output, context, [{"toolId": "pay"}])

    assert made == [Call(tool="search", result=[]), Call(tool="rank")]


@pytest.mark.parametrize("context", [None, {}, {"flow": None}, {"flow": {}}, {"flow": {"calls": {}}}, {"flow": []}])
def test_a_flow_that_recorded_no_list_of_calls_made_unknown_ones(context):
    assert calls_made("flow", {}, context, [{"toolId": "pay"}]) is None


def test_a_run_that_recorded_an_empty_list_called_nothing():
    assert calls_made("flow", {}, {"flow": {"calls": []}}, None) == []
    assert calls_made("agent", {}, None, []) == []
