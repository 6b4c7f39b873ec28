"""What happens at the same moment comes one after the other: grading, shipping, freezing, erasing (16.3, 12.3)."""

from threading import Event
from uuid import UUID

import pytest
from django.db import transaction

from corrections.models import Correction, Run, RunContent
from corrections.services.erasure import hold_erasures
from tests.at_once import at_once
from tests.factories import RunFactory, caller_of
from tests.loop import RIGHT_CALL, WRONG_CALL, output
from testsets.drafts import LiveChangeDraft
from testsets.models import TestCase, TestRunCase, TestRunOutput
from testsets.services.live import change_live
from testsets.services.test_runs import complete_test_run, rescore_test_run

pytestmark = pytest.mark.django_db(transaction=True)
AGAIN = range(5)


@pytest.mark.parametrize("_attempt", AGAIN)
def test_a_version_that_ships_while_it_is_graded_right_has_fixed_it(loop, _attempt):
    """Whichever is first, the other sees it: neither may look before the other is done and both see nothing."""
    correction = loop.correct()
    loop.freeze()
    run = loop.start("1.1.0")
    handed = {"outputs": [output(correction)]}

    answers = at_once(
        [
            lambda: loop.client.post(f"/v1/test-runs/{run}/outputs", handed),
            lambda: loop.client.post(f"{loop.base}/live-changes", {"action": "pin", "version": "1.1.0"}),
        ]
    )

    assert [answer.status_code for answer in answers] == [200, 201]
    assert loop.correction(correction)["status"] == "fixed"


def test_a_grading_waits_for_a_live_change_that_has_looked_but_is_not_done(loop, admin):
    """The change has found no grading; a grading that did not wait would find no live version, and nothing be fixed."""
    correction = loop.correct()
    loop.freeze()
    loop.change("latest", "1.0.0")
    run = loop.start("1.1.0")
    has_looked, is_graded = Event(), Event()

    def ship():
        with transaction.atomic():
            draft = LiveChangeDraft(action="pin", version="1.1.0")
            change_live(caller=caller_of(admin), project_id=loop.project.id, agent_id="support", draft=draft)
            has_looked.set()
            return is_graded.wait(timeout=1)

    def grade():
        has_looked.wait(timeout=30)
        answer = loop.client.post(f"/v1/test-runs/{run}/outputs", {"outputs": [output(correction)]})
        is_graded.set()
        return answer.status_code

    assert at_once([ship, grade]) == [False, 200]
    assert loop.correction(correction)["status"] == "fixed"


@pytest.mark.parametrize("_attempt", AGAIN)
def test_an_erasure_beside_freezing_building_and_starting_leaves_no_case_behind(loop, root_client, _attempt):
    run = loop.run(calls=[WRONG_CALL])
    loop.correct(run, answer="wrong", why="Late.")
    loop.correct()
    loop.freeze()
    build = {"projectId": str(loop.project.id), "agentId": "support", "version": "1.0.0"}
    start = {"projectId": str(loop.project.id), "agentRef": {"agentId": "support", "version": "1.1.0"}}

    answers = at_once(
        [
            lambda: root_client.post(f"/v1/runs/{run}/erase"),
            lambda: loop.client.post(f"{loop.base}/test-set/freeze", {"version": "2.0.0"}),
            lambda: loop.client.post("/v1/test-sets/built/versions/from-corrections", build),
            lambda: loop.client.post("/v1/test-sets/support.corrections/runs", start),
        ]
    )

    assert [answer.status_code for answer in answers] == [200, 201, 201, 201]
    assert TestCase.objects.filter(run_id=run, erased_at=None).count() == 0
    assert TestRunCase.objects.filter(frozen__run_id=run, erased_at=None).count() == 0


@pytest.mark.parametrize("_attempt", AGAIN)
def test_an_erasure_beside_the_last_outputs_ends_the_run_without_the_case(loop, root_client, _attempt):
    """It locks runs, the submission its test run: neither may wait for the other for ever."""
    runs = [loop.run(calls=[WRONG_CALL]) for _ in range(3)]
    said = {"decisions": "wrong", "shouldCall": [{"tool": "find_order", "args": {"order": 7}}]}
    gone, *stay = (loop.correct(run, **said) for run in runs)
    loop.freeze()
    loop.change("pin", "1.1.0")
    at_work = loop.start("1.1.0")
    handed = {"outputs": [output(case, [RIGHT_CALL]) for case in (gone, *stay)]}

    answers = at_once(
        [
            lambda: root_client.post(f"/v1/runs/{runs[0]}/erase"),
            lambda: loop.client.post(f"/v1/test-runs/{at_work}/outputs", handed),
        ]
    )

    assert [answer.status_code for answer in answers] == [200, 200]
    assert loop.ask("GET", f"/v1/test-runs/{at_work}")["status"] == "completed"
    assert TestRunCase.objects.exclude(erased_at=None).get().case_id == gone
    assert [loop.correction(case)["status"] for case in stay] == ["fixed", "fixed"]


def test_an_erasure_waits_for_a_rescore_that_has_copied_but_is_not_done(loop, admin, root_client):
    """It has copied what the case was given; an erasure that did not wait would not see the copies, and leave them."""
    run = loop.run(calls=[WRONG_CALL])
    correction = loop.correct(run, decisions="wrong", mustNotCall=["find_order"])
    loop.freeze()
    graded = loop.start("1.1.0")
    loop.submit(graded, output(correction))
    has_copied, is_erased = Event(), Event()

    def rescore():
        with transaction.atomic():
            rescore_test_run(caller=caller_of(admin), run_id=UUID(graded))
            has_copied.set()
            return is_erased.wait(timeout=1)

    def erase():
        has_copied.wait(timeout=30)
        answer = root_client.post(f"/v1/runs/{run}/erase")
        is_erased.set()
        return answer.status_code

    assert at_once([rescore, erase]) == [False, 200]
    assert TestRunCase.objects.filter(erased_at=None).count() == 0
    assert list(TestRunOutput.objects.values_list("output", "calls")) == [(None, None), (None, None)]


def test_a_live_change_and_an_erasure_do_not_wait_for_each_other_for_ever(loop):
    """An erasure holds corrections in the order of their ids; a change holds those it fixes, then those it settles."""
    first, second = sorted(loop.correct() for _ in range(2))
    loop.freeze()
    loop.grade("1.1.0", {first: [RIGHT_CALL], second: [RIGHT_CALL]})
    holds_the_first, is_shipped = Event(), Event()

    def erase():
        with transaction.atomic():
            hold_erasures(loop.project.workspace_id)
            Correction.objects.select_for_update().get(id=first)
            holds_the_first.set()
            is_shipped.wait(timeout=1)
            return str(Correction.objects.select_for_update().get(id=second).id)

    def ship():
        holds_the_first.wait(timeout=30)
        change = {"action": "pin", "version": "1.1.0", "fixes": [second]}
        answer = loop.client.post(f"{loop.base}/live-changes", change)
        is_shipped.set()
        return answer.status_code

    assert at_once([erase, ship]) == [second, 201]
    assert [loop.correction(correction)["status"] for correction in (first, second)] == ["fixed", "fixed"]


def test_two_erasures_of_one_run_do_not_wait_for_each_other_for_ever(loop, root_client):
    """That of a conversation holds erasures, then its runs; that of a run alone in the same order."""
    run = loop.run()
    is_held, is_erased = Event(), Event()

    def erase_conversation():
        with transaction.atomic():
            hold_erasures(loop.project.workspace_id)
            is_held.set()
            is_erased.wait(timeout=1)
            return str(Run.objects.select_for_update().get(run_id=run).run_id)

    def erase_run():
        is_held.wait(timeout=30)
        answer = root_client.post(f"/v1/runs/{run}/erase")
        is_erased.set()
        return answer.status_code

    assert at_once([erase_conversation, erase_run]) == [run, 200]


def test_the_erasure_of_a_participant_waits_for_a_grading_that_is_not_done(loop, admin, root_client):
    """It has read what they wanted; an erasure that did not wait would not see the words that the grading repeats."""
    wanted = [{"tool": "find_order", "args": {"order": "WORD"}}]
    correction = loop.correct(participantId="guest", decisions="wrong", shouldCall=wanted)
    loop.ask("POST", f"/v1/corrections/{correction}/sort", {"to": "owner"})
    loop.freeze()
    graded = loop.start("1.1.0", repetitions=2)
    loop.submit(graded, output(correction))
    is_graded, is_erased = Event(), Event()

    def complete():
        with transaction.atomic():
            complete_test_run(caller=caller_of(admin), run_id=UUID(graded))
            is_graded.set()
            return is_erased.wait(timeout=1)

    def erase():
        is_graded.wait(timeout=30)
        answer = root_client.post("/v1/memory/erasures", {"subject": {"kind": "participant", "id": "guest"}})
        is_erased.set()
        return answer.status_code

    assert at_once([complete, erase]) == [False, 202]
    kept = (TestRunCase.objects.get().result, TestCase.objects.get().wire, Correction.objects.get().should_call)
    assert [text for text in kept if "WORD" in text.text] == []


@pytest.mark.parametrize(
    "asked",
    [{"subject": {"kind": "participant", "id": "guest"}}, {"conversationId": str(UUID(int=7))}],
    ids=["participant", "conversation"],
)
def test_an_erasure_that_has_to_wait_takes_what_came_in_meanwhile(loop, root_client, asked):
    """The id comes off the runs of a participant, so that no later erasure would find the one that was missed."""
    is_held, is_erased = Event(), Event()

    def come_in():
        with transaction.atomic():
            hold_erasures(loop.project.workspace_id)
            is_held.set()
            is_erased.wait(timeout=1)
            return RunFactory(project=loop.project, participant_id="guest", conversation_id=UUID(int=7)).id

    def erase():
        is_held.wait(timeout=30)
        answer = root_client.post("/v1/memory/erasures", asked)
        is_erased.set()
        return answer.status_code

    run, status = at_once([come_in, erase])

    assert (status, RunContent.objects.get(run=run).output) == (202, None)
