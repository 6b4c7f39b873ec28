"""Whatever happens to a correction, in whatever order, the invariants of section 8 hold after every step."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from corrections.drafts import CorrectionDraft, ExpectedCall
from corrections.models import Correction, CorrectionEvent
from corrections.rules.transitions import Event
from corrections.services.erasure import erase_run
from corrections.services.recording import record_correction
from corrections.services.status import set_status, sort_correction
from corrections.vocabulary import SortedTo, Status, Verdict
from kindgi_site.callers import Caller, Role
from kindgi_site.errors import DomainError
from tests.factories import RunFactory, caller_of, person_with
from tests.life import BY_HAND, by_server

STARTS = (
    CorrectionDraft(answer=Verdict.WRONG, why="No.", participant_id="p"),
    CorrectionDraft(decisions=Verdict.WRONG, should_call=(ExpectedCall("find_order"),)),
    CorrectionDraft(answer=Verdict.WRONG, why="No."),
    CorrectionDraft(answer=Verdict.RIGHT),
)
LEARNED = (Event.GRADED_RIGHT, Event.GRADED_WRONG, Event.SHIPPED)
# What is final or rare comes once among many, so that most sequences go on for long.
STEPS = st.one_of(
    st.tuples(st.sampled_from([event for event in BY_HAND if event != Event.UNREGISTER] * 3), st.booleans()),
    st.tuples(st.sampled_from(LEARNED), st.just(True)),
    st.tuples(st.sampled_from(["note it", "give a reason", "erase", Event.UNREGISTER, Event.SUPERSEDE]), st.booleans()),
)
ABOVE_ALL = settings(
    max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None
)


class Life:
    """One correction, those who act on it, and what was seen of it last."""

    def __init__(self, editor: Caller, admin: Caller, project: Any, draft: CorrectionDraft) -> None:
        self.editor, self.admin, self.draft = editor, admin, draft
        self.run = RunFactory(project=project)
        self.id = record_correction(caller=editor, run_id=self.run.run_id, draft=draft).id
        self.seen = self.row()

    def row(self) -> dict[str, Any]:
        return Correction.objects.filter(id=self.id).values().get()

    def happens(self, event: Any, by_admin: bool) -> None:
        by = self.admin if by_admin else self.editor
        try:
            self._do(event, by)
        except DomainError:
            assert self.row() == self.seen
        self.check()

    def _do(self, event: Any, by: Caller) -> None:
        key = str(self.id)
        match event:
            case "note it":
                set_status(caller=by, correction_id=key, status=Status(self.seen["status"]), note="Noted.")
            case "give a reason":
                sort_correction(caller=by, correction_id=key, to=SortedTo.DEVELOPER, reason="Theirs.")
            case "erase":
                erase_run(caller=self.admin, run_id=self.run.run_id)
            case Event.SUPERSEDE:
                record_correction(caller=self.editor, run_id=self.run.run_id, draft=self.draft)
            case _ if event in LEARNED:
                by_server(event, Correction.objects.get(id=self.id))
            case _:
                BY_HAND[event](by, key)

    def check(self) -> None:
        before, now = self.seen, self.row()
        status = now["status"]
        assert (status == "removed") == (now["unregistered_at"] is not None)
        assert status != "with-owner" or now["sorted_to"] == "owner"
        assert status != "fixed" or now["fixed_at"] is not None
        assert (now["sorted_to"] == "") == (now["sorted_at"] is None)
        if now["reopened_at"] is not None:
            assert now["fixed_at"] is not None
            # Removing leaves all other fields as they are (7.8).
            assert status in {"open", "with-owner", "removed"}
        assert now["superseded_by_id"] is None or status == "removed"
        assert status != "being-fixed" or now["sorted_to"]
        changed = {name for name in now if now[name] != before[name]}
        assert not changed or now["updated_at"] >= before["updated_at"]
        if before["status"] == "removed":
            assert status == "removed"
            assert not changed or now["why"] == ""  # only an erasure still reaches it
        self._check_history(status)
        self.seen = now

    def _check_history(self, status: str) -> None:
        steps = list(CorrectionEvent.objects.filter(correction=self.id).order_by("at", "id"))
        assert all(earlier.to_status == later.from_status for earlier, later in pairwise(steps))
        assert not steps or steps[-1].to_status == status
        assert all(step.by is not None or step.cause for step in steps)


@pytest.fixture
def editor(project):
    return caller_of(person_with(project))


@pytest.fixture
def admin(project):
    return caller_of(person_with(project, Role.ADMIN, is_admin=True))


@ABOVE_ALL
@given(draft=st.sampled_from(STARTS), steps=st.lists(STEPS, min_size=1, max_size=15))
@example(draft=STARTS[3], steps=[(Event.GRADED_WRONG, True), (Event.SORT_TO_OWNER, False), (Event.LINK, True)])
@example(draft=STARTS[1], steps=[("note it", True), ("erase", True), (Event.UNREGISTER, False), ("erase", True)])
def test_the_invariants_hold_after_every_step(editor, admin, project, draft, steps):
    life = Life(editor, admin, project, draft)
    life.check()
    for event, by_admin in steps:
        life.happens(event, by_admin)
