"""The status machine of section 8, row by row: as a table, and as services that move real corrections by it."""

from datetime import datetime
from itertools import product
from pathlib import Path

import pytest

from corrections.drafts import CorrectedItem, CorrectionDraft, ExpectedCall
from corrections.management.commands.write_status_machine import status_machine
from corrections.marks import Link, Party, Sorting
from corrections.models import AgentOwner, Correction, CorrectionEvent
from corrections.rules.transitions import Event, transition
from corrections.services.recording import record_correction
from corrections.services.status import link_correction
from corrections.vocabulary import LinkKind, SortedTo, Status, Verdict
from kindgi_site.errors import ConflictError, ForbiddenError, NotFoundError
from tests.factories import RunFactory
from tests.life import (
    ADDRESS,
    BY_HAND,
    FIXED,
    LINKED,
    LONG_AGO,
    MARK,
    NOTED,
    REOPENED,
    admin_of,
    by_server,
    correction_in,
    editor_of,
)

RIGHT, WRONG = Verdict.RIGHT, Verdict.WRONG
OPEN, BEING_FIXED, WITH_OWNER = Status.OPEN, Status.BEING_FIXED, Status.WITH_OWNER
IS_FIXED, WONT_FIX, REMOVED = Status.FIXED, Status.WONT_FIX, Status.REMOVED
IMPROVE, DEVELOPER, OWNER = SortedTo.IMPROVE, SortedTo.DEVELOPER, SortedTo.OWNER
CALL = (ExpectedCall("find_order"),)


# 8.1: row, what is said, status, sorted to.
SAVES = [
    ("A1", {"participant_id": "p", "answer": RIGHT}, OPEN, None),
    ("A1", {"participant_id": "p", "answer": WRONG, "why": "No."}, OPEN, None),
    ("A1", {"participant_id": "p", "decisions": WRONG, "should_call": CALL}, OPEN, None),
    ("A2", {"decisions": WRONG, "should_call": CALL}, WITH_OWNER, OWNER),
    ("A2", {"decisions": WRONG, "should_call": CALL, "answer": WRONG, "why": "No."}, WITH_OWNER, OWNER),
    ("A3", {"answer": WRONG, "why": "No."}, OPEN, IMPROVE),
    ("A3", {"decisions": RIGHT, "answer": WRONG, "why": "No."}, OPEN, IMPROVE),
    ("A3", {"answer": RIGHT, "items": (CorrectedItem("a", WRONG),)}, OPEN, IMPROVE),
    ("A4", {"decisions": RIGHT}, IS_FIXED, None),
    ("A4", {"decisions": RIGHT, "answer": RIGHT, "items": (CorrectedItem("a", RIGHT),)}, IS_FIXED, None),
]

# 8.2: row, from, event, to.
MOVES = [
    *(("B1", state, Event.SORT_TO_IMPROVE, OPEN) for state in (OPEN, WITH_OWNER, BEING_FIXED)),
    *(("B1", state, Event.SORT_TO_DEVELOPER, OPEN) for state in (OPEN, WITH_OWNER, BEING_FIXED)),
    *(("B2", state, Event.SORT_TO_OWNER, WITH_OWNER) for state in (OPEN, WITH_OWNER, BEING_FIXED)),
    ("C1", OPEN, Event.SET_BEING_FIXED, BEING_FIXED),
    ("C2", WITH_OWNER, Event.SET_BEING_FIXED, BEING_FIXED),
    *(("C3", state, Event.SET_WITH_OWNER, WITH_OWNER) for state in (OPEN, BEING_FIXED, WONT_FIX)),
    *(("C4", state, Event.SET_OPEN, "back") for state in (BEING_FIXED, WONT_FIX)),
    ("C6", IS_FIXED, Event.SET_OPEN, "back"),
    *(("C7", state, Event.SET_WONT_FIX, WONT_FIX) for state in (OPEN, BEING_FIXED)),
    ("C8", WITH_OWNER, Event.SET_WONT_FIX, WONT_FIX),
    ("C11", OPEN, Event.SET_OPEN, OPEN),
    ("C11", BEING_FIXED, Event.SET_BEING_FIXED, BEING_FIXED),
    ("C11", WITH_OWNER, Event.SET_WITH_OWNER, WITH_OWNER),
    ("C11", WONT_FIX, Event.SET_WONT_FIX, WONT_FIX),
    ("D1", OPEN, Event.LINK, BEING_FIXED),
    ("D2", WITH_OWNER, Event.LINK, BEING_FIXED),
    ("D3", BEING_FIXED, Event.LINK, BEING_FIXED),
    ("D5", BEING_FIXED, Event.UNLINK, "back"),
    *(("D6", state, Event.UNLINK, state) for state in (OPEN, WITH_OWNER, IS_FIXED, WONT_FIX)),
    *(("F1", state, Event.UNREGISTER, REMOVED) for state in Status if state != REMOVED),
]
CLEARING = {"C1", "C2", "C3", "C4", "C6", "C7", "C8", "C11", "D1", "D2"}
SORTING = {
    Event.SORT_TO_IMPROVE: IMPROVE,
    Event.SORT_TO_DEVELOPER: DEVELOPER,
    Event.SORT_TO_OWNER: OWNER,
}
OWNERS_ONLY = {("B1", WITH_OWNER), ("C2", WITH_OWNER), ("C8", WITH_OWNER), ("D2", WITH_OWNER)}
REFUSED = [
    (state, event)
    for state, event in product(Status, BY_HAND)
    if (state, event) not in {(start, what) for _row, start, what, _to in MOVES} and event != Event.UNREGISTER
]
WISHED = {
    Event.SORT_TO_IMPROVE: OPEN,
    Event.SORT_TO_DEVELOPER: OPEN,
    Event.SORT_TO_OWNER: WITH_OWNER,
    Event.SET_BEING_FIXED: BEING_FIXED,
    Event.SET_WITH_OWNER: WITH_OWNER,
    Event.SET_OPEN: OPEN,
    Event.SET_WONT_FIX: WONT_FIX,
    Event.LINK: BEING_FIXED,
    Event.UNLINK: OPEN,
}
# 8.2, what the server learns: row, from, whether reopened before, event, to or None where nothing happens.
LEARNED = [
    *(("E1", state, False, Event.GRADED_RIGHT, IS_FIXED) for state in (OPEN, BEING_FIXED, WITH_OWNER)),
    *(("E1", state, True, Event.GRADED_RIGHT, IS_FIXED) for state in (OPEN, WITH_OWNER)),
    ("E2", IS_FIXED, False, Event.GRADED_WRONG, "back"),
    *(("E3", state, True, Event.GRADED_WRONG, state) for state in (OPEN, WITH_OWNER)),
    *(("E4", state, False, event, None) for state in (WONT_FIX, REMOVED) for event in
      (Event.GRADED_RIGHT, Event.GRADED_WRONG)),
    ("E5", IS_FIXED, False, Event.GRADED_RIGHT, None),
    *(("E6", state, False, Event.GRADED_WRONG, None) for state in (OPEN, BEING_FIXED, WITH_OWNER)),
    *(("decision 3", state, False, Event.SHIPPED, IS_FIXED) for state in (OPEN, BEING_FIXED, WITH_OWNER)),
    *(("decision 3", state, False, Event.SHIPPED, None) for state in (IS_FIXED, WONT_FIX, REMOVED)),
]  # fmt: skip


def named(case: tuple) -> str:
    return " ".join(str(part) for part in case if part is not None and not isinstance(part, dict))


@pytest.mark.parametrize(("row", "said", "status", "sorted_to"), SAVES)
def test_where_a_correction_starts(caller, run, row, said, status, sorted_to):
    made = record_correction(caller=caller, run_id=run.run_id, draft=CorrectionDraft(**said))

    at = made.created_at
    made.refresh_from_db()
    assert (made.status, made.sorted_to, made.updated_at) == (status, sorted_to or "", at)
    assert made.sorting == (Sorting(Party("rule"), at) if sorted_to else None)
    assert (made.fixed_how, made.fixed_at, made.fixed_version, made.fixed_by_kind) == (
        ("recorded-right", at, "", "") if row == "A4" else ("", None, "", "")
    )
    assert not CorrectionEvent.objects.exists()


def test_the_first_row_that_matches_decides():
    assert [row for row, *_rest in SAVES] == sorted(row for row, *_rest in SAVES)


def sortings(row: str, state: Status) -> list[SortedTo | None]:
    """To whom a correction may be sorted before a move."""
    if state == WITH_OWNER:
        return [OWNER]
    return [*SortedTo] if row == "C1" or state == BEING_FIXED else [None, *SortedTo]


@pytest.mark.parametrize("case", [(*move, where) for move in MOVES for where in sortings(*move[:2])], ids=named)
def test_a_move_by_hand(project, case):
    row, state, event, to, sorted_to = case
    by = admin_of(project)
    marked = REOPENED if state in (OPEN, WITH_OWNER) else {}
    before = correction_in(project, state, sorted_to, **LINKED | NOTED | marked)

    after = BY_HAND[event](by, str(before.id))

    stored = Correction.objects.get()
    assert stored.status == after.status == (back_to(before) if to == "back" else to)
    assert stored.sorting == expected_sorting(row, event, before, by, stored.updated_at)
    assert stored.link == expected_link(event, before)
    kept = row not in CLEARING
    assert (stored.fixed_in, stored.reopened_in) == ((before.fixed_in, before.reopened_in) if kept else (None, None))
    assert stored.status_note == (before.status_note if keeps_note(row, before, stored) else None)
    assert stored.unregistered_at == (stored.updated_at if row == "F1" else None)
    assert stored.superseded_by is None
    said = ("decisions", "answer", "why", "items", "should_call", "made_by_id", "created_at")
    assert [getattr(stored, name) for name in said] == [getattr(before, name) for name in said]
    assert stored.updated_at > LONG_AGO
    step = CorrectionEvent.objects.get()
    assert (step.from_status, step.to_status, step.at) == (state, stored.status, stored.updated_at)
    assert (step.by, step.note, step.cause) == (Party("user", by.id), "", "")


def back_to(before: Correction) -> Status:
    return WITH_OWNER if before.sorted_to == OWNER else OPEN


def expected_sorting(row: str, event: Event, before: Correction, by, at: datetime) -> Sorting | None:
    me = Party("user", by.id)
    if row in {"B1", "B2", "C3"} or (row == "D1" and not before.sorted_to):
        return Sorting(me, at)
    return before.sorting


def expected_link(event: Event, before: Correction) -> Link | None:
    if event == Event.LINK:
        return Link(LinkKind.PULL_REQUEST, ADDRESS)
    return None if event == Event.UNLINK else before.link


def keeps_note(row: str, before: Correction, after: Correction) -> bool:
    """A status by hand without a note drops it, as does what changes the status; removing changes nothing else."""
    return row == "F1" or (row[0] != "C" and before.status == after.status)


@pytest.mark.parametrize("event", SORTING)
@pytest.mark.parametrize("state", [OPEN, BEING_FIXED, WITH_OWNER])
def test_sorting_says_to_whom(project, state, event):
    before = correction_in(project, state, IMPROVE)

    BY_HAND[event](admin_of(project), str(before.id))

    assert Correction.objects.get().sorted_to == SORTING[event]


@pytest.mark.parametrize(
    ("kind", "target", "sorted_to"),
    [
        (LinkKind.IMPROVE_RUN, "1", IMPROVE),
        (LinkKind.SUGGESTED_CHANGE, "1", IMPROVE),
        (LinkKind.PULL_REQUEST, ADDRESS, DEVELOPER),
    ],
)
def test_linking_what_is_unsorted_sorts_it_too(project, kind, target, sorted_to):
    before = correction_in(project, OPEN)
    link_correction(caller=editor_of(project), correction_id=str(before.id), kind=kind, target=target)

    assert Correction.objects.get().sorted_to == sorted_to


@pytest.mark.parametrize("case", MOVES, ids=named)
def test_leaving_the_owner_takes_the_owner(project, nothing_changes, case):
    row, state, event, _to = case
    if (row, state) not in OWNERS_ONLY:
        BY_HAND[event](editor_of(project), str(correction_in(project, state, IMPROVE).id))
        return
    before, other = correction_in(project, state), editor_of(project)
    AgentOwner.objects.create(project=project, agent_id="another", owner_kind="user", owner_id=other.id)
    with nothing_changes(), pytest.raises(ForbiddenError) as refused:
        BY_HAND[event](other, str(before.id))
    assert refused.value.code == "permission-denied"

    AgentOwner.objects.create(project=project, agent_id="support", owner_kind="user", owner_id=other.id)
    BY_HAND[event](other, str(before.id))


@pytest.mark.parametrize("case", REFUSED, ids=named)
def test_what_the_table_does_not_have_is_refused(project, nothing_changes, case):
    state, event = case
    before, by = correction_in(project, state, **LINKED), admin_of(project)
    with nothing_changes(), pytest.raises(ConflictError) as refused:
        BY_HAND[event](by, str(before.id))

    assert (refused.value.code, refused.value.details) == ("invalid-transition", {"from": state, "to": WISHED[event]})
    assert transition(state, event) is None


@pytest.mark.parametrize("event", [event for state, event in REFUSED if state == WITH_OWNER], ids=str)
def test_without_the_owner_the_guard_comes_before_any_conflict(project, nothing_changes, event):
    before, other = correction_in(project, WITH_OWNER), editor_of(project)
    with nothing_changes(), pytest.raises(ForbiddenError):
        BY_HAND[event](other, str(before.id))


def test_what_is_unsorted_cannot_be_being_fixed(project, nothing_changes):
    """C1's guard."""
    before, by = correction_in(project, OPEN), editor_of(project)
    with nothing_changes(), pytest.raises(ConflictError) as refused:
        BY_HAND[Event.SET_BEING_FIXED](by, str(before.id))

    assert refused.value.details == {"from": "open", "to": "being-fixed", "reason": "unsorted"}


def test_what_is_removed_is_not_there_to_be_removed(project, nothing_changes):
    before, by = correction_in(project, REMOVED), editor_of(project)
    with nothing_changes(), pytest.raises(NotFoundError):
        BY_HAND[Event.UNREGISTER](by, str(before.id))


@pytest.mark.parametrize("case", LEARNED, ids=named)
def test_what_the_server_learns(project, case):
    _row, state, reopened, event, to = case
    before = correction_in(project, state, IMPROVE, **LINKED | (REOPENED if reopened else {}) | NOTED)

    changed = by_server(event, Correction.objects.get())

    stored = Correction.objects.get()
    assert changed == (to is not None)
    assert stored.link == before.link
    assert stored.sorting == before.sorting
    if to is None:
        assert {field: getattr(stored, field) for field in vars(before) if field[0] != "_"} == {
            field: value for field, value in vars(before).items() if field[0] != "_"
        }
        assert not CorrectionEvent.objects.exists()
        return
    assert stored.status == (back_to(before) if to == "back" else to)
    assert (stored.fixed_in, stored.reopened_in) == ((MARK, None) if to == IS_FIXED else (before.fixed_in, MARK))
    assert stored.status_note is None
    step = CorrectionEvent.objects.get()
    assert (step.from_status, step.to_status, step.by, step.cause) == (state, stored.status, None, "live-change:1")


@pytest.mark.parametrize("sorted_to", [None, *SortedTo], ids=str)
def test_reopening_goes_back_to_the_owner_where_it_came_from(project, sorted_to):
    correction_in(project, IS_FIXED, sorted_to)

    by_server(Event.GRADED_WRONG, Correction.objects.get())

    assert Correction.objects.get().status == (WITH_OWNER if sorted_to == OWNER else OPEN)


@pytest.mark.parametrize("state", [state for state in Status if state != REMOVED], ids=str)
def test_superseding(caller, project, state):
    """F2."""
    run = RunFactory(project=project)
    first = record_correction(caller=caller, run_id=run.run_id, draft=CorrectionDraft(answer=WRONG, why="No."))
    values = {OPEN: {}, IS_FIXED: FIXED, WITH_OWNER: {"sorted_to": OWNER}}.get(state, {})
    Correction.objects.filter(id=first.id).update(status=state, **values)

    second = record_correction(caller=caller, run_id=run.run_id, draft=CorrectionDraft(answer=RIGHT))

    first.refresh_from_db()
    assert (first.status, first.superseded_by_id, first.unregistered_at) == (REMOVED, second.id, second.created_at)
    step = CorrectionEvent.objects.get()
    assert (step.action, step.from_status, step.to_status) == ("superseded", state, REMOVED)
    assert (step.by, step.cause) == (Party("user", caller.id), f"correction:{second.id}")


@pytest.mark.parametrize(("state", "event"), list(product(Status, Event)))
def test_the_table_has_these_rows_and_no_others(state, event):
    mine = {(start, what): row for row, start, what, _to in MOVES}
    mine |= {(start, what): row for row, start, _reopened, what, to in LEARNED if to}
    mine |= {(start, Event.SUPERSEDE): "F2" for start in Status if start != REMOVED}
    row = transition(state, event)

    assert (row.row if row else None) == mine.get((state, event))


def test_the_page_of_the_documentation_is_what_the_table_says():
    page = Path(__file__).resolve().parents[2] / "docs" / "status-machine.md"

    assert page.read_text() == status_machine(), "run manage.py write_status_machine"
