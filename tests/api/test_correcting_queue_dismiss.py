"""POST /v1/projects/{projectId}/correcting-queue/{runId}/dismiss (contract 18.4)."""

from uuid import uuid4

import pytest

from corrections.models import CorrectingItem
from corrections.services.queue import dismiss_item, erase_items
from kindgi_site import clock
from tests.api.expect import assert_refused, nothing_stored
from tests.queueing import finish_run, write_rule


@pytest.fixture
def rule(caller, project):
    return write_rule(caller, project)


@pytest.fixture
def queued(caller, project, rule):
    return finish_run(caller, project)


@pytest.fixture
def path(project, queued):
    return f"/v1/projects/{project.id}/correcting-queue/{queued.run_id}/dismiss"


def whole(rule, caller, run, **said):
    item = CorrectingItem.objects.get(run_id=run.run_id)
    return {
        "runId": str(run.run_id),
        "projectId": str(run.project_id),
        "agentId": "support",
        "agentVersion": "1.2.0",
        "flowId": "agent.turn",
        "runStatus": "completed",
        "completedAt": "2026-01-02T03:04:05.678Z",
        "rules": [{"ruleId": str(rule.rule_id), "version": 1}],
        "wantedGroupIds": [],
        "anyCorrection": True,
        "progress": {"total": 0, "byGroup": []},
        "addedAt": clock.wire_time(item.added_at),
        "state": "dismissed",
        "closedAt": clock.wire_time(item.closed_at),
        "closedBy": f"user:{caller.id}",
        "can": {"dismiss": False, "reopen": True},
    } | said


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"reason": "x" * 500}, {"reason": "x" * 500}),
        ({"reason": ""}, {}),
        ({}, {}),
        (b"", {}),
        (b"{", {}),
        (b"not JSON", {}),
        (b"\xff", {}),
    ],
)
def test_an_open_item_is_dismissed(api_client, caller, rule, queued, path, body, said):
    response = api_client.post(path, body)

    assert (response.status_code, response.json()) == (200, whole(rule, caller, queued, **said))


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"reason": "x" * 501}, "reason"),
        ({"reason": None}, "reason"),
        ({"reason": 1}, "reason"),
        ({"reason": "a\0"}, "reason"),
        (b"[]", None),
        (b"null", None),
    ],
)
def test_what_is_wrong_is_refused(api_client, path, body, field):
    with nothing_stored():
        response = api_client.post(path, body)

    if field is None:
        assert_refused(response, 400, "bad-input")
    else:
        assert_refused(response, 400, "bad-input", field=field)


def test_unknown_fields_are_refused(api_client, path):
    with nothing_stored():
        response = api_client.post(path, {"why": "x"})

    assert_refused(response, 400, "unknown-field", fields=["why"])


def test_a_run_that_is_not_in_the_queue_is_not_there(api_client, caller, project, path):
    unqueued = finish_run(caller, project, parent_run_id="p")
    for run_id in (str(unqueued.run_id), str(uuid4()), "x"):
        with nothing_stored():
            response = api_client.post(f"/v1/projects/{project.id}/correcting-queue/{run_id}/dismiss")

        assert_refused(response, 404, "correcting-item-not-found", runId=run_id)


def test_only_an_open_item_is_dismissed(api_client, caller, project, queued, path):
    dismiss_item(caller=caller, project=project, run_id=str(queued.run_id))
    with nothing_stored():
        response = api_client.post(path)
    assert_refused(response, 409, "correcting-item-not-open", runId=str(queued.run_id), state="dismissed")

    erase_items(project.workspace_id, [queued.run_id])
    with nothing_stored():
        response = api_client.post(path)
    assert_refused(response, 409, "correcting-item-not-open", runId=str(queued.run_id), state="erased")


def test_the_same_request_again_gets_the_same_answer(api_client, path):
    first, second = (api_client.post(path, {"reason": "r"}, idempotency_key="k") for _time in range(2))

    assert (second.status_code, second.content) == (200, first.content)
