"""Forgetting (contract, section 12): every effect, what stays, and that no erased word is found anywhere."""

from uuid import uuid4

import pytest
from django.apps import apps

from corrections.drafts import CorrectedItem, CorrectionDraft, ExpectedCall
from corrections.models import Correction, CorrectionEvent, Erasure, Run, RunContent, RunCopy, RunTool
from corrections.services.erasure import erase_conversation, erase_participant, erase_run
from corrections.services.queue import dismiss_item
from corrections.services.recording import record_correction
from corrections.services.status import link_correction, set_status, sort_correction
from corrections.vocabulary import ItemState, LinkKind, SortedTo, Status, Verdict
from kindgi_site.callers import Caller, Role
from kindgi_site.errors import ForbiddenError, GoneError, NotFoundError
from kindgi_site.exact_json import JsonText
from kindgi_site.workspaces.models import AuditEntry, IdempotencyRecord
from kindgi_site.workspaces.services.keys import store_key
from tests.factories import CorrectionFactory, ProjectFactory, RunCopyFactory, RunFactory, caller_of, person_with
from tests.leftovers import found_of
from tests.queueing import finish_run, write_rule
from tests.wire import WireClient

WRONG = CorrectionDraft(
    decisions=Verdict.WRONG,
    should_call=(ExpectedCall("refund", {"for": "w-args"}, '{"for": "w-args"}'),),
    must_not_call=("find_order",),
    answer=Verdict.WRONG,
    should_say="w-should-say",
    why="w-why",
    items=(CorrectedItem("a", Verdict.WRONG, pointer="/content", rank=2),),
)


@pytest.fixture
def admin(project) -> Caller:
    return caller_of(person_with(project, Role.ADMIN, is_admin=True))


def corrected(caller: Caller, run: Run, admin: Caller, **said) -> Correction:
    """Words wherever a correction keeps them: itself, its note, its reason, its history."""
    made = record_correction(caller=caller, run_id=run.run_id, draft=WRONG if not said else CorrectionDraft(**said))
    key = str(made.id)
    sort_correction(caller=admin, correction_id=key, to=SortedTo.IMPROVE, reason="w-reason")
    set_status(caller=admin, correction_id=key, status=Status.WONT_FIX, note="w-note")
    return made


def test_what_goes_and_what_stays(admin, caller, project):
    run = RunFactory(project=project, participant_id="p", segments=JsonText.of([{"key": "k", "value": "v"}]))
    Run.objects.filter(id=run.id).update(replay_of="another")
    made = corrected(caller, run, admin)
    before, row_before = Correction.objects.get(), Run.objects.get()

    receipt, at = erase_run(caller=admin, run_id=run.run_id)

    row, content, copy, after = (table.objects.get() for table in (Run, RunContent, RunCopy, Correction))
    parts = (content.input, content.output, content.context, content.calls, content.failure_message)
    assert parts == (None, None, None, None, "")
    changed = {name for name, value in vars(row).items() if value != vars(row_before)[name]} - {"_state"}
    assert changed == {"segments", "erased_at"}
    assert (row.segments, row.erased_at) == (None, at)
    assert not RunTool.objects.exists()
    assert [copy.input, copy.output, copy.context, copy.segments, copy.calls, copy.called_tools] == [None] * 6
    assert copy.erased_at == at
    assert after.should_call.value == [{"tool": "refund", "args": {}}]
    assert after.items.value == before.items.value
    texts = {"why", "should_say", "should_call", "sorted_reason", "updated_at"}
    note = {"note_text", "note_by_kind", "note_by_id", "note_at"}
    assert {name for name, value in vars(after).items() if value != vars(before)[name]} - {"_state"} == texts | note
    assert (after.why, after.should_say, after.sorted_reason, after.status_note, after.updated_at) == (
        "",
        "",
        "",
        None,
        at,
    )
    assert after.sorting.reason == ""
    assert after.id == made.id
    assert set(CorrectionEvent.objects.values_list("note", flat=True)) == {""}
    assert receipt == Erasure.objects.get()


def test_the_receipt_says_what_was_cleared_where_and_of_whom_nothing(admin, caller, project):
    write_rule(caller, project)
    run = finish_run(caller, project, participant_id="w-participant")
    dismiss_item(caller=caller, project=project, run_id=str(run.run_id), reason="w-dismissed")
    record_correction(caller=caller, run_id=run.run_id, draft=CorrectionDraft(answer=Verdict.RIGHT))

    receipt = erase_participant(caller=admin, participant_id="w-participant")

    counts = {"runs": 1, "copies": 1, "corrections": 1, "queue": 1, "answers": 0}
    in_test_sets = {"testCases": 0, "handCases": 0, "testRunOutputs": 0}
    assert receipt.counts == counts | in_test_sets
    assert (receipt.selector, receipt.selector_kind, receipt.status) == ("", "participant", "completed")
    assert receipt.completed_at == receipt.created_at
    assert (receipt.requested_by_kind, receipt.requested_by_id) == ("user", admin.id)
    item = project_item(project)
    assert (item.state, item.reason, item.closed_at is not None) == (ItemState.ERASED, "", True)


def project_item(project):
    return apps.get_model("corrections", "CorrectingItem").objects.get(project=project)


def test_a_second_time_is_the_first(admin, run, nothing_changes):
    _receipt, at = erase_run(caller=admin, run_id=run.run_id)
    with nothing_changes():
        assert erase_run(caller=admin, run_id=run.run_id) == (None, at)


def test_replays_go_with_their_run_and_theirs_with_them(admin, project, run):
    replay = RunFactory(project=project, replay_of=str(run.run_id))
    again = RunFactory(project=project, replay_of=str(replay.run_id))
    loop = RunFactory(project=project, replay_of=str(again.run_id))
    Run.objects.filter(id=run.id).update(replay_of=str(loop.run_id))
    stays = RunFactory(project=project, replay_of=str(uuid4()))

    receipt, _at = erase_run(caller=admin, run_id=run.run_id)

    assert list(Run.objects.filter(erased_at=None)) == [stays]
    assert receipt.counts["runs"] == 4
    assert stays.content == RunContent.objects.exclude(output=None).get()


def test_replays_that_name_their_run_in_capitals_go_too(admin, api_client, project, run):
    body = run_body(project, replayOf=str(run.run_id).upper(), parentRunId="x")
    assert api_client.put(f"/v1/runs/{uuid4()}", body).json()["replayOf"] == str(run.run_id)

    receipt, _at = erase_run(caller=admin, run_id=run.run_id)

    assert receipt.counts["runs"] == 2


def test_a_copy_that_outlived_its_run_is_erased(admin, project):
    copy = RunCopyFactory(project=project)
    CorrectionFactory(copy=copy)

    erase_run(caller=admin, run_id=copy.run_id)

    assert (RunCopy.objects.get().output, Correction.objects.get().why) == (None, "")


def test_nothing_is_corrected_or_filled_in_afterwards(admin, caller, project, nothing_changes):
    run = finish_run(caller, project)
    erase_run(caller=admin, run_id=run.run_id)
    with nothing_changes():
        with pytest.raises(GoneError):
            record_correction(caller=caller, run_id=run.run_id, draft=WRONG)
        with pytest.raises(GoneError):
            finish_run(caller, project, run_id=run.run_id)


def test_a_participant(admin, caller, project, workspace):
    theirs = RunFactory(project=project, participant_id="w-p")
    other = RunFactory(project=project)
    foreign = RunFactory(project=ProjectFactory(), participant_id="w-p")
    on_other = record_correction(
        caller=caller,
        run_id=other.run_id,
        draft=CorrectionDraft(answer=Verdict.WRONG, why="w-why", participant_id="w-p"),
    )
    own = record_correction(caller=caller, run_id=other.run_id, draft=CorrectionDraft(answer=Verdict.RIGHT, why="Mine"))

    erase_participant(caller=admin, participant_id="w-p")

    erased = {run.id for run in Run.objects.exclude(erased_at=None)}
    assert erased == {theirs.id}
    assert not Run.objects.filter(workspace=workspace, participant_id="w-p").exists()
    assert Run.objects.get(id=foreign.id).participant_id == "w-p"
    on_other.refresh_from_db()
    assert (on_other.participant_id, on_other.why, on_other.answer) == ("", "", "wrong")
    assert on_other.is_live
    own.refresh_from_db()
    assert (own.why, own.is_live) == ("Mine", True)


def test_two_forgotten_participants_of_one_maker_and_run(admin, caller, run):
    """Without their ids they are still two live corrections of one maker, and the maker's own is a third."""
    for participant in ("w-a", "w-b", None):
        draft = CorrectionDraft(answer=Verdict.RIGHT, participant_id=participant)
        record_correction(caller=caller, run_id=run.run_id, draft=draft)
    for participant in ("w-a", "w-b"):
        erase_participant(caller=admin, participant_id=participant)

    record_correction(caller=caller, run_id=run.run_id, draft=CorrectionDraft(answer=Verdict.RIGHT))

    assert Correction.objects.filter(unregistered_at=None, participant_id="").count() == 3
    assert Correction.objects.count() == 4


def test_a_turn_without_a_conversation_is_one_of_its_own(admin, project):
    alone, other = RunFactory(project=project), RunFactory(project=project)

    erase_conversation(caller=admin, conversation_id=alone.run_id)

    alone.refresh_from_db()
    other.refresh_from_db()
    assert (alone.erased_at is not None, other.erased_at) == (True, None)


def test_a_conversation(admin, project):
    conversation = uuid4()
    theirs = RunFactory(project=project, conversation_id=conversation)
    RunFactory(project=project, conversation_id=uuid4())

    receipt = erase_conversation(caller=admin, conversation_id=conversation)

    assert set(Run.objects.exclude(erased_at=None)) == {theirs}
    assert (receipt.selector_kind, receipt.selector) == ("conversation", "")


def test_nobody_known_is_forgotten_too(admin, db):
    receipt = erase_participant(caller=admin, participant_id="w-nobody")

    assert (set(receipt.counts.values()), receipt.status) == ({0}, "completed")


@pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR, Role.ADMIN, Role.OWNER])
def test_only_administrators_of_the_workspace_erase(project, run, nothing_changes, role):
    other = caller_of(person_with(project, role))
    for erase in (
        lambda: erase_run(caller=other, run_id=run.run_id),
        lambda: erase_participant(caller=other, participant_id="p"),
        lambda: erase_conversation(caller=other, conversation_id=uuid4()),
    ):
        with nothing_changes(), pytest.raises(ForbiddenError):
            erase()


def test_what_is_not_here(admin, nothing_changes):
    foreign = RunFactory()
    for run_id in (uuid4(), foreign.run_id):
        with nothing_changes(), pytest.raises(NotFoundError):
            erase_run(caller=admin, run_id=run_id)


WORDS = {
    "w-input", "w-output", "w-context", "w-call", "w-segment", "w-why", "w-should-say", "w-args", "w-reason", "w-note",
    "w-dismissed", "w-failure", "w-participant", "w-own", "w-replay",
}  # fmt: skip


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("how", ["run", "participant"])
def test_no_erased_word_is_found_afterwards(how):
    """Through /v1 with keys of idempotency, so that stored answers hold the words as well."""
    project = ProjectFactory(default=True)
    person = person_with(project, Role.ADMIN, is_admin=True)
    key = store_key(workspace=project.workspace, principal=person, role="admin")[1]
    ask = WireClient(key)
    run_id, replay_id = uuid4(), uuid4()
    rules = f"/v1/projects/{project.id}/correcting-rules"
    assert ask.post(rules, {"name": "all"}).status_code == 201
    tell(ask, project, run_id, replay_id)
    assert found_of(WORDS) == WORDS

    if how == "run":
        answer = ask.post(f"/v1/runs/{run_id}/erase", idempotency_key="erase")
    else:
        subject = {"kind": "participant", "id": "w-participant"}
        answer = ask.post("/v1/memory/erasures", {"subject": subject}, idempotency_key="erase")

    assert answer.status_code in {200, 202}
    # Erasing a run leaves whom it served, so that their erasure still reaches all that is theirs.
    assert found_of(WORDS) == ({"w-participant", "w-own"} if how == "run" else set())
    replayed = ask.put(f"/v1/runs/{run_id}", run_body(project), idempotency_key="put")
    assert replayed.json()["error"]["code"] == "idempotency-key-replay-withheld"
    assert IdempotencyRecord.objects.filter(withheld=True).count() >= 5
    assert AuditEntry.objects.filter(action__startswith="erasures.").count() == 1


def run_body(project, **more):
    said = {
        "projectId": str(project.id),
        "agent": {"id": "support", "version": "1.0.0"},
        "status": "completed",
        "completedAt": "2026-03-01T09:30:00Z",
        "input": {"said": "w-input " * 2000},
        "output": {"content": "w-output"},
        "context": {"recalled": ["w-context"]},
        "calls": [{"toolId": "refund", "arguments": {"for": "w-call"}, "error": "w-failure"}],
        "segments": [{"key": "k", "value": "w-segment"}],
        "participantId": "w-participant",
    }
    return said | more


def tell(ask, project, run_id, replay_id) -> None:
    def done(answer, status):
        assert answer.status_code == status, answer.content
        return answer.json()

    done(ask.put(f"/v1/runs/{run_id}", run_body(project), idempotency_key="put"), 201)
    replay = run_body(project, replayOf=str(run_id), input="w-replay", participantId="nobody")
    done(ask.put(f"/v1/runs/{replay_id}", replay, idempotency_key="replay"), 201)
    item = f"/v1/projects/{project.id}/correcting-queue/{run_id}"
    done(ask.post(f"{item}/dismiss", {"reason": "w-dismissed"}, idempotency_key="dismiss"), 200)
    body = {
        "runId": str(run_id),
        "decisions": "wrong",
        "shouldCall": [{"tool": "refund", "args": {"for": "w-args"}}],
        "answer": "wrong",
        "shouldSay": "w-should-say",
        "why": "w-why",
    }
    made = f"/v1/corrections/{done(ask.post('/v1/corrections', body, idempotency_key='correct'), 201)['id']}"
    done(ask.post(f"{made}/sort", {"to": "improve", "reason": "w-reason"}, idempotency_key="sort"), 200)
    done(ask.post(f"{made}/status", {"status": "wont-fix", "note": "w-note"}, idempotency_key="note"), 200)
    other = uuid4()
    done(ask.put(f"/v1/runs/{other}", run_body(project, input=1, output=2, context={}, calls=[], segments=[],
                                               participantId="other")), 201)  # fmt: skip
    own = {"runId": str(other), "answer": "wrong", "why": "w-own", "participantId": "w-participant"}
    done(ask.post("/v1/corrections", own, idempotency_key="own"), 201)


def test_links_stay(admin, caller, project):
    run = RunFactory(project=project)
    made = record_correction(caller=caller, run_id=run.run_id, draft=CorrectionDraft(answer=Verdict.WRONG, why="w"))
    link_correction(caller=caller, correction_id=str(made.id), kind=LinkKind.IMPROVE_RUN, target="1")

    erase_run(caller=admin, run_id=run.run_id)

    made.refresh_from_db()
    assert (made.link.target, made.status) == ("1", Status.BEING_FIXED)
