"""A maker's later correction of a run supersedes their earlier one (contract 7.4), also when made at once."""

from functools import partial

import pytest

from corrections.drafts import CorrectionDraft
from corrections.models import Correction, Run, RunCopy
from corrections.services.recording import record_correction
from corrections.vocabulary import LinkKind, SortedTo, Status, Verdict
from kindgi_site import clock
from kindgi_site.callers import Caller
from kindgi_site.workspaces.models import ServiceAccount
from kindgi_site.workspaces.services.keys import store_key
from tests.at_once import at_once
from tests.factories import (
    CorrectionFactory,
    CorrectorGroupFactory,
    RunCopyFactory,
    RunFactory,
    caller_behind,
    caller_of,
    person_with,
    service_with,
)

ALL_RIGHT = CorrectionDraft(answer=Verdict.RIGHT)


def record(caller: Caller, run: Run, **said: object) -> Correction:
    return record_correction(
        caller=caller, run_id=run.run_id, draft=CorrectionDraft(**{"answer": Verdict.RIGHT} | said)
    )


def through_a_key_of(service: ServiceAccount) -> Caller:
    return caller_behind(store_key(workspace=service.workspace, principal=service)[1])


def live() -> set[Correction]:
    return set(Correction.objects.filter(unregistered_at=None))


@pytest.fixture
def earlier(caller, run) -> Correction:
    """The caller's, with everything on it that happens to a correction later on."""
    copy = RunCopyFactory(project=run.project, run_id=run.run_id)
    at = clock.milliseconds(copy.captured_at)
    return CorrectionFactory(
        copy=copy,
        made_by_kind=caller.kind,
        made_by_id=caller.id,
        status=Status.WITH_OWNER,
        sorted_to=SortedTo.OWNER,
        sorted_by_kind="user",
        sorted_by_id="owner",
        sorted_reason="Ask her.",
        sorted_at=at,
        link_kind=LinkKind.PULL_REQUEST,
        link_target="https://example.org/1",
        fixed_how="pin",
        fixed_version="1.3.0",
        fixed_at=at,
        reopened_how="test-run",
        reopened_at=at,
        note_text="Soon.",
        note_by_kind="user",
        note_at=at,
    )


def test_the_earlier_one_is_removed_and_keeps_all_it_says(caller, run, earlier):
    before = Correction.objects.values().get()

    later = record(caller, run)

    assert Correction.objects.values().get(id=earlier.id) == before | {
        "status": "removed",
        "unregistered_at": later.created_at,
        "updated_at": later.created_at,
        "superseded_by_id": later.id,
    }


def test_nothing_is_carried_over_to_the_later_one(caller, run, earlier):
    superseding = record(caller, run)
    first_of_another_run = record(caller, RunFactory(project=run.project))

    one, other = (Correction.objects.filter(id=c.id).values().get() for c in (superseding, first_of_another_run))
    own = {"id", "copy_id", "run_id", "created_at", "updated_at", "fixed_at"}
    assert {name: one[name] for name in one.keys() - own} == {name: other[name] for name in other.keys() - own}
    assert superseding.is_live


SUPERSEDED, BOTH_LIVE = 1, 2
SECOND = {
    "says the same": ({}, SUPERSEDED),
    "says otherwise": ({"answer": None, "decisions": Verdict.RIGHT}, SUPERSEDED),
    "for an end user": ({"participant_id": "p"}, BOTH_LIVE),
}


@pytest.mark.parametrize(("said", "left"), SECOND.values(), ids=SECOND)
def test_a_second_correction_of_one_person(caller, run, said, left):
    first = record(caller, run)

    second = record(caller, run, **said)

    assert live() == ({second} if left == SUPERSEDED else {first, second})


@pytest.mark.parametrize(("participant", "left"), [("p", SUPERSEDED), ("q", BOTH_LIVE), (None, BOTH_LIVE)])
def test_a_second_correction_after_one_for_an_end_user(caller, run, participant, left):
    first = record(caller, run, participant_id="p")

    second = record(caller, run, participant_id=participant)

    assert live() == ({second} if left == SUPERSEDED else {first, second})


def test_the_group_does_not_keep_two_apart(caller, run):
    groups = CorrectorGroupFactory.create_batch(2, workspace=run.workspace)

    for group in groups:
        last = record(caller, run, corrector_group_id=str(group.id))

    assert live() == {last}


def test_two_keys_of_one_service_are_one_maker(project, run):
    service = service_with(project)

    record(through_a_key_of(service), run)
    second = record(through_a_key_of(service), run)

    assert live() == {second}
    assert (second.made_by_kind, second.made_by_id) == ("service", str(service.id))


def test_two_people_two_services_and_the_key_of_one_of_the_people(caller, reviewer, project, run):
    first = [
        record(caller_of(person_with(project)), run),
        record(through_a_key_of(service_with(project)), run),
        record(through_a_key_of(service_with(project)), run),
    ]
    hers = record(caller, run)
    assert live() == {hers, *first}

    through_her_key = record(caller_behind(store_key(workspace=run.workspace, principal=reviewer)[1]), run)

    assert live() == {through_her_key, *first}


def test_a_service_with_the_id_of_a_person_is_somebody_else(caller, run):
    copy = RunCopyFactory(project=run.project, run_id=run.run_id)
    namesake = CorrectionFactory(copy=copy, made_by_kind="service", made_by_id=caller.id)

    hers = record(caller, run)

    assert live() == {hers, namesake}


def test_a_removed_correction_is_not_superseded(caller, run):
    copy = RunCopyFactory(project=run.project, run_id=run.run_id)
    removed = CorrectionFactory(copy=copy, made_by_kind=caller.kind, made_by_id=caller.id, removed=True)

    later = record(caller, run)

    removed.refresh_from_db()
    assert (removed.superseded_by, live()) == (None, {later})


def test_corrections_of_other_runs_are_left_alone(caller, run, project):
    other = record(caller, RunFactory(project=project))
    this = record(caller, run)

    assert live() == {this, other}


@pytest.mark.django_db(transaction=True)
def test_eight_at_once_by_one_maker_are_a_chain_with_one_live_end(caller, run):
    recorded = at_once([partial(record, caller, run)] * 8)

    (last,) = live()
    stored = {correction.id: correction for correction in Correction.objects.all()}
    assert set(stored) == {correction.id for correction in recorded}
    heads = stored.keys() - {correction.superseded_by_id for correction in stored.values()}
    chain = [stored[heads.pop()]]
    while chain[-1].superseded_by_id is not None:
        chain.append(stored[chain[-1].superseded_by_id])
    assert (len(chain), chain[-1], heads) == (8, last, set())
    assert [correction.status for correction in chain] == ["removed"] * 7 + ["fixed"]
    assert RunCopy.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_eight_at_once_by_eight_makers_all_live(project, run):
    makers = [caller_of(person_with(project)) for _number in range(4)]
    makers += [through_a_key_of(service_with(project)) for _number in range(4)]

    recorded = at_once([partial(record, maker, run) for maker in makers])

    assert live() == set(recorded)
    assert {correction.made_by_id for correction in recorded} == {maker.id for maker in makers}
    assert RunCopy.objects.count() == 1
