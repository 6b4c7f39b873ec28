"""The official client reads this server (contract, section 20).

It wants a conversation on every agent's turn, which the contract leaves to the caller: a turn without is its own.
"""

from uuid import uuid4

import pytest
from kindgi.client import AuthError, Kindgi, NotFoundError

from kindgi_site.exact_json import JsonText
from kindgi_site.workspaces.services.keys import store_key
from tests.factories import OUTPUT, FlowRunFactory, ProjectFactory, RunFactory, person_with


@pytest.fixture
def project(live_server):
    return ProjectFactory(default=True)


@pytest.fixture
def client(live_server, project):
    key = store_key(workspace=project.workspace, principal=person_with(project))[1]
    with Kindgi(live_server.url, token=key, max_retries=0) as made:
        yield made


def test_runs_get(client, project):
    run = RunFactory(
        project=project,
        segments=JsonText.of([{"key": "region", "value": "eu"}]),
        conversation_id=uuid4(),
        parent_run_id=str(uuid4()),
        parent_node_id="answer",
        replay_of=str(uuid4()),
        via="live",
    )

    told = client.runs.get(str(run.run_id))

    times = (told.created_at, told.updated_at, told.completed_at)
    assert times == (run.created_at, run.updated_at, run.completed_at)
    others = told.model_dump(
        mode="json", by_alias=True, exclude_unset=True, exclude={"created_at", "updated_at", "completed_at"}
    )
    assert others == {
        "id": str(run.run_id),
        "tenantId": str(run.workspace_id),
        "projectId": str(project.id),
        "flowId": "agent.turn",
        "flowVersion": "1.2.0",
        "status": "completed",
        "dryRun": False,
        "parentRunId": run.parent_run_id,
        "parentNodeId": "answer",
        "agent": {"id": "support", "version": "1.2.0", "conversationId": str(run.conversation_id), "via": "live"},
        "replayOf": run.replay_of,
        "segments": [{"key": "region", "value": "eu"}],
        "output": OUTPUT,
    }


def test_runs_list_to_the_last_page(client, project):
    runs = [RunFactory(project=project) for _run in range(3)]
    FlowRunFactory(project=project)

    first = client.runs.list(agent_id="support", limit=2)
    second = client.runs.list(agent_id="support", limit=2, cursor=first.next_cursor)

    assert {run.id for run in [*first.data, *second.data]} == {run.run_id for run in runs}
    assert (first.has_more, len(first.data), second.has_more, second.next_cursor) == (True, 2, False, None)


def test_a_wrong_token_is_an_auth_error(live_server, project):
    with Kindgi(live_server.url, token="kgi_nobody", max_retries=0) as stranger, pytest.raises(AuthError) as caught:
        stranger.runs.get(str(uuid4()))

    assert (caught.value.status, caught.value.server_code, caught.value.reason) == (
        401,
        "auth-missing",
        "unauthenticated",
    )
    assert caught.value.request_id.startswith("req-")


def test_an_unreadable_run_is_an_auth_error(client, project):
    run = RunFactory(project=ProjectFactory(workspace=project.workspace))

    with pytest.raises(AuthError) as caught:
        client.runs.get(str(run.run_id))

    assert (caught.value.status, caught.value.server_code, caught.value.reason) == (
        403,
        "permission-denied",
        "forbidden",
    )


def test_an_unknown_run_is_a_not_found_error_with_its_id(client):
    run_id = str(uuid4())

    with pytest.raises(NotFoundError) as caught:
        client.runs.get(run_id)

    assert (caught.value.status, caught.value.server_code) == (404, "run-not-found")
    assert (caught.value.kind, caught.value.id) == ("run", run_id)
