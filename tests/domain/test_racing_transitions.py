"""Two who move one correction at the same moment: one after the other, each judged on the state it finds (8.2)."""

from functools import partial
from itertools import pairwise

import pytest

from corrections.drafts import CorrectionDraft
from corrections.models import Correction, CorrectionEvent
from corrections.rules.transitions import Event, state_after, transition
from corrections.services.recording import record_correction
from corrections.vocabulary import SortedTo, Status, Verdict
from kindgi_site.errors import DomainError
from kindgi_site.workspaces.models import AuditEntry
from tests.at_once import at_once
from tests.factories import ProjectFactory, RunFactory
from tests.life import BY_HAND, admin_of, correction_in, editor_of

pytestmark = pytest.mark.django_db(transaction=True)
ROUNDS = 5


def tried(event, by, key):
    """The state it led to, or the code of its refusal."""
    try:
        return str(BY_HAND[event](by, key).status)
    except DomainError as refusal:
        return str(refusal.code)


def outcomes(start, first, second):
    """What both get when `first` comes first."""
    after_first = transition(start, first)
    middle = state_after(after_first, start, SortedTo.IMPROVE) if after_first else start
    after_second = transition(middle, second)
    last = state_after(after_second, middle, SortedTo.IMPROVE) if after_second else None
    return [str(middle) if after_first else "invalid-transition", str(last) if last else "invalid-transition"]


@pytest.mark.parametrize(
    ("start", "one", "other"),
    [
        (Status.OPEN, Event.SET_WONT_FIX, Event.SET_BEING_FIXED),
        (Status.OPEN, Event.LINK, Event.SET_WONT_FIX),
        (Status.OPEN, Event.SORT_TO_DEVELOPER, Event.LINK),
        (Status.WONT_FIX, Event.SET_OPEN, Event.SET_OPEN),
        (Status.BEING_FIXED, Event.SET_WONT_FIX, Event.SET_OPEN),
    ],
)
def test_each_is_judged_on_the_state_it_finds(start, one, other):
    project = ProjectFactory()
    people = [admin_of(project), admin_of(project)]
    for _round in range(ROUNDS):
        key = str(correction_in(project, start, SortedTo.IMPROVE).id)

        told = at_once([partial(tried, one, people[0], key), partial(tried, other, people[1], key)])

        possible = [outcomes(start, one, other), outcomes(start, other, one)[::-1]]
        assert told in possible
        steps = list(CorrectionEvent.objects.filter(correction=key).order_by("at", "id"))
        moved = [result for result in told if result != "invalid-transition"]
        # Setting the state it is in, as the second does where both ask for one, changes nothing.
        assert {step.to_status for step in steps} == set(moved)
        chained(steps, start, Correction.objects.get(id=key))
        assert AuditEntry.objects.filter(target_id=key).count() == len(steps)


def chained(steps, start, correction):
    """Whatever the order of their times, each step begins where some other ended, and all lead to where it stands."""
    states = [start, *(step.to_status for step in steps)]
    assert sorted([*(step.from_status for step in steps), correction.status]) == sorted(states)
    if all(earlier.at < later.at for earlier, later in pairwise(steps)):
        assert [step.from_status for step in steps] == states[:-1]
        assert correction.status == states[-1]


def test_removing_twice_at_once_is_removing_once():
    project = ProjectFactory()
    people = [editor_of(project) for _person in range(4)]
    for _round in range(ROUNDS):
        key = str(correction_in(project, Status.OPEN).id)

        told = at_once([partial(tried, Event.UNREGISTER, person, key) for person in people])

        assert sorted(told) == ["correction-not-found"] * 3 + ["removed"]
        assert CorrectionEvent.objects.filter(correction=key).count() == 1


def test_superseding_while_somebody_sets_a_status():
    project = ProjectFactory()
    maker, other = editor_of(project), editor_of(project)
    draft = CorrectionDraft(answer=Verdict.WRONG, why="No.")
    for _round in range(ROUNDS):
        run = RunFactory(project=project)
        first = record_correction(caller=maker, run_id=run.run_id, draft=draft)

        _second, told = at_once(
            [
                partial(record_correction, caller=maker, run_id=run.run_id, draft=draft),
                partial(tried, Event.SET_WONT_FIX, other, str(first.id)),
            ]
        )

        first.refresh_from_db()
        assert told in {"wont-fix", "invalid-transition"}
        assert (first.status, first.superseded_by_id is not None) == ("removed", True)
        assert Correction.objects.filter(run_id=run.run_id, unregistered_at=None).count() == 1
