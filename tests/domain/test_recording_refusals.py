"""The ordered checks of contract 7.2: each refuses before the next is looked at, and nothing is stored."""

from collections.abc import Callable
from types import SimpleNamespace
from uuid import UUID

import pytest
from django.utils import timezone

from corrections.drafts import CorrectedItem, CorrectionDraft
from corrections.models import Run
from corrections.services.recording import record_correction
from corrections.vocabulary import RunStatus, Verdict
from kindgi_site.callers import Role
from kindgi_site.errors import DomainError, ForbiddenError, NotFoundError
from kindgi_site.workspaces.services.keys import store_key
from tests.factories import (
    CorrectorGroupFactory,
    ProjectFactory,
    RunCopyFactory,
    RunFactory,
    caller_behind,
    caller_of,
    person_with,
)

ALL_RIGHT = CorrectionDraft(answer=Verdict.RIGHT)
SOMEBODY = "11111111-2222-4333-8444-555555555555"


class Ask(SimpleNamespace):
    """A correction about to be asked for, with a group and a pointer, that nothing is wrong with."""

    def correction(self) -> None:
        item = CorrectedItem("k", Verdict.RIGHT, pointer=self.pointer)
        draft = CorrectionDraft(answer=self.answer, items=(item,), corrector_group_id=str(self.group.id))
        record_correction(caller=self.caller, run_id=self.run_id, draft=draft)


@pytest.fixture
def ask(caller, run) -> Ask:
    group = CorrectorGroupFactory(workspace=run.workspace)
    return Ask(caller=caller, run=run, run_id=run.run_id, group=group, answer=Verdict.RIGHT, pointer="/content")


def wrong_without_words(ask: Ask) -> None:
    ask.answer = Verdict.WRONG


def unknown_run(ask: Ask) -> None:
    ask.run_id = UUID(SOMEBODY)


def viewer(ask: Ask) -> None:
    ask.caller = caller_of(person_with(ask.run.project, Role.VIEWER))


def erased(ask: Ask) -> None:
    Run.objects.update(erased_at=timezone.now())


def failed(ask: Ask) -> None:
    Run.objects.update(status=RunStatus.FAILED)


def retired_group(ask: Ask) -> None:
    ask.group.unregistered_at = timezone.now()
    ask.group.save()


def restricted_group(ask: Ask) -> None:
    ask.group.principal_ids = [SOMEBODY]
    ask.group.save()


def pointer_nowhere(ask: Ask) -> None:
    ask.pointer = "/nowhere"


def of_project(ask: Ask, reason: str) -> dict:
    return {"action": "write", "resource": {"type": "project", "id": str(ask.run.project_id)}, "reason": reason}


CHECKS: list[tuple[Callable[[Ask], None], str, Callable[[Ask], dict]]] = [
    (wrong_without_words, "bad-input", lambda ask: {"field": "answer"}),
    (unknown_run, "run-not-found", lambda ask: {"runId": SOMEBODY}),
    (viewer, "permission-denied", lambda ask: of_project(ask, "You need the write permission on this project.")),
    (erased, "run-erased", lambda ask: {"runId": str(ask.run_id)}),
    (failed, "run-not-finished", lambda ask: {"runId": str(ask.run_id), "status": "failed"}),
    (retired_group, "corrector-group-not-applicable", lambda ask: {"correctorGroupId": str(ask.group.id)}),
    (
        restricted_group,
        "corrector-group-not-allowed",
        lambda ask: of_project(ask, "The caller is not among those who may speak for this group."),
    ),
    (pointer_nowhere, "item-not-found", lambda ask: {"key": "k", "pointer": "/nowhere"}),
]
NAMES = [code for _fault, code, _details in CHECKS]


def refusal_of(work: Callable[[], object]) -> DomainError:
    with pytest.raises(DomainError) as caught:
        work()
    return caught.value


def test_with_nothing_wrong_it_is_recorded(ask):
    ask.correction()


@pytest.mark.parametrize(("fault", "code", "details"), CHECKS, ids=NAMES)
def test_each_check_refuses_alone(ask, nothing_changes, fault, code, details):
    fault(ask)

    with nothing_changes():
        refused = refusal_of(ask.correction)

    assert (refused.code, refused.details) == (code, details(ask))


@pytest.mark.parametrize("first", range(len(CHECKS)), ids=NAMES)
def test_each_check_comes_before_all_later_ones(ask, nothing_changes, first):
    for fault, _code, _details in CHECKS[first:]:
        fault(ask)

    with nothing_changes():
        refused = refusal_of(ask.correction)

    assert refused.code == CHECKS[first][1]


@pytest.mark.parametrize("first", range(len(CHECKS) - 1), ids=NAMES[:-1])
def test_each_check_comes_before_the_next(ask, nothing_changes, first):
    CHECKS[first + 1][0](ask)
    CHECKS[first][0](ask)

    with nothing_changes():
        refused = refusal_of(ask.correction)

    assert refused.code == CHECKS[first][1]


@pytest.mark.parametrize("status", [status for status in RunStatus if status != RunStatus.COMPLETED])
def test_only_a_completed_run_can_be_corrected(caller, run, nothing_changes, status):
    Run.objects.update(status=status)

    with nothing_changes():
        refused = refusal_of(lambda: record_correction(caller=caller, run_id=run.run_id, draft=ALL_RIGHT))

    assert (refused.code, refused.details["status"]) == ("run-not-finished", status)


def test_a_purged_run_that_nobody_corrected_cannot_be(caller, run, nothing_changes):
    Run.objects.update(purged_at=timezone.now())

    with nothing_changes():
        refused = refusal_of(lambda: record_correction(caller=caller, run_id=run.run_id, draft=ALL_RIGHT))

    assert (refused.code, refused.details["reason"]) == ("run-not-finished", "purged")


def test_an_erased_run_cannot_be_corrected_although_it_has_a_copy(caller, run, nothing_changes):
    RunCopyFactory(project=run.project, run_id=run.run_id)
    Run.objects.update(erased_at=timezone.now())

    with nothing_changes():
        refused = refusal_of(lambda: record_correction(caller=caller, run_id=run.run_id, draft=ALL_RIGHT))

    assert refused.code == "run-erased"


@pytest.mark.parametrize("run_id", ["", "run", "0", "not-a-uuid-at-all-but-36-characters!", "\x00", "é" * 40])
def test_an_id_that_is_no_uuid_is_just_not_found(caller, run, nothing_changes, run_id):
    with nothing_changes(), pytest.raises(NotFoundError) as caught:
        record_correction(caller=caller, run_id=run_id, draft=ALL_RIGHT)

    assert caught.value.details == {"runId": run_id}


def test_a_run_of_another_workspace_does_not_exist(caller, nothing_changes):
    elsewhere = RunFactory()

    with nothing_changes(), pytest.raises(NotFoundError):
        record_correction(caller=caller, run_id=elsewhere.run_id, draft=ALL_RIGHT)


@pytest.mark.parametrize("role", [None, Role.VIEWER])
def test_whoever_may_not_write_is_denied_whether_or_not_they_may_read(run, nothing_changes, role):
    stranger = caller_of(person_with(run.project, role))

    with nothing_changes(), pytest.raises(ForbiddenError):
        record_correction(caller=stranger, run_id=run.run_id, draft=ALL_RIGHT)


def test_a_key_limited_to_another_project_is_denied(reviewer, run, nothing_changes):
    other = ProjectFactory(workspace=run.workspace)
    _key, text = store_key(workspace=run.workspace, principal=reviewer, project=other)

    with nothing_changes(), pytest.raises(ForbiddenError):
        record_correction(caller=caller_behind(text), run_id=run.run_id, draft=ALL_RIGHT)


def test_the_first_item_that_leads_nowhere_is_the_one_told(caller, run, nothing_changes):
    pointers = ["/content", None, "/sources/2", "/nowhere"]
    items = tuple(CorrectedItem(f"k{n}", Verdict.RIGHT, pointer=pointer) for n, pointer in enumerate(pointers))

    with nothing_changes():
        refused = refusal_of(
            lambda: record_correction(caller=caller, run_id=run.run_id, draft=CorrectionDraft(items=items))
        )

    assert (refused.code, refused.details) == ("item-not-found", {"key": "k2", "pointer": "/sources/2"})


@pytest.mark.parametrize("group_id", ["group", SOMEBODY, "\x00"])
def test_an_unknown_group_is_not_applicable(caller, run, nothing_changes, group_id):
    draft = CorrectionDraft(answer=Verdict.RIGHT, corrector_group_id=group_id)

    with nothing_changes():
        refused = refusal_of(lambda: record_correction(caller=caller, run_id=run.run_id, draft=draft))

    assert (refused.code, refused.details) == ("corrector-group-not-applicable", {"correctorGroupId": group_id})
