"""POST /v1/projects/{projectId}/correcting-queue/{runId}/reopen (contract 18.4)."""

from uuid import uuid4

import pytest

from corrections.models import CorrectingItem
from corrections.services.queue import dismiss_item
from kindgi_site import clock
from tests.api.expect import assert_refused, nothing_stored
from tests.factories import caller_of, person_with
from tests.queueing import finish_run, write_rule


@pytest.mark.parametrize("body", [b"", b"{", {}, {"reason": "is not asked for"}])
def test_a_dismissed_item_is_open_again(api_client, caller, project, body):
    rule, run = write_rule(caller, project), finish_run(caller, project)
    other = caller_of(person_with(project))
    dismiss_item(caller=other, project=project, run_id=str(run.run_id), reason="Ours.")

    response = api_client.post(f"/v1/projects/{project.id}/correcting-queue/{run.run_id}/reopen", body)

    assert (response.status_code, response.json()) == (
        200,
        {
            "runId": str(run.run_id),
            "projectId": str(project.id),
            "agentId": "support",
            "agentVersion": "1.2.0",
            "flowId": "agent.turn",
            "runStatus": "completed",
            "completedAt": "2026-01-02T03:04:05.678Z",
            "rules": [{"ruleId": str(rule.rule_id), "version": 1}],
            "wantedGroupIds": [],
            "anyCorrection": True,
            "progress": {"total": 0, "byGroup": []},
            "addedAt": clock.wire_time(CorrectingItem.objects.get().added_at),
            "state": "open",
            "closedBy": f"user:{caller.id}",
            "can": {"dismiss": True, "reopen": False},
        },
    )


def test_a_run_that_is_not_in_the_queue_is_not_there(api_client, project):
    for run_id in (str(uuid4()), "x"):
        with nothing_stored():
            response = api_client.post(f"/v1/projects/{project.id}/correcting-queue/{run_id}/reopen")

        assert_refused(response, 404, "correcting-item-not-found", runId=run_id)


@pytest.mark.parametrize("state", ["open", "corrected", "erased"])
def test_only_a_dismissed_item_is_reopened(api_client, caller, project, state):
    write_rule(caller, project)
    run = finish_run(caller, project)
    CorrectingItem.objects.update(state=state, closed_at=None if state == "open" else clock.now())

    with nothing_stored():
        response = api_client.post(f"/v1/projects/{project.id}/correcting-queue/{run.run_id}/reopen")

    assert_refused(response, 409, "correcting-item-not-open", runId=str(run.run_id), state=state)
