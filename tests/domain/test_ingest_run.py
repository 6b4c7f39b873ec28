"""Taking in runs: what is stored, and the ordered checks of contract 11.2."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from uuid import UUID, uuid4

import pytest
from django.utils import timezone

from corrections.drafts import CorrectionDraft, RunDraft
from corrections.models import Run, RunContent, RunTool
from corrections.services.recording import record_correction
from corrections.services.runs import ingest_run
from corrections.vocabulary import RunStatus, SubjectKind, Verdict
from kindgi_site.callers import Caller, Role
from kindgi_site.errors import DomainError, ForbiddenError
from kindgi_site.exact_json import JsonText
from kindgi_site.workspaces.models import Project
from tests.at_once import at_once
from tests.factories import ProjectFactory, ProjectRoleFactory, RunFactory, caller_of, person_with

AT = datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)
CONVERSATION = UUID(int=7)
EXACT = '{ "b":1.0,"a":12345678901234567890, "a" : "\\u0000\\ud800", "power":1e400 }'
SCALARS = {
    "subject_kind": SubjectKind.AGENT,
    "subject_id": "support",
    "subject_version": "1.0.0",
    "conversation_id": CONVERSATION,
    "via": "live",
    "status": RunStatus.COMPLETED,
    "dry_run": True,
    "started_at": AT - timedelta(seconds=3),
    "completed_at": AT,
    "parent_run_id": "parent",
    "parent_node_id": "node",
    "replay_of": "earlier",
    "test_run_id": "test",
    "participant_id": "end-user",
}
PARTS = {
    "input": JsonText(EXACT),
    "output": JsonText(f'{{"content":{EXACT}}}'),
    "context": JsonText(f'{{"history":[{EXACT}], "unknown":1.0}}'),
    "calls": JsonText('[{"toolId":"b"},{"toolId":"a","error":"late"}, {"toolId":"b"}]'),
}
SEGMENTS = JsonText('[{"key":"region","value":"eu"}]')


@pytest.fixture
def draft(project: Project) -> RunDraft:
    """A completed agent turn that says everything there is to say."""
    return RunDraft(run_id=uuid4(), project_id=project.id, segments=SEGMENTS, **SCALARS, **PARTS)


def unfinished(draft: RunDraft, **said: object) -> RunDraft:
    return replace(draft, **{"status": RunStatus.RUNNING, "output": None, "completed_at": None} | said)


def refusal_of(caller: Caller, draft: RunDraft) -> tuple[str, dict]:
    with pytest.raises(DomainError) as caught:
        ingest_run(caller=caller, draft=draft)
    return caught.value.code, caught.value.details


def test_a_new_run_is_stored_as_handed_in(caller, project, draft):
    run, is_new = ingest_run(caller=caller, draft=draft)

    assert is_new
    assert Run.objects.values().get() == SCALARS | {
        "id": run.id,
        "workspace_id": project.workspace_id,
        "project_id": project.id,
        "run_id": draft.run_id,
        "segments": SEGMENTS,
        "created_at": run.created_at,
        "updated_at": run.created_at,
        "erased_at": None,
        "purged_at": None,
    }
    assert RunContent.objects.values().get() == PARTS | {"run_id": run.id, "failure_message": ""}
    assert sorted(RunTool.objects.values_list("run", "tool")) == [(run.id, "a"), (run.id, "b")]


def test_a_failed_flow_run_with_little_to_say(caller, project):
    context = JsonText.of({"flow": {"calls": [{"toolId": "search"}], "steps": []}})
    draft = RunDraft(
        run_id=uuid4(),
        project_id=project.id,
        subject_kind=SubjectKind.FLOW,
        subject_id="ranking",
        subject_version="2.0.0",
        status=RunStatus.FAILED,
        completed_at=AT,
        failure_message="No results.",
        input=JsonText("null"),
        context=context,
    )

    run, is_new = ingest_run(caller=caller, draft=draft)

    assert (is_new, run.subject_kind, run.segments) == (True, "flow", None)
    assert RunContent.objects.values().get() == {
        "run_id": run.id,
        "input": JsonText("null"),
        "output": None,
        "context": context,
        "calls": None,
        "failure_message": "No results.",
    }
    assert RunTool.objects.get().tool == "search"


def test_tools_in_an_agents_messages_are_stored_once_each(caller, draft):
    messages = [
        {"role": "agent", "content": {"toolCalls": [{"id": "1", "toolId": "find"}, {"id": "2", "toolId": "pay"}]}},
        *({"role": "tool", "toolCall": {"invocationId": number, "toolId": "find"}} for number in "112"),
        {"role": "agent", "content": {"toolCalls": [{"id": "3", "toolId": "t" * 201}, {"id": "4", "toolId": "n\x00"}]}},
        *({"role": "tool", "toolCall": {"invocationId": number}} for number in "34"),
    ]

    ingest_run(caller=caller, draft=replace(draft, output=JsonText.of({"appended": messages})))

    assert [row.tool for row in RunTool.objects.all()] == ["find"]


def test_a_run_that_has_not_finished_is_replaced(caller, draft):
    first, _ = ingest_run(
        caller=caller, draft=unfinished(draft, subject_id="other", calls=JsonText('[{"toolId":"x"}]'))
    )

    second, is_new = ingest_run(caller=caller, draft=draft)

    assert (second.id, second.created_at, is_new) == (first.id, first.created_at, False)
    assert second.updated_at >= first.updated_at
    assert {name: Run.objects.values().get()[name] for name in SCALARS} == SCALARS
    assert RunContent.objects.values().get() == PARTS | {"run_id": first.id, "failure_message": ""}
    assert sorted(RunTool.objects.values_list("tool", flat=True)) == ["a", "b"]


def test_the_same_state_again_changes_nothing(caller, draft, nothing_changes):
    for state in (unfinished(draft), draft):
        ingest_run(caller=caller, draft=state)

        with nothing_changes():
            assert ingest_run(caller=caller, draft=state)[1] is False


def test_the_same_content_written_otherwise_is_the_same(caller, draft, nothing_changes):
    ingest_run(caller=caller, draft=draft)
    respelled = replace(
        draft,
        input=JsonText('{"a":"\\u0000\\ud800","b":1,"power":10e399}'),
        segments=JsonText('[ {"value":"eu", "key":"region"} ]'),
    )

    with nothing_changes():
        assert ingest_run(caller=caller, draft=respelled)[1] is False


OTHERWISE = {
    **{name: {name: "other"} for name in SCALARS if isinstance(SCALARS[name], str)},
    "subject_kind": {"subject_kind": SubjectKind.FLOW, "calls": None},
    "status": {"status": RunStatus.CANCELLED, "output": None},
    "conversation_id": {"conversation_id": None},
    "dry_run": {"dry_run": False},
    "started_at": {"started_at": None},
    "completed_at": {"completed_at": AT + timedelta(milliseconds=1)},
    "segments": {"segments": None},
    "input": {"input": JsonText("null")},
    "output": {"output": JsonText.of({"content": True})},
    "context": {"context": None},
    "calls": {"calls": JsonText("[]")},
}


@pytest.mark.parametrize("said", OTHERWISE.values(), ids=OTHERWISE)
def test_a_finished_run_takes_no_other_content(caller, draft, nothing_changes, said):
    ingest_run(caller=caller, draft=draft)

    with nothing_changes():
        refused = refusal_of(caller, replace(draft, **said))

    assert refused == ("run-already-terminal", {"runId": str(draft.run_id), "status": "completed"})


@pytest.mark.parametrize("status", [RunStatus.FAILED, RunStatus.CANCELLED])
def test_every_end_is_final(caller, draft, nothing_changes, status):
    ended = replace(draft, status=status, output=None, calls=None)
    ingest_run(caller=caller, draft=ended)

    with nothing_changes():
        refused = refusal_of(caller, draft)

    assert refused == ("run-already-terminal", {"runId": str(draft.run_id), "status": status})


# Each check beats the next: a body, then the right to write, then where the run is, then what became of it.


def test_the_body_comes_first(draft, nothing_changes):
    stranger = caller_of(person_with(ProjectFactory()))

    with nothing_changes():
        assert refusal_of(stranger, replace(draft, output=None)) == ("bad-input", {"field": "output"})


@pytest.mark.parametrize("role", [None, Role.VIEWER])
def test_then_writing_in_the_project_that_is_named(project, draft, nothing_changes, role):
    RunFactory(project=ProjectFactory(workspace=project.workspace), run_id=draft.run_id, erased_at=timezone.now())
    reader = caller_of(person_with(project, role))

    with nothing_changes(), pytest.raises(ForbiddenError):
        ingest_run(caller=reader, draft=draft)


@pytest.mark.parametrize(
    ("role", "code", "detail"), [(None, "run-not-found", "runId"), (Role.VIEWER, "bad-input", "field")]
)
@pytest.mark.parametrize("more", [{}, {"erased_at": AT}, {"status": RunStatus.RUNNING}])
def test_then_the_run_is_in_no_other_project(reviewer, draft, nothing_changes, role, code, detail, more):
    elsewhere = ProjectFactory(workspace=reviewer.memberships.get().workspace)
    RunFactory(project=elsewhere, run_id=draft.run_id, **more)
    if role:
        ProjectRoleFactory(project=elsewhere, person=reviewer, role=role)

    with nothing_changes():
        refused = refusal_of(caller_of(reviewer), draft)

    assert refused == (code, {detail: str(draft.run_id) if detail == "runId" else "projectId"})


@pytest.mark.parametrize("status", [RunStatus.COMPLETED, RunStatus.RUNNING])
def test_then_an_erased_run_is_never_refilled(caller, project, draft, nothing_changes, status):
    RunFactory(project=project, run_id=draft.run_id, status=status, erased_at=timezone.now())

    with nothing_changes():
        assert refusal_of(caller, draft) == ("run-erased", {"runId": str(draft.run_id)})


def test_a_run_of_another_workspace_with_the_id_is_unrelated(caller, draft):
    elsewhere = RunFactory(run_id=draft.run_id)

    run, is_new = ingest_run(caller=caller, draft=draft)

    assert (is_new, Run.objects.count()) == (True, 2)
    assert run.workspace_id != elsewhere.workspace_id


def test_a_run_taken_in_can_be_corrected(caller, draft):
    run, _ = ingest_run(caller=caller, draft=draft)

    copy = record_correction(caller=caller, run_id=run.run_id, draft=CorrectionDraft(answer=Verdict.RIGHT)).copy

    copy.refresh_from_db()
    assert (copy.input, copy.output, copy.segments) == (PARTS["input"], PARTS["output"], SEGMENTS)
    assert copy.called_tool_names == ["b", "a", "b"]


@pytest.mark.django_db(transaction=True)
def test_the_same_new_run_handed_in_eight_times_at_once_is_one_run(caller, draft):
    taken_in = at_once([partial(ingest_run, caller=caller, draft=draft)] * 8)

    assert sorted(is_new for _run, is_new in taken_in) == [False] * 7 + [True]
    assert {run.id for run, _is_new in taken_in} == {Run.objects.get().id}
    assert (RunContent.objects.count(), RunTool.objects.count()) == (1, 2)


@pytest.mark.django_db(transaction=True)
def test_of_two_first_contents_handed_in_at_once_one_stays(caller, draft):
    def said(content: str) -> str:
        try:
            ingest_run(caller=caller, draft=replace(draft, output=JsonText.of(content)))
        except DomainError as refused:
            return refused.code
        return content

    answers = at_once([partial(said, "one"), partial(said, "other")])

    stored = RunContent.objects.get().output.value
    assert sorted(answers) == sorted([stored, "run-already-terminal"])
