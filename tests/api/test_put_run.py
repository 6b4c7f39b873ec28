"""`PUT /v1/runs/{runId}`: the ordered checks, what is kept and what is answered (contract 11.1, 11.2)."""

import json
from uuid import UUID, uuid4

import pytest

from corrections.models import Run, RunContent, RunTool
from kindgi_site import clock
from kindgi_site.clock import wire_time
from kindgi_site.exact_json import JsonText
from kindgi_site.workspaces.services.keys import store_key
from tests.api.expect import assert_refused, golden, nothing_stored
from tests.factories import ProjectFactory, RunFactory, person_with
from tests.wire import WireClient

AT = "2026-03-01T09:30:00Z"
DONE = {"status": "completed", "completedAt": AT, "output": {"content": "It arrives on Monday."}}
NO_WRITE = "You need the write permission on this project."
FULL = DONE | {
    "agent": {
        "id": "support",
        "version": "1.2.0-rc.1+build",
        "conversationId": "0f8fad5b-d9cb-469f-a165-70867728950e",
        "via": "flow-pin",
    },
    "startedAt": "2026-03-01T09:29:00Z",
    "completedAt": "2026-03-01T10:30:00.1239+01:00",
    "dryRun": True,
    "parentRunId": "5f0f1f8a-52a5-4a3c-9d0c-0c7e9a3d1b11",
    "parentNodeId": "answer",
    "replayOf": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
    "testRunId": "tr-1",
    "segments": [{"key": "region", "value": "eu"}, {"key": "shop", "value": "berlin"}],
    "participantId": "end-user",
    "context": {"history": ["Hello"]},
    "calls": [{"toolId": "find_order", "error": "late"}, {"toolId": "find_order"}, {"toolId": "apologise"}],
}


def run_id_in(path):
    return path.rpartition("/")[2]


def answer(name, path):
    """The golden answer, with the times of the stored row."""
    run = Run.objects.get(run_id=run_id_in(path))
    return golden(
        name,
        id=run_id_in(path),
        tenant=str(run.workspace_id),
        project=str(run.project_id),
        created=wire_time(run.created_at),
        updated=wire_time(run.updated_at),
    )


def denied(project_id):
    return {"action": "write", "resource": {"type": "project", "id": str(project_id)}, "reason": NO_WRITE}


def test_a_new_run_is_kept_whole(api_client, run_path, run_body, project):
    before = clock.now()

    response = api_client.put(run_path, run_body | FULL)

    row = Run.objects.values().get()
    assert (response.status_code, response.json()) == (201, answer("run_agent", run_path))
    assert before <= row["created_at"] == row["updated_at"] <= clock.now()
    content = RunContent.objects.get()
    assert (row["participant_id"], wire_time(row["started_at"])) == ("end-user", "2026-03-01T09:29:00.000Z")
    assert {
        name: getattr(content, name) and json.loads(getattr(content, name).text) for name in ("input", "calls")
    } == {
        "input": run_body["input"],
        "calls": FULL["calls"],
    }
    assert json.loads(content.context.text) == FULL["context"]
    assert set(RunTool.objects.values_list("tool", flat=True)) == {"find_order", "apologise"}


def test_a_failed_flow_tells_why(api_client, run_path, run_body):
    body = run_body | {
        "flow": {"id": "ranking", "version": "2.0.0"},
        "status": "failed",
        "completedAt": AT,
        "failureMessage": "The index was down.",
        "segments": [],
    }
    del body["agent"]

    response = api_client.put(run_path, body)

    assert (response.status_code, response.json()) == (201, answer("run_flow", run_path))


def test_a_run_in_progress_is_answered_without_output(api_client, run_path, run_body):
    response = api_client.put(run_path, run_body)

    assert (response.status_code, response.json()) == (201, answer("run_running", run_path))


def test_what_is_not_terminal_is_replaced_whole(api_client, run_path, run_body):
    first = api_client.put(run_path, run_body | {"segments": [{"key": "a", "value": "b"}], "dryRun": True}).json()
    Run.objects.update(created_at=clock.now().replace(year=2020), updated_at=clock.now().replace(year=2020))

    response = api_client.put(run_path, run_body | {"status": "suspended", "calls": [{"toolId": "t"}]})

    run = Run.objects.get()
    assert (response.status_code, response.json()) == (200, answer("run_running", run_path) | {"status": "suspended"})
    assert (run.created_at.year, run.updated_at.year > 2020, run.segments) == (2020, True, None)
    assert (first["segments"], RunTool.objects.get().tool) == ([{"key": "a", "value": "b"}], "t")


def test_a_run_finishes_once(api_client, run_path, run_body):
    assert api_client.put(run_path, run_body).status_code == 201
    assert api_client.put(run_path, run_body | FULL).status_code == 200
    with nothing_stored():
        response = api_client.put(run_path, run_body)

    assert_refused(response, 409, "run-already-terminal", runId=run_id_in(run_path), status="completed")


SAME = {
    "as it was": (FULL, FULL),
    "the time in another zone": (FULL, FULL | {"completedAt": "2026-03-01T09:30:00.123Z"}),
    "keys in another order": (DONE | {"output": {"a": 1, "b": [2]}}, DONE | {"output": {"b": [2], "a": 1}}),
    "numbers written otherwise": (DONE | {"output": [1.0, 100]}, DONE | {"output": [1, 1e2]}),
    "an empty list of segments": (DONE, DONE | {"segments": []}),
    "dryRun false, said": (DONE, DONE | {"dryRun": False}),
}


@pytest.mark.parametrize(("first", "second"), SAME.values(), ids=SAME)
def test_the_same_content_again_changes_nothing(api_client, run_path, run_body, first, second):
    body = api_client.put(run_path, run_body | first).json()
    Run.objects.update(updated_at=clock.now().replace(year=2020))
    with nothing_stored():
        response = api_client.put(run_path, run_body | second)

    run = Run.objects.get()
    assert (response.status_code, response.json()) == (200, body | {"updatedAt": wire_time(run.updated_at)})


OTHER = {
    "input": {"input": {"message": "Where is my order ?"}},
    "output": {"output": {"content": "On Tuesday."}},
    "true for 1": {"output": {"content": True}},
    "agent": {"agent": FULL["agent"] | {"id": "sales"}},
    "version": {"agent": FULL["agent"] | {"version": "1.2.0"}},
    "conversation": {"agent": FULL["agent"] | {"conversationId": "0f8fad5b-d9cb-469f-a165-70867728950f"}},
    "via": {"agent": FULL["agent"] | {"via": "live"}},
    "status": {"status": "running", "completedAt": AT, "output": None},
    "started": {"startedAt": AT},
    "completed": {"completedAt": AT},
    "dry run": {"dryRun": False},
    "parent": {"parentRunId": "other"},
    "node": {"parentNodeId": "other"},
    "replay": {"replayOf": "other"},
    "test run": {"testRunId": "other"},
    "participant": {"participantId": "other"},
    "segments": {"segments": FULL["segments"][:1]},
    "segments turned": {"segments": FULL["segments"][::-1]},
    "context": {"context": {}},
    "calls": {"calls": FULL["calls"][:2]},
}


@pytest.mark.parametrize("other", OTHER.values(), ids=OTHER)
def test_other_content_of_a_finished_run_is_refused(api_client, run_path, run_body, other):
    assert api_client.put(run_path, run_body | FULL).status_code == 201
    body = {name: value for name, value in (run_body | FULL | other).items() if value is not None}
    with nothing_stored():
        response = api_client.put(run_path, body)

    assert_refused(response, 409, "run-already-terminal", runId=run_id_in(run_path), status="completed")


@pytest.mark.parametrize("status", ["failed", "cancelled"])
def test_a_run_that_ended_otherwise_is_terminal_too(api_client, run_path, run_body, status):
    assert api_client.put(run_path, run_body | {"status": status, "completedAt": AT}).status_code == 201
    with nothing_stored():
        response = api_client.put(run_path, run_body | DONE)

    assert_refused(response, 409, "run-already-terminal", runId=run_id_in(run_path), status=status)


def test_an_empty_context_differs_from_none(api_client, run_path, run_body):
    assert api_client.put(run_path, run_body | DONE).status_code == 201

    assert api_client.put(run_path, run_body | DONE | {"context": {"history": []}}).status_code == 409


# The ordered checks: each beats the next.


@pytest.mark.parametrize(
    "run_id", ["no-uuid", "7c9e6679742540de944be07fc1f90ae7", "{7c9e6679-7425-40de-944b-e07fc1f90ae7}"]
)
def test_a_path_that_is_no_uuid(api_client, run_body, run_id):
    with nothing_stored():
        response = api_client.put(f"/v1/runs/{run_id}", run_body | {"status": "done"})

    assert_refused(response, 400, "bad-input", field="runId")


@pytest.mark.parametrize("project_id", ["x", str(UUID(int=7))])
def test_the_path_beats_the_project(api_client, run_body, project_id):
    with nothing_stored():
        response = api_client.put("/v1/runs/no-uuid", run_body | {"projectId": project_id})

    assert_refused(response, 400, "bad-input", field="runId")


def test_the_id_may_be_written_in_capitals(api_client, run_path, run_body):
    assert api_client.put(run_path, run_body).status_code == 201
    assert api_client.put(f"/v1/runs/{run_id_in(run_path).upper()}", run_body).status_code == 200


def test_the_shape_of_the_project_beats_the_rest_of_the_body(api_client, run_path, run_body):
    with nothing_stored():
        response = api_client.put(run_path, run_body | {"projectId": "x", "status": "done", "unknown": 1})

    assert_refused(response, 400, "bad-input", field="projectId")


@pytest.mark.parametrize("where", ["nowhere", "elsewhere"])
def test_the_unknown_project_beats_the_rest_of_the_body(api_client, run_path, run_body, where):
    project_id = str(uuid4() if where == "nowhere" else ProjectFactory().id)
    with nothing_stored():
        response = api_client.put(run_path, run_body | {"projectId": project_id, "status": "done"})

    assert_refused(response, 404, "project-not-found", projectId=project_id)


def test_the_body_beats_the_permission(viewer_client, run_path, run_body):
    with nothing_stored():
        response = viewer_client.put(run_path, run_body | {"status": "done"})

    assert_refused(response, 400, "bad-input", field="status")


def test_a_rule_of_the_body_beats_the_permission(viewer_client, run_path, run_body):
    with nothing_stored():
        response = viewer_client.put(run_path, run_body | {"output": 1})

    assert_refused(response, 400, "bad-input", field="output")


def test_the_permission_on_the_named_project_beats_the_move(api_client, run_body, workspace):
    hidden = ProjectFactory(workspace=workspace)
    run = RunFactory(project=hidden)
    other = ProjectFactory(workspace=workspace)
    with nothing_stored():
        response = api_client.put(f"/v1/runs/{run.run_id}", run_body | {"projectId": str(other.id)})

    assert_refused(response, 403, "permission-denied", **denied(other.id))


def test_a_run_of_a_project_the_caller_cannot_read_is_not_there(api_client, run_body, workspace):
    run = RunFactory(project=ProjectFactory(workspace=workspace), erased_at=clock.now())
    with nothing_stored():
        response = api_client.put(f"/v1/runs/{run.run_id}", run_body)

    assert_refused(response, 404, "run-not-found", runId=str(run.run_id))


def test_a_run_never_moves(run_body, workspace, project):
    admin = WireClient(store_key(workspace=workspace, principal=person_with(project, None, is_admin=True))[1])
    run = RunFactory(project=ProjectFactory(workspace=workspace), erased_at=clock.now(), status="running")
    with nothing_stored():
        response = admin.put(f"/v1/runs/{run.run_id}", run_body)

    assert_refused(response, 400, "bad-input", field="projectId")


@pytest.mark.parametrize("status", ["running", "completed"])
def test_the_erasure_beats_the_terminal_state(api_client, run, run_body, status):
    Run.objects.update(erased_at=clock.now(), status=status)
    RunContent.objects.update(input=None, output=None, calls=None)
    with nothing_stored():
        response = api_client.put(f"/v1/runs/{run.run_id}", run_body)

    assert_refused(response, 410, "run-erased", runId=str(run.run_id))


def test_runs_of_two_workspaces_with_one_id_are_unrelated(api_client, run_path, run_body):
    theirs = RunFactory(run_id=run_id_in(run_path))

    assert api_client.put(run_path, run_body | DONE).status_code == 201
    theirs.refresh_from_db()
    assert theirs.content.output != JsonText.of(DONE["output"])


def test_no_key_no_run(run_path, run_body):
    with nothing_stored():
        response = WireClient(None).put(run_path, run_body)

    assert_refused(response, 401, "auth-missing")


@pytest.mark.parametrize("around", [1, 300])
def test_handing_in_takes_the_same_statements(api_client, run_body, project, around, django_assert_max_num_queries):
    for _number in range(around):
        RunFactory(project=project)
    api_client.get("/v1/runs")
    path = f"/v1/runs/{uuid4()}"

    for body in (run_body, run_body | FULL, run_body | FULL):
        with django_assert_max_num_queries(12):
            assert api_client.put(path, body).status_code < 300
