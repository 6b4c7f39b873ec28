"""How corrections, people and erasures move the items of the correcting queue (contract 12.3, 18.4)."""

from functools import partial
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from corrections.drafts import CorrectionDraft
from corrections.models import CorrectingItem, Correction
from corrections.services.erasure import erase_run
from corrections.services.queue import dismiss_item, erase_items, reopen_item
from corrections.services.recording import record_correction
from corrections.services.status import remove_correction
from corrections.vocabulary import Verdict
from kindgi_site import clock
from kindgi_site.callers import Role
from kindgi_site.errors import Code, ConflictError, ForbiddenError, InvalidError, NotFoundError
from kindgi_site.workspaces.models import AuditEntry
from tests.at_once import at_once
from tests.factories import CorrectorGroupFactory, ProjectFactory, RunFactory, caller_of, person_with
from tests.queueing import finish_run, project_group, write_rule

RIGHT = CorrectionDraft(answer=Verdict.RIGHT)


def speaking_for(group) -> CorrectionDraft:
    return CorrectionDraft(answer=Verdict.RIGHT, corrector_group_id=str(group.id))


def correct(caller, run, draft=RIGHT) -> Correction:
    return record_correction(caller=caller, run_id=run.run_id, draft=draft)


def state_of(run) -> str:
    return CorrectingItem.objects.get(run_id=run.run_id).state


@pytest.fixture
def other(project):
    """Another editor of the project."""
    return caller_of(person_with(project))


@pytest.fixture
def groups(project):
    return project_group(project), project_group(project)


def test_a_rule_without_a_group_takes_anybody_s_correction(caller, project):
    write_rule(caller, project)
    run, untouched = finish_run(caller, project), finish_run(caller, project)
    before = clock.now()

    correct(caller, run, CorrectionDraft(answer=Verdict.WRONG, why="no", participant_id="end-user"))

    item = CorrectingItem.objects.get(run_id=run.run_id)
    assert (item.state, item.closed_by, item.reason) == ("corrected", "", "")
    assert before <= item.closed_at <= clock.now()
    assert state_of(untouched) == "open"


def test_a_rule_with_a_group_waits_for_that_group(caller, other, project, groups):
    wanted, another = groups
    write_rule(caller, project, group_id=str(wanted.id))
    run = finish_run(caller, project)

    correct(caller, run)
    assert state_of(run) == "open"
    correct(caller, run, speaking_for(another))
    assert state_of(run) == "open"
    correct(other, run, speaking_for(wanted))
    assert state_of(run) == "corrected"


def test_every_rule_of_an_item_must_have_what_it_wants(caller, other, project, groups):
    for group in groups:
        write_rule(caller, project, group_id=str(group.id))
    write_rule(caller, project)
    run = finish_run(caller, project)

    correct(caller, run, speaking_for(groups[0]))
    assert state_of(run) == "open"
    correct(other, run, speaking_for(groups[1]))
    assert state_of(run) == "corrected"


def test_a_superseding_correction_takes_back_what_the_earlier_one_gave(caller, project, groups):
    wanted, another = groups
    write_rule(caller, project, group_id=str(wanted.id))
    run = finish_run(caller, project)
    correct(caller, run, speaking_for(wanted))
    assert state_of(run) == "corrected"

    correct(caller, run, speaking_for(another))
    item = CorrectingItem.objects.get()
    assert (item.state, item.closed_at) == ("open", None)

    correct(caller, run, speaking_for(wanted))
    assert state_of(run) == "corrected"
    correct(caller, run, speaking_for(wanted))
    assert state_of(run) == "corrected"


def test_removing_what_closed_an_item_opens_it_again(caller, project):
    write_rule(caller, project)
    run = finish_run(caller, project)
    correction = correct(caller, run)

    remove_correction(caller=caller, correction_id=str(correction.id))

    item = CorrectingItem.objects.get()
    assert (item.state, item.closed_at) == ("open", None)


def test_removing_one_of_two_leaves_an_item_corrected(caller, other, project):
    write_rule(caller, project)
    run = finish_run(caller, project)
    correction = correct(caller, run)
    correct(other, run)

    remove_correction(caller=caller, correction_id=str(correction.id))

    assert state_of(run) == "corrected"


def test_removing_another_group_s_correction_leaves_an_item_corrected(caller, other, project, groups):
    write_rule(caller, project, group_id=str(groups[0].id))
    run = finish_run(caller, project)
    correction = correct(caller, run, speaking_for(groups[1]))
    correct(other, run, speaking_for(groups[0]))

    remove_correction(caller=caller, correction_id=str(correction.id))

    assert state_of(run) == "corrected"


def test_a_correction_of_a_dismissed_run_does_not_move_it(caller, project):
    write_rule(caller, project)
    run = finish_run(caller, project)
    dismiss_item(caller=caller, project=project, run_id=str(run.run_id))
    before = CorrectingItem.objects.values().get()

    correction = correct(caller, run)
    correct(caller, run)
    assert CorrectingItem.objects.values().get() == before
    remove_correction(caller=caller, correction_id=str(Correction.objects.get(unregistered_at=None).id))

    assert CorrectingItem.objects.values().get() == before
    assert Correction.objects.get(id=correction.id).status == "removed"


def test_a_reopened_run_stays_open_until_the_next_correction(caller, other, project):
    write_rule(caller, project)
    run = finish_run(caller, project)
    dismiss_item(caller=caller, project=project, run_id=str(run.run_id))
    correct(caller, run)

    reopen_item(caller=caller, project=project, run_id=str(run.run_id))
    assert state_of(run) == "open"
    correct(other, run)

    assert state_of(run) == "corrected"


def test_dismissing_keeps_who_when_and_why(caller, other, project):
    write_rule(caller, project)
    run = finish_run(caller, project)
    before = clock.now()

    item = dismiss_item(caller=caller, project=project, run_id=str(run.run_id), reason="A test of ours.")

    assert (item.state, item.closed_by, item.reason) == ("dismissed", f"user:{caller.id}", "A test of ours.")
    assert before <= item.closed_at <= clock.now()
    reopened = reopen_item(caller=other, project=project, run_id=str(run.run_id))
    assert (reopened.state, reopened.closed_at, reopened.reason) == ("open", None, "")
    assert reopened.closed_by == f"user:{other.id}"
    written = AuditEntry.objects.filter(target_kind="correcting-item").order_by("id")
    assert [(entry.action, entry.target_id, entry.by_id, entry.fields) for entry in written] == [
        ("correcting-queue.dismiss", str(run.run_id), caller.id, "state reason"),
        ("correcting-queue.reopen", str(run.run_id), other.id, "state"),
    ]


@pytest.fixture
def unmoved(caller, project):
    """A run in each of the states."""
    write_rule(caller, project)
    runs = {state: finish_run(caller, project) for state in ("open", "corrected", "dismissed", "erased")}
    correct(caller, runs["corrected"])
    dismiss_item(caller=caller, project=project, run_id=str(runs["dismissed"].run_id))
    erase_items(project.workspace_id, [runs["erased"].run_id])
    return runs


@pytest.mark.parametrize(
    ("move", "state"),
    [(dismiss_item, state) for state in ("corrected", "dismissed", "erased")]
    + [(reopen_item, state) for state in ("open", "corrected", "erased")],
)
def test_the_other_moves_are_refused(caller, project, unmoved, move, state):
    before = list(CorrectingItem.objects.order_by("id").values())

    with pytest.raises(ConflictError) as refused:
        move(caller=caller, project=project, run_id=str(unmoved[state].run_id))

    assert refused.value.code == Code.CORRECTING_ITEM_NOT_OPEN
    assert refused.value.details == {"runId": str(unmoved[state].run_id), "state": state}
    assert list(CorrectingItem.objects.order_by("id").values()) == before


def test_refusals_of_dismissing(caller, project, unmoved):
    viewer = caller_of(person_with(project, Role.VIEWER))
    elsewhere = ProjectFactory(workspace=project.workspace)
    admin = caller_of(person_with(elsewhere, is_admin=True))
    run_id = str(unmoved["open"].run_id)
    before = list(CorrectingItem.objects.order_by("id").values())

    with pytest.raises(ForbiddenError):
        dismiss_item(caller=viewer, project=project, run_id=run_id)
    with pytest.raises(InvalidError):
        dismiss_item(caller=caller, project=project, run_id=run_id, reason="x" * 501)
    for where, wanted in ((project, str(uuid4())), (project, "x"), (elsewhere, run_id)):
        with pytest.raises(NotFoundError) as refused:
            dismiss_item(caller=admin, project=where, run_id=wanted)
        assert (refused.value.code, refused.value.details) == (Code.CORRECTING_ITEM_NOT_FOUND, {"runId": wanted})

    assert list(CorrectingItem.objects.order_by("id").values()) == before


def test_erasing_closes_an_item_in_any_state_and_clears_the_reason(caller, project, unmoved):
    CorrectingItem.objects.filter(state="dismissed").update(reason="Her words.")
    before = clock.now()

    erased = erase_items(project.workspace_id, [run.run_id for run in unmoved.values()])

    assert erased == 3
    items = CorrectingItem.objects.all()
    assert {(item.state, item.reason) for item in items} == {("erased", "")}
    assert all(item.closed_at is not None for item in items)
    assert sum(before <= item.closed_at for item in items) >= 3
    assert erase_items(project.workspace_id, [run.run_id for run in unmoved.values()]) == 0


def test_erasing_reaches_no_other_workspace(caller, project, unmoved):
    elsewhere = ProjectFactory()

    assert erase_items(elsewhere.workspace_id, [run.run_id for run in unmoved.values()]) == 0
    assert state_of(unmoved["open"]) == "open"


def test_erasing_a_run_erases_its_item(caller, project, unmoved):
    admin = caller_of(person_with(project, is_admin=True))

    erase_run(caller=admin, run_id=unmoved["dismissed"].run_id)

    assert state_of(unmoved["dismissed"]) == "erased"
    assert state_of(unmoved["open"]) == "open"


def statements(work) -> int:
    with CaptureQueriesContext(connection) as captured:
        work()
    return len(captured)


def test_recording_costs_one_statement_more_for_a_run_with_an_open_item_and_none_without(caller, other, project):
    plain = RunFactory(project=project)
    write_rule(caller, project)
    queued = finish_run(caller, project)
    group = CorrectorGroupFactory(workspace=project.workspace)
    first, later = (statements(partial(correct, who, plain, speaking_for(group))) for who in (caller, other))

    assert statements(partial(correct, caller, queued, speaking_for(group))) == first + 1
    assert statements(partial(correct, other, queued, speaking_for(group))) == later
    assert (first, later) == (9, 7)


@pytest.mark.django_db(transaction=True)
def test_eight_correctors_and_two_groups_at_one_moment_leave_no_item_behind(caller, project, groups):
    for group in groups:
        write_rule(caller, project, group_id=str(group.id))
    run = finish_run(caller, project)
    makers = [caller_of(person_with(project)) for _number in range(8)]

    at_once([partial(correct, maker, run, speaking_for(groups[n % 2])) for n, maker in enumerate(makers)])

    assert state_of(run) == "corrected"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("attempt", range(4))
def test_recording_and_removing_at_one_moment_agree_on_the_state(caller, other, project, groups, attempt):
    for group in groups:
        write_rule(caller, project, group_id=str(group.id))
    run = finish_run(caller, project)
    given = correct(caller, run, speaking_for(groups[0]))

    at_once(
        [
            partial(remove_correction, caller=caller, correction_id=str(given.id)),
            partial(correct, other, run, speaking_for(groups[1])),
        ]
    )

    assert state_of(run) == "open"
    assert list(Correction.objects.filter(unregistered_at=None).values_list("group", flat=True)) == [groups[1].id]


@pytest.mark.django_db(transaction=True)
def test_of_eight_dismissals_at_one_moment_one_counts(caller, project):
    write_rule(caller, project)
    run = finish_run(caller, project)

    def dismissed() -> bool:
        try:
            dismiss_item(caller=caller, project=project, run_id=str(run.run_id))
        except ConflictError:
            return False
        return True

    assert sorted(at_once([dismissed] * 8)) == [False] * 7 + [True]
