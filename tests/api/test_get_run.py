"""`GET /v1/runs/{runId}`: the record, and the parts that `include` adds (contract 11.1, 11.3, decision 5)."""

from uuid import uuid4

import pytest

from corrections.models import Run, RunContent
from kindgi_site import clock
from kindgi_site.clock import wire_time
from kindgi_site.exact_json import JsonText
from kindgi_site.workspaces.services.keys import store_key
from tests.api.expect import assert_refused
from tests.factories import CALLS, INPUT, OUTPUT, FlowRunFactory, ProjectFactory, RunFactory, person_with
from tests.wire import WireClient

CONTEXT = {"history": ["Hello"]}


def path_of(run, query=""):
    return f"/v1/runs/{run.run_id}{query}"


def record(run):
    return {
        "id": str(run.run_id),
        "tenantId": str(run.workspace_id),
        "projectId": str(run.project_id),
        "flowId": "agent.turn",
        "flowVersion": "1.2.0",
        "status": "completed",
        "dryRun": False,
        "createdAt": wire_time(run.created_at),
        "updatedAt": wire_time(run.updated_at),
        "completedAt": wire_time(run.completed_at),
        "agent": {"id": "support", "version": "1.2.0", "conversationId": str(run.run_id)},
        "output": OUTPUT,
    }


@pytest.fixture
def told_run(project):
    """A run with every part."""
    return RunFactory(project=project, content__context=JsonText.of(CONTEXT))


def test_the_record_without_include(api_client, told_run):
    response = api_client.get(path_of(told_run))

    assert (response.status_code, response.json()) == (200, record(told_run))


PARTS = {"input": INPUT, "calls": CALLS, "context": CONTEXT, "output": OUTPUT}


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        ("?include=input", ["input"]),
        ("?include=output", []),
        ("?include=calls", ["calls"]),
        ("?include=context", ["context"]),
        ("?include=input,output,calls,context", ["input", "calls", "context"]),
        ("?include=calls&include=input", ["calls", "input"]),
        ("?include=calls,calls,", ["calls"]),
        ("?include=", []),
        ("?other=input", []),
    ],
)
def test_include_adds_parts(api_client, told_run, query, parts):
    response = api_client.get(path_of(told_run, query))

    assert (response.status_code, response.json()) == (
        200,
        record(told_run) | {part: PARTS[part] for part in parts},
    )


def test_a_part_the_run_has_not_is_left_out(api_client, run):
    body = api_client.get(path_of(run, "?include=context")).json()

    assert body == record(run)


def test_an_input_of_null_is_told_as_null(api_client, project):
    run = RunFactory(project=project, content__input=JsonText("null"))

    assert api_client.get(path_of(run, "?include=input")).json() == record(run) | {"input": None}


@pytest.mark.parametrize("query", ["?include=everything", "?include=input,Output"])
def test_an_unknown_part_is_refused(api_client, run, query):
    assert_refused(api_client.get(path_of(run, query)), 400, "bad-input", field="include")


def test_the_parts_are_told_text_for_text(api_client, project):
    text = '{ "b":1.0,"a":12345678901234567890, "a" : "\\u0000\\ud800", "power":1e400 }'
    run = RunFactory(
        project=project,
        content__input=JsonText(text),
        content__output=JsonText(text),
        content__context=JsonText(text),
        content__calls=JsonText(f"[{text}]"),
    )

    told = api_client.get(path_of(run, "?include=input,calls,context")).content.decode()

    assert [told.count(f'"{name}":{text}') for name in ("input", "output", "context")] == [1, 1, 1]
    assert f'"calls":[{text}]' in told


def test_a_flow_has_its_own_name_and_no_agent(api_client, project):
    run = FlowRunFactory(project=project, status="failed", content__output=None, content__failure_message="Down.")

    expected = record(run) | {"flowId": "ranking", "status": "failed", "failureMessage": "Down."}
    del expected["agent"], expected["output"]
    assert api_client.get(path_of(run)).json() == expected


def test_an_erased_run_says_when(api_client, told_run):
    at = clock.now()
    Run.objects.update(erased_at=at)
    RunContent.objects.update(input=None, output=None, calls=None, context=None)

    body = api_client.get(path_of(told_run, "?include=input,calls,context")).json()

    expected = record(told_run) | {"contentErasedAt": wire_time(at)}
    del expected["output"]
    assert body == expected


@pytest.mark.parametrize("run_id", ["x", "7c9e6679742540de944be07fc1f90ae7", "7c9e6679-7425-40de-944b-e07fc1f90ae7x"])
def test_a_path_that_is_no_uuid_is_refused(api_client, run_id):
    assert_refused(api_client.get(f"/v1/runs/{run_id}?include=everything"), 400, "bad-input", field="runId")


def test_unknown_and_foreign_runs_are_not_there(api_client):
    for run_id in (uuid4(), RunFactory().run_id):
        assert_refused(api_client.get(f"/v1/runs/{run_id}"), 404, "run-not-found", runId=str(run_id))


def test_an_unreadable_run_of_the_workspace_is_forbidden(api_client, workspace):
    run = RunFactory(project=ProjectFactory(workspace=workspace))
    reason = "You need the read permission on this project."

    assert_refused(
        api_client.get(path_of(run)),
        403,
        "permission-denied",
        action="read",
        resource={"type": "project", "id": str(run.project_id)},
        reason=reason,
    )


def test_a_viewer_and_an_admin_of_the_workspace_may_read(viewer_client, told_run, workspace, project):
    admin = WireClient(store_key(workspace=workspace, principal=person_with(project, None, is_admin=True))[1])

    assert viewer_client.get(path_of(told_run)).json() == admin.get(path_of(told_run)).json() == record(told_run)


def test_the_id_may_be_written_in_capitals(api_client, told_run):
    assert api_client.get(f"/v1/runs/{str(told_run.run_id).upper()}").json() == record(told_run)


def test_head_is_get_without_a_body(api_client, told_run):
    head, get = api_client.head(path_of(told_run)), api_client.get(path_of(told_run))

    assert (head.status_code, head.content, head["Content-Length"]) == (200, b"", str(len(get.content)))


@pytest.mark.parametrize("around", [1, 300])
def test_reading_takes_few_statements(api_client, project, told_run, around, django_assert_max_num_queries):
    RunFactory.create_batch(around, project=project)
    api_client.get("/v1/runs")

    with django_assert_max_num_queries(4):
        api_client.get(path_of(told_run, "?include=input,calls,context"))
