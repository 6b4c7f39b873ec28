"""Purging old runs (decision 20): what goes, what stays and goes on working, and stopping half way."""

from datetime import timedelta
from io import StringIO
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command

from corrections.drafts import CorrectionDraft
from corrections.models import Correction, Run, RunContent, RunCopy
from corrections.services import retention
from corrections.services.recording import record_correction
from corrections.services.retention import purge_runs
from corrections.vocabulary import RunStatus, Verdict
from kindgi_site import clock
from kindgi_site.errors import ConflictError
from kindgi_site.exact_json import JsonText
from kindgi_site.workspaces.models import AuditEntry
from tests.api.expect import assert_refused
from tests.factories import ProjectFactory, RunFactory
from tests.queueing import finish_run

RIGHT = CorrectionDraft(answer=Verdict.RIGHT)


def days_ago(days: float):
    return clock.now() - timedelta(days=days)


def purged() -> set[Run]:
    return set(Run.objects.exclude(purged_at=None))


def purge_older_than(days: float, **narrowed) -> int:
    return sum(purge_runs(before=days_ago(days), **narrowed))


def test_the_content_goes_and_nothing_else(project):
    old = RunFactory(project=project, completed_at=days_ago(91))
    before = Run.objects.get()

    assert purge_older_than(90) == 1

    after, content = Run.objects.get(), RunContent.objects.get()
    parts = (content.input, content.output, content.context, content.calls, content.failure_message)
    assert parts == (None, None, None, None, "")
    assert {name for name, value in vars(after).items() if value != vars(before)[name]} - {"_state"} == {"purged_at"}
    assert after == old


def test_age_goes_by_completion_else_by_the_last_change(project):
    old = RunFactory(project=project, completed_at=days_ago(91))
    waiting = RunFactory(project=project, status=RunStatus.RUNNING, completed_at=None, updated_at=days_ago(91))
    RunFactory(project=project, status=RunStatus.RUNNING, completed_at=None, created_at=days_ago(91))
    RunFactory(project=project, completed_at=days_ago(89), updated_at=days_ago(200))

    assert purge_older_than(90) == 2
    assert purged() == {old, waiting}


def test_one_workspace_only(project, workspace):
    mine = RunFactory(project=project, completed_at=days_ago(91))
    RunFactory(project=ProjectFactory(), completed_at=days_ago(91))

    assert purge_older_than(90, workspace_id=workspace.id) == 1
    assert purged() == {mine}


def test_again_there_is_nothing_to_do_and_erased_runs_are_left(project, nothing_changes):
    RunFactory(project=project, completed_at=days_ago(91), erased_at=clock.now())
    RunFactory(project=project, completed_at=days_ago(91))
    purge_older_than(90)
    with nothing_changes():
        assert purge_older_than(90) == 0


def test_in_batches_that_stay_done_when_it_is_stopped(project, monkeypatch):
    monkeypatch.setattr(retention, "BATCH", 2)
    runs = [RunFactory(project=project, completed_at=days_ago(91)) for _run in range(5)]

    stopped = purge_runs(before=days_ago(90))
    assert next(stopped) == 2
    stopped.close()
    assert len(purged()) == 2

    assert list(purge_runs(before=days_ago(90))) == [2, 1]
    assert purged() == set(runs)


def test_a_purged_run_with_a_copy_is_corrected_against_the_copy(caller, project):
    run = RunFactory(project=project, completed_at=days_ago(91))
    first = record_correction(caller=caller, run_id=run.run_id, draft=RIGHT)
    purge_older_than(90)

    second = record_correction(caller=caller, run_id=run.run_id, draft=RIGHT)

    assert second.copy_id == first.copy_id
    assert RunCopy.objects.get().output == run.content.output
    assert Correction.objects.filter(unregistered_at=None).get() == second


def test_a_purged_run_without_a_copy_is_refused(caller, project, api_client, nothing_changes):
    run = RunFactory(project=project, completed_at=days_ago(91))
    purge_older_than(90)
    details = {"runId": str(run.run_id), "status": "completed", "reason": "purged"}
    with nothing_changes(), pytest.raises(ConflictError) as refused:
        record_correction(caller=caller, run_id=run.run_id, draft=RIGHT)
    response = api_client.post("/v1/corrections", {"runId": str(run.run_id), "answer": "right"})

    assert (refused.value.code, refused.value.details) == ("run-not-finished", details)
    assert_refused(response, 409, "run-not-finished", **details)


def test_a_run_that_finishes_after_it_was_purged_has_content_again(caller, project):
    run_id = uuid4()
    finish_run(caller, project, run_id=run_id, status=RunStatus.RUNNING, output=None, completed_at=None)
    Run.objects.update(updated_at=days_ago(91))
    purge_older_than(90)
    assert len(purged()) == 1

    finish_run(caller, project, run_id=run_id, output=JsonText('"late"'))
    record_correction(caller=caller, run_id=run_id, draft=RIGHT)

    assert not purged()
    assert RunCopy.objects.get().output.text == '"late"'


def test_reads_of_a_purged_run_still_work(api_client, project, reviewer_client):
    run = RunFactory(project=project, completed_at=days_ago(91))
    purge_older_than(90)

    answer = api_client.get(f"/v1/runs/{run.run_id}?include=input,output,calls,context").json()

    assert answer["status"] == "completed"
    assert not {"input", "output", "calls", "context"} & set(answer)
    assert reviewer_client.get(f"/runs/{run.run_id}/").status_code == 200


def test_the_command(project, workspace):
    RunFactory(project=project, completed_at=days_ago(91))
    RunFactory(project=ProjectFactory(), completed_at=days_ago(91))
    told = StringIO()

    call_command("purge_runs", "--older-than", "90d", "--workspace", workspace.slug, stdout=told)

    assert (told.getvalue(), len(purged())) == ("Purged 1 runs.\n", 1)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--older-than", "90"], "--older-than is a number of days such as 90d."),
        (["--older-than", "0d"], "--older-than is a number of days such as 90d."),
        (["--older-than", "-1d"], "--older-than is a number of days such as 90d."),
        (["--older-than", "1d", "--workspace", "none"], "There is no workspace “none”."),
    ],
)
def test_what_the_command_refuses(project, arguments, told, nothing_changes):
    RunFactory(project=project, completed_at=days_ago(91))
    with nothing_changes(), pytest.raises(CommandError) as refused:
        call_command("purge_runs", *([f"{arguments[0]}={arguments[1]}", *arguments[2:]]))

    assert str(refused.value) == told


def test_each_purged_run_is_on_record_once(project):
    run = RunFactory(project=project, completed_at=days_ago(91))
    RunFactory(project=project, completed_at=days_ago(1))

    purge_older_than(90)
    purge_older_than(90)

    told = AuditEntry.objects.filter(action="runs.purge").values_list("workspace", "via", "target_id", "fields")
    assert list(told) == [(project.workspace_id, "command", str(run.run_id), "")]
