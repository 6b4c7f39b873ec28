"""Erasing once more: it reaches what came in since, and touches nothing that had gone before (contract, section 12)."""

from uuid import uuid4

import pytest

from corrections.drafts import CorrectionDraft
from corrections.models import Correction, CorrectionEvent, Erasure, Run, RunContent, RunCopy
from corrections.services.erasure import erase_conversation, erase_participant, erase_run
from corrections.services.recording import record_correction
from corrections.services.status import set_status, sort_correction
from corrections.vocabulary import SortedTo, Status, Verdict
from kindgi_site.callers import Caller, Role
from kindgi_site.workspaces.models import IdempotencyRecord
from kindgi_site.workspaces.services.keys import store_key
from tests.factories import RunFactory, caller_of, person_with
from tests.wire import WireClient

WRONG = CorrectionDraft(answer=Verdict.WRONG, why="w-why")
NOTHING = dict.fromkeys(
    ("runs", "copies", "corrections", "queue", "answers", "testCases", "handCases", "testRunOutputs"), 0
)


@pytest.fixture
def admin(project) -> Caller:
    return caller_of(person_with(project, Role.ADMIN, is_admin=True))


def values_of(*rows) -> list[dict]:
    return [type(row).objects.values().get(pk=row.pk) for row in rows]


def erased(*runs: Run) -> list[bool]:
    rows = Run.objects.in_bulk([run.id for run in runs])
    contents = RunContent.objects.in_bulk([run.id for run in runs])
    return [rows[run.id].erased_at is not None and contents[run.id].output is None for run in runs]


def test_a_run_again_takes_the_replays_that_came_in_since(admin, caller, project, run):
    record_correction(caller=caller, run_id=run.run_id, draft=WRONG)
    earlier = RunFactory(project=project, replay_of=str(run.run_id))
    first, at = erase_run(caller=admin, run_id=run.run_id)
    kept = (run, earlier, RunCopy.objects.get(), Correction.objects.get(), first)
    before = values_of(*kept)
    late, of_earlier = (RunFactory(project=project, replay_of=str(of.run_id)) for of in (run, earlier))
    record_correction(caller=caller, run_id=late.run_id, draft=WRONG)
    stays = RunFactory(project=project)

    second, said = erase_run(caller=admin, run_id=run.run_id)

    assert erased(late, of_earlier, stays) == [True, True, False]
    assert said == at
    assert second.counts == NOTHING | {"runs": 2, "copies": 1, "corrections": 1}
    assert not Correction.objects.exclude(why="").exists()
    assert values_of(*kept) == before
    assert list(Erasure.objects.all()) == [second, first]


def test_a_run_again_takes_the_words_that_people_wrote_since(admin, caller, project, run):
    key = str(record_correction(caller=caller, run_id=run.run_id, draft=WRONG).id)
    other = record_correction(caller=admin, run_id=run.run_id, draft=WRONG)
    erase_run(caller=admin, run_id=run.run_id)
    untouched = values_of(Correction.objects.get(id=other.id))
    sort_correction(caller=admin, correction_id=key, to=SortedTo.DEVELOPER, reason="w-reason")
    set_status(caller=admin, correction_id=key, status=Status.WONT_FIX, note="w-note")
    set_status(caller=admin, correction_id=key, status=Status.OPEN)

    receipt, _at = erase_run(caller=admin, run_id=run.run_id)

    assert receipt.counts == NOTHING | {"corrections": 1}
    changed = Correction.objects.get(id=key)
    assert (changed.sorted_reason, changed.updated_at) == ("", receipt.created_at)
    assert set(CorrectionEvent.objects.values_list("note", flat=True)) == {""}
    assert values_of(Correction.objects.get(id=other.id)) == untouched


def test_stored_answers_are_withheld_for_what_came_in_since_only(admin, project):
    key = store_key(
        workspace=project.workspace, principal=person_with(project, Role.ADMIN, is_admin=True), role="admin"
    )
    ask, run = WireClient(key[1]), RunFactory(project=project)
    made = ask.post("/v1/corrections", {"runId": str(run.run_id), "answer": "right"}).json()["id"]
    path = f"/v1/runs/{run.run_id}/erase"
    first = ask.post(path, idempotency_key="first")
    noted = f"/v1/corrections/{made}/status"
    assert ask.post(noted, {"status": "open", "note": "w-note"}, idempotency_key="note").status_code == 200

    again = ask.post(path, idempotency_key="again")

    assert (again.status_code, again.json()) == (200, first.json() | {"erased": False})
    assert ask.post(path, idempotency_key="first").content == first.content
    assert IdempotencyRecord.objects.filter(withheld=True).count() == 1
    retried = ask.post(noted, {"status": "open", "note": "w-note"}, idempotency_key="note")
    assert retried.json()["error"]["code"] == "idempotency-key-replay-withheld"


def test_a_conversation_again(admin, caller, project):
    conversation = uuid4()
    run = RunFactory(project=project, conversation_id=conversation)
    record_correction(caller=caller, run_id=run.run_id, draft=WRONG)
    erase_conversation(caller=admin, conversation_id=conversation)
    before = values_of(run, RunCopy.objects.get(), Correction.objects.get())
    turn = RunFactory(project=project, conversation_id=conversation)
    replay = RunFactory(project=project, replay_of=str(run.run_id))

    receipt = erase_conversation(caller=admin, conversation_id=conversation)

    assert erased(turn, replay) == [True, True]
    assert receipt.counts == NOTHING | {"runs": 2}
    assert values_of(run, RunCopy.objects.get(), Correction.objects.get()) == before


def test_a_participant_again_takes_the_replays_that_name_nobody(admin, project):
    """The first time took the participant off their runs: whose they were is no longer known."""
    theirs = RunFactory(project=project, participant_id="w-p")
    ours, foreign = RunFactory(project=project), RunFactory(participant_id="w-p")
    erase_participant(caller=admin, participant_id="w-p")
    erase_run(caller=admin, run_id=ours.run_id)
    named = RunFactory(project=project, replay_of=str(theirs.run_id), participant_id="w-p")
    unnamed = RunFactory(project=project, replay_of=str(theirs.run_id))
    of_unnamed = RunFactory(project=project, replay_of=str(unnamed.run_id))
    staying = [
        RunFactory(project=project, replay_of=str(ours.run_id)),
        RunFactory(project=foreign.project, replay_of=str(theirs.run_id)),
        RunFactory(project=project, replay_of="not-a-uuid"),
        RunFactory(project=project),
        foreign,
    ]

    receipt = erase_participant(caller=admin, participant_id="w-p")

    assert erased(named, unnamed, of_unnamed) == [True, True, True]
    assert erased(*staying) == [False] * 5
    assert receipt.counts == NOTHING | {"runs": 3}
