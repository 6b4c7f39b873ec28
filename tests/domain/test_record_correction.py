"""What recording a correction stores (contract 7.1, 7.2, 7.5)."""

import json
from datetime import timedelta

import pytest

from corrections.drafts import CorrectedItem, CorrectionDraft, ExpectedCall
from corrections.models import Correction, CorrectorGroup, Run, RunContent, RunCopy
from corrections.services.recording import record_correction
from corrections.vocabulary import Verdict
from kindgi_site import clock
from kindgi_site.errors import InvalidError
from kindgi_site.exact_json import JsonText, parse
from tests.factories import (
    CALLS,
    INPUT,
    OUTPUT,
    CorrectionFactory,
    CorrectorGroupFactory,
    FlowRunFactory,
    ProjectFactory,
    RunCopyFactory,
    RunFactory,
    caller_of,
    crowd,
    person_with,
)

RIGHT, WRONG = Verdict.RIGHT, Verdict.WRONG
ALL_RIGHT = CorrectionDraft(answer=RIGHT)
STORED_EXACTLY = '{ "b":1.0,"a":12345678901234567890, "a" : "\\u0000\\ud800", "power":1e400 }'
ARGS = '{ "b": 1.0, "a": 2 }'

# What stands in a row of which nothing was said and to which nothing has happened.
TEXTS = """decisions answer should_say why participant_id sorted_to sorted_by_kind sorted_by_id sorted_reason link_kind
    link_target fixed_how fixed_version fixed_by_kind fixed_by_id reopened_how reopened_version reopened_by_kind
    reopened_by_id note_text note_by_kind note_by_id participant_slot"""
OTHERS = """should_call must_not_call items group_id sorted_at fixed_at reopened_at note_at unregistered_at
    superseded_by_id"""
SILENT = dict.fromkeys(TEXTS.split(), "") | dict.fromkeys(OTHERS.split())

STARTS = {
    "an end user's": (
        CorrectionDraft(answer=WRONG, why="no", participant_id="end-user"),
        {"answer": "wrong", "why": "no", "participant_id": "end-user", "has_right": False, "has_wrong": True},
        {"status": "open"},
        (),
    ),
    "wrong decisions": (
        CorrectionDraft(
            decisions=WRONG,
            should_call=(ExpectedCall("refund", parse(ARGS), ARGS), ExpectedCall("notify")),
            must_not_call=("close", "cancel", "close"),
            answer=RIGHT,
            why="The refund is missing.",
        ),
        {
            "decisions": "wrong",
            "should_call": JsonText('[{"tool":"refund","args":{ "b": 1.0, "a": 2 }},{"tool":"notify","args":{}}]'),
            "must_not_call": JsonText('["close","cancel"]'),
            "answer": "right",
            "why": "The refund is missing.",
            "has_right": True,
            "has_wrong": True,
        },
        {"status": "with-owner", "sorted_to": "owner", "sorted_by_kind": "rule"},
        ("sorted_at",),
    ),
    "a wrong answer": (
        CorrectionDraft(answer=WRONG, should_say="On Tuesday. ", why=""),
        {"answer": "wrong", "should_say": "On Tuesday. ", "has_right": False, "has_wrong": True},
        {"status": "open", "sorted_to": "improve", "sorted_by_kind": "rule"},
        ("sorted_at",),
    ),
    "a wrong item": (
        CorrectionDraft(
            items=(
                CorrectedItem("b", WRONG, pointer="/sources/0", rank=0),
                CorrectedItem("a", RIGHT, rank=7),
                CorrectedItem("é", RIGHT, pointer=""),
            )
        ),
        {
            "items": JsonText(
                '[{"key":"b","pointer":"/sources/0","rank":0,"verdict":"wrong"},'
                '{"key":"a","rank":7,"verdict":"right"},{"key":"\\u00e9","pointer":"","verdict":"right"}]'
            ),
            "has_right": True,
            "has_wrong": True,
        },
        {"status": "open", "sorted_to": "improve", "sorted_by_kind": "rule"},
        ("sorted_at",),
    ),
    "nothing wrong": (
        CorrectionDraft(decisions=RIGHT, answer=RIGHT),
        {"decisions": "right", "answer": "right", "has_right": True, "has_wrong": False},
        {"status": "fixed", "fixed_how": "recorded-right"},
        ("fixed_at",),
    ),
}


@pytest.mark.parametrize(("draft", "said", "start", "moments"), STARTS.values(), ids=STARTS)
def test_a_correction_is_stored_as_said_and_sorted(caller, run, draft, said, start, moments):
    before = clock.now()

    recorded = record_correction(caller=caller, run_id=run.run_id, draft=draft)

    assert before <= recorded.created_at <= clock.now()
    assert Correction.objects.values().get() == SILENT | said | start | dict.fromkeys(moments, recorded.created_at) | {
        "id": recorded.id,
        "workspace_id": run.workspace_id,
        "project_id": run.project_id,
        "copy_id": RunCopy.objects.get().id,
        "run_id": run.run_id,
        "subject_kind": "agent",
        "subject_id": "support",
        "subject_version": "1.2.0",
        "expert": False,
        "made_by_kind": "user",
        "made_by_id": caller.id,
        "created_at": recorded.created_at,
        "updated_at": recorded.created_at,
    }


def test_the_first_correction_takes_a_copy_of_an_agents_turn(caller, project):
    run = RunFactory(
        project=project,
        replay_of="earlier",
        segments=JsonText('[{"key":"region","value":"eu"}]'),
        content__input=JsonText(STORED_EXACTLY),
        content__output=JsonText(f'{{"content": {STORED_EXACTLY}}}'),
        content__context=JsonText(f'{{"other":1, "history": [ {STORED_EXACTLY} ]}}'),
        content__calls=JsonText('[{"toolId":"b","error":"late"}, {"toolId":"a"}, {"toolId":"b"}]'),
    )

    recorded = record_correction(caller=caller, run_id=str(run.run_id), draft=ALL_RIGHT)

    copy = RunCopy.objects.values().get()
    assert recorded.created_at - timedelta(seconds=5) <= copy.pop("captured_at") <= recorded.created_at
    assert copy == {
        "id": recorded.copy_id,
        "workspace_id": run.workspace_id,
        "project_id": run.project_id,
        "run_id": run.run_id,
        "subject_kind": "agent",
        "subject_id": "support",
        "subject_version": "1.2.0",
        "input": JsonText(STORED_EXACTLY),
        "output": JsonText(f'{{"content": {STORED_EXACTLY}}}'),
        "context": JsonText(f'{{"history":[{STORED_EXACTLY}],"replayOf":"earlier"}}'),
        "segments": JsonText('[{"key":"region","value":"eu"}]'),
        "calls": JsonText('[{"toolId":"b","error":"late"}, {"toolId":"a"}, {"toolId":"b"}]'),
        "called_tools": JsonText('["b","a","b"]'),
        "is_replay": True,
        "erased_at": None,
    }


def test_the_first_correction_takes_a_copy_of_a_flows_run(caller, project):
    calls = [{"toolId": "search", "error": "late", "callId": "c1"}, {"toolId": "rank", "result": 1}]
    context = JsonText.of({"flow": {"calls": calls, "steps": []}, "history": [1]})
    run = FlowRunFactory(project=project, content__context=context)

    copy = record_correction(caller=caller, run_id=run.run_id, draft=ALL_RIGHT).copy

    copy.refresh_from_db()
    on_the_wire = [
        {"runId": str(run.run_id), "toolId": "search"},
        {"runId": str(run.run_id), "toolId": "rank", "result": 1},
    ]
    assert (copy.subject_kind, copy.subject_id, copy.is_replay) == ("flow", "ranking", False)
    assert json.loads(copy.context.text) == {"flow": {"calls": on_the_wire, "steps": []}}
    assert json.loads(copy.calls.text) == calls
    assert copy.called_tool_names == ["search", "rank"]


def test_a_run_that_recorded_no_calls_has_unknown_ones(caller, project):
    run = RunFactory(project=project, content__calls=None)

    copy = record_correction(caller=caller, run_id=run.run_id, draft=ALL_RIGHT).copy

    copy.refresh_from_db()
    assert (copy.called_tools, copy.calls, copy.context, copy.segments) == (None, None, None, None)


@pytest.mark.parametrize(
    ("output", "is_replay"),
    [({"replay": {"of": "r"}}, True), ({"replay": {"of": 7}}, False), ({"replay": "r"}, False), (["replay"], False)],
)
def test_an_output_that_says_it_replays_is_a_replays(caller, project, output, is_replay):
    run = RunFactory(project=project, content__output=JsonText.of(output))

    assert record_correction(caller=caller, run_id=run.run_id, draft=ALL_RIGHT).copy.is_replay is is_replay


def test_a_second_correction_keeps_the_copy_of_the_first(caller, run, project):
    first = record_correction(caller=caller, run_id=run.run_id, draft=ALL_RIGHT)
    copy = RunCopy.objects.values().get()
    RunContent.objects.update(input=JsonText.of("other"), output=JsonText.of("other"))

    second = record_correction(caller=caller_of(person_with(project)), run_id=run.run_id, draft=ALL_RIGHT)

    assert RunCopy.objects.values().get() == copy
    assert second.copy_id == first.copy_id
    assert (copy["input"], copy["output"], copy["calls"]) == tuple(map(JsonText.of, (INPUT, OUTPUT, CALLS)))


def test_a_correction_after_all_earlier_ones_were_removed_reuses_the_copy(caller, run):
    copy = RunCopyFactory(project=run.project, run_id=run.run_id, output=JsonText.of({"kept": 1}))
    CorrectionFactory(copy=copy, removed=True)

    recorded = record_correction(caller=caller, run_id=run.run_id, draft=ALL_RIGHT)

    assert (recorded.copy_id, RunCopy.objects.count()) == (copy.id, 1)


def test_later_pointers_are_followed_in_the_copy_not_in_the_run(caller, run, nothing_changes):
    RunCopyFactory(project=run.project, run_id=run.run_id, output=JsonText.of({"kept": 1}))

    with nothing_changes(), pytest.raises(InvalidError, match="'/sources/0'"):
        record_correction(caller=caller, run_id=run.run_id, draft=at("/sources/0"))

    record_correction(caller=caller, run_id=run.run_id, draft=at("/kept"))


def test_a_purged_run_is_corrected_against_its_copy(caller, run):
    RunCopyFactory(project=run.project, run_id=run.run_id)
    RunContent.objects.update(input=None, output=None, context=None, calls=None)
    Run.objects.update(purged_at=clock.now())

    assert record_correction(caller=caller, run_id=run.run_id, draft=at("/sources/1")).is_live


def test_runs_of_two_workspaces_with_one_id_are_unrelated(caller, run):
    elsewhere = RunFactory(project=ProjectFactory(), run_id=run.run_id, content__output=JsonText.of("theirs"))
    stranger = caller_of(person_with(elsewhere.project))

    mine = record_correction(caller=caller, run_id=run.run_id, draft=ALL_RIGHT)
    theirs = record_correction(caller=stranger, run_id=run.run_id, draft=ALL_RIGHT)

    assert (mine.copy.output, theirs.copy.output) == (JsonText.of(OUTPUT), JsonText.of("theirs"))
    assert Correction.objects.filter(unregistered_at=None).count() == 2


def at(pointer: str) -> CorrectionDraft:
    return CorrectionDraft(items=(CorrectedItem("k", RIGHT, pointer=pointer),))


@pytest.mark.parametrize("around", [1, 300])
def test_the_number_of_statements_does_not_grow(caller, run, around, django_assert_num_queries):
    group = CorrectorGroupFactory(workspace=run.workspace)
    crowd(run.project, around)
    Correction.objects.update(made_by_kind=caller.kind, made_by_id=caller.id)
    CorrectorGroup.objects.bulk_create(CorrectorGroupFactory.build_batch(around, workspace=run.workspace))
    draft = CorrectionDraft(answer=RIGHT, items=at("/sources/0").items, corrector_group_id=str(group.id))

    with django_assert_num_queries(9):
        record_correction(caller=caller, run_id=run.run_id, draft=draft)

    with django_assert_num_queries(9):
        record_correction(caller=caller, run_id=run.run_id, draft=draft)
