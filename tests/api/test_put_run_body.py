"""The body of `PUT /v1/runs/{runId}`: every rule at its limit and one past it (contract 11.2, 4.4, 4.5, 4.6)."""

import pytest

from corrections.models import Run
from kindgi_site.clock import wire_time
from tests.api.expect import assert_refused, nothing_stored

LEFT_OUT = object()
AGENT = {"id": "support", "version": "1.2.0"}
FAR = "\U0001f6eb"
AT = "2026-03-01T09:30:00Z"
CONVERSATION = "0f8fad5b-d9cb-469f-a165-70867728950e"


def done(**said):
    return {"status": "completed", "completedAt": AT, "output": 0} | said


def agent(**said):
    return {"agent": AGENT | said}


def flow(**said):
    return {"agent": LEFT_OUT, "flow": {"id": "ranking", "version": "1.0.0"} | said}


def segments(*pairs):
    return {"segments": [{"key": key, "value": value} for key, value in pairs]}


def context(**said):
    return {"context": said}


def flow_calls(count):
    return flow() | context(flow={"calls": [{"toolId": "t"}] * count})


ALLOWED = {
    "pending": {"status": "pending"},
    "suspended": {"status": "suspended"},
    "cancelled": {"status": "cancelled", "completedAt": AT},
    "failed without a message": {"status": "failed", "completedAt": AT},
    "a message of 4000 characters": {"status": "failed", "completedAt": AT, "failureMessage": FAR * 4000},
    "completed": done(),
    "an output of false": done(output=False),
    "an output of an empty text": done(output=""),
    "an input of null": {"input": None},
    "completedAt while running": {"completedAt": AT},
    "a flow": flow(id=FAR * 200),
    "an agent of 200 characters": agent(id=FAR * 200),
    "an agent of one character": agent(id="a"),
    "a prerelease": agent(version="1.0.0-alpha.1+x.7"),
    "a conversation": agent(conversationId=CONVERSATION),
    **{f"via {via}": agent(via=via) for via in ("explicit", "flow-pin", "conversation", "live", "latest")},
    "a dry run": {"dryRun": True},
    "no segments": segments(),
    "8 segments": segments(*((f"k{n}", "v") for n in range(8))),
    "a segment at its limits": segments(("k" * 64, FAR * 256), ("a-_9", " ")),
    "1000 messages": context(history=[None] * 1000),
    "5000 calls of a flow": flow_calls(5000),
    "steps of a flow": flow() | context(flow={"steps": [{"agentId": "a", "agentVersion": "1.0.0"}]}),
    "a call's tool of 200 characters": {"calls": [{"toolId": FAR * 200}]},
    "a call's error of 4000 characters": {"calls": [{"toolId": "t", "error": FAR * 4000}]},
    "everything a call may say": {
        "calls": [
            {
                "toolId": "t",
                "arguments": None,
                "result": [],
                "error": "e",
                "callId": "c",
                "startedAt": AT,
                "durationMs": 1,
            }
        ]
    },
    "a participant of 256 characters": {"participantId": FAR * 256},
    "other parts of a context": context(retrieved=None, recalled=7, other=[], toolEnv={}, sessionApproval={}),
}


def sent(run_body, said):
    return {name: value for name, value in (run_body | said).items() if value is not LEFT_OUT}


@pytest.mark.parametrize("said", ALLOWED.values(), ids=ALLOWED)
def test_a_body_at_the_limits_is_accepted(api_client, run_path, run_body, said):
    response = api_client.put(run_path, sent(run_body, said))

    assert (response.status_code, Run.objects.count()) == (201, 1), response.content


REFUSED = {
    "no project": ({"projectId": LEFT_OUT}, "projectId"),
    "a project that is no UUID": ({"projectId": "default"}, "projectId"),
    "a project null": ({"projectId": None}, "projectId"),
    "agent and flow": ({"flow": {"id": "f", "version": "1.0.0"}}, "agent"),
    "neither agent nor flow": ({"agent": LEFT_OUT}, "agent"),
    "an agent null": ({"agent": None}, "agent"),
    "an agent that is a text": ({"agent": "support"}, "agent"),
    "an empty agent": (agent(id=""), "agent.id"),
    "an agent of 201 characters": (agent(id="a" * 201), "agent.id"),
    "an agent with NUL": (agent(id="a\0"), "agent.id"),
    "an agent without version": ({"agent": {"id": "a"}}, "agent.version"),
    "a version of two numbers": (agent(version="1.2"), "agent.version"),
    "a version with a leading zero": (agent(version="1.02.0"), "agent.version"),
    "a version with a v": (agent(version="v1.2.0"), "agent.version"),
    "a version with a line end": (agent(version="1.2.0\n"), "agent.version"),
    "a conversation that is no UUID": (agent(conversationId="c"), "agent.conversationId"),
    "via nothing known": (agent(via="pin"), "agent.via"),
    "an unknown field of the agent": (agent(name="x"), "agent.name"),
    "a flow of 201 characters": (flow(id="f" * 201), "flow.id"),
    "via of a flow": (flow(via="live"), "flow.via"),
    "no status": ({"status": LEFT_OUT}, "status"),
    "status done": ({"status": "done"}, "status"),
    "no input": ({"input": LEFT_OUT}, "input"),
    "completed without output": (done(output=LEFT_OUT), "output"),
    "completed with null": (done(output=None), "output"),
    "output while running": ({"output": 1}, "output"),
    "output null while running": ({"output": None}, "output"),
    "output of a failure": ({"status": "failed", "completedAt": AT, "output": 1}, "output"),
    "a message while running": ({"failureMessage": "m"}, "failureMessage"),
    "a message when completed": (done(failureMessage="m"), "failureMessage"),
    "an empty message while running": ({"failureMessage": ""}, "failureMessage"),
    "a message of 4001": ({"status": "failed", "completedAt": AT, "failureMessage": "m" * 4001}, "failureMessage"),
    "completed without a time": (done(completedAt=LEFT_OUT), "completedAt"),
    "failed without a time": ({"status": "failed"}, "completedAt"),
    "cancelled without a time": ({"status": "cancelled"}, "completedAt"),
    "dryRun a number": ({"dryRun": 1}, "dryRun"),
    "dryRun a text": ({"dryRun": "true"}, "dryRun"),
    "dryRun null": ({"dryRun": None}, "dryRun"),
    "a blank parent": ({"parentRunId": " "}, "parentRunId"),
    "a node that is a number": ({"parentNodeId": 7}, "parentNodeId"),
    "replayOf null": ({"replayOf": None}, "replayOf"),
    "an empty test run": ({"testRunId": ""}, "testRunId"),
    "an empty participant": ({"participantId": ""}, "participantId"),
    "a participant of 257": ({"participantId": "p" * 257}, "participantId"),
    "segments an object": ({"segments": {}}, "segments"),
    "9 segments": (segments(*((f"k{n}", "v") for n in range(9))), "segments"),
    "a segment key of 65": (segments(("k" * 65, "v")), "segments"),
    "a segment key in capitals": (segments(("Region", "v")), "segments"),
    "a segment key that starts with a digit": (segments(("1a", "v")), "segments"),
    "a segment key with a line end": (segments(("a\n", "v")), "segments"),
    "an empty segment value": (segments(("a", "")), "segments"),
    "a segment value of 257": (segments(("a", "v" * 257)), "segments"),
    "a segment value with a surrogate": (segments(("a", "\ud800")), "segments.value"),
    "a segment key twice": (segments(("a", "1"), ("b", "2"), ("a", "3")), "segments"),
    "a segment without value": ({"segments": [{"key": "a"}]}, "segments.value"),
    "an unknown field of a segment": ({"segments": [{"key": "a", "value": "b", "name": "c"}]}, "segments.name"),
    "a context that is a list": ({"context": []}, "context"),
    "a context null": ({"context": None}, "context"),
    "1001 messages": (context(history=[0] * 1001), "context"),
    "a history that is an object": (context(history={}), "context"),
    "a flow of the context that is a list": (flow() | context(flow=[]), "context"),
    "5001 calls of a flow": (flow_calls(5001), "context.flow.calls"),
    "a flow's call without tool": (flow() | context(flow={"calls": [{}]}), "context.flow.calls"),
    "a step without agent": (flow() | context(flow={"steps": [{"agentVersion": "1.0.0"}]}), "context"),
    "calls an object": ({"calls": {}}, "calls"),
    "calls of a flow": (flow() | {"calls": []}, "calls"),
    "a call without tool": ({"calls": [{"arguments": {}}]}, "calls"),
    "a call that is a text": ({"calls": ["t"]}, "calls"),
    "an empty tool": ({"calls": [{"toolId": ""}]}, "calls"),
    "a tool of 201 characters": ({"calls": [{"toolId": "t" * 201}]}, "calls"),
    "an error of 4001 characters": ({"calls": [{"toolId": "t", "error": "e" * 4001}]}, "calls"),
    "an error that is a number": ({"calls": [{"toolId": "t", "error": 7}]}, "calls"),
}


@pytest.mark.parametrize(("said", "field"), REFUSED.values(), ids=REFUSED)
def test_a_body_past_the_limits_is_refused(api_client, run_path, run_body, said, field):
    body = sent(run_body, said)
    with nothing_stored():
        response = api_client.put(run_path, body)

    assert_refused(response, 400, "bad-input", field=field)


def test_unknown_fields_are_named_before_any_rule(api_client, run_path, run_body):
    with nothing_stored():
        response = api_client.put(run_path, run_body | {"status": "done", "runId": "x", "tenantId": "y"})

    assert_refused(response, 400, "unknown-field", fields=["runId", "tenantId"])


@pytest.mark.parametrize("body", ["", "[]", "{", '{"input": NaN}', '{"input": 1e5x}'])
def test_a_body_that_is_no_json_object_is_refused(api_client, run_path, body):
    with nothing_stored():
        response = api_client.put(run_path, body)

    assert_refused(response, 400, "bad-input")


def test_an_input_deeper_than_the_limit_is_refused(api_client, run_path):
    with nothing_stored():
        response = api_client.put(run_path, '{"input":' + "[" * 128 + "]" * 128 + "}")

    assert_refused(response, 400, "bad-input", maxDepth=128)


TIMES = {
    "2026-03-01T09:30:00Z": "2026-03-01T09:30:00.000Z",
    "2026-03-01 09:30:00Z": "2026-03-01T09:30:00.000Z",
    "2026-03-01T09:30:00.1Z": "2026-03-01T09:30:00.100Z",
    "2026-03-01T09:30:00.123999999Z": "2026-03-01T09:30:00.123Z",
    "2026-03-01T09:30:00+02": "2026-03-01T07:30:00.000Z",
    "2026-03-01T09:30:00-02:30": "2026-03-01T12:00:00.000Z",
    "2026-03-01T09:30:00+00:00:30": "2026-03-01T09:29:30.000Z",
    "2026-03-01T00:30:00+15:59:59": "2026-02-28T08:30:01.000Z",
    "2024-02-29T23:59:59.999Z": "2024-02-29T23:59:59.999Z",
    "1000-01-01T00:00:00Z": "1000-01-01T00:00:00.000Z",
    "1000-01-01T00:00:00+01": "0999-12-31T23:00:00.000Z",
    "9999-12-31T23:59:59Z": "9999-12-31T23:59:59.000Z",
}


@pytest.mark.parametrize(("text", "told"), TIMES.items(), ids=TIMES)
def test_a_time_is_told_in_utc_to_the_millisecond(api_client, run_path, run_body, text, told):
    response = api_client.put(run_path, run_body | done(completedAt=text, startedAt=text))

    assert response.json()["completedAt"] == wire_time(Run.objects.get().started_at) == told


@pytest.mark.parametrize("name", ["startedAt", "completedAt"])
@pytest.mark.parametrize(
    "text",
    [
        "2026-03-01",
        "2026-03-01T09:30:00",
        "2026-03-01T09:30Z",
        "2026-03-01t09:30:00Z",
        "2026-03-01T09:30:00z",
        "2026-03-01T09:30:00.Z",
        "2026-03-01T09:30:00.1234567890Z",
        "2026-03-01T09:30:00,5Z",
        "2026-02-29T09:30:00Z",
        "2026-13-01T09:30:00Z",
        "2026-03-01T24:00:00Z",
        "2026-03-01T09:60:00Z",
        "2026-03-01T09:30:60Z",
        "0999-03-01T09:30:00Z",
        "10000-03-01T09:30:00Z",
        "2026-03-01T09:30:00+16",
        "2026-03-01T09:30:00+0200",
        "2026-03-01T09:30:00+02:60",
        " 2026-03-01T09:30:00Z",
        "2026-03-01T09:30:00Z\n",
        "٢٠٢٦-03-01T09:30:00Z",
        "9999-12-31T23:59:59-01",
        "",
        1772357400,
        None,
    ],
)
def test_what_is_no_time_is_refused(api_client, run_path, run_body, name, text):
    with nothing_stored():
        response = api_client.put(run_path, run_body | done() | {name: text})

    assert_refused(response, 400, "bad-input", field=name)
