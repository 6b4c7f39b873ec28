"""Corrections anywhere in their life, and everything that can happen to one by hand."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from corrections.marks import Party, VersionMark
from corrections.models import Correction
from corrections.rules.transitions import Event
from corrections.services.status import (
    Verdict,
    apply_verdicts,
    link_correction,
    remove_correction,
    set_status,
    sort_correction,
    unlink_correction,
)
from corrections.vocabulary import LinkKind, SortedTo, Status
from kindgi_site.callers import Caller, Role
from kindgi_site.workspaces.models import Project
from tests.factories import CorrectionFactory, RunCopyFactory, caller_of, person_with

LONG_AGO = datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)
ADDRESS = "https://example.org/pull/7"
FIXED = {"fixed_how": "latest", "fixed_version": "1.3.0", "fixed_at": LONG_AGO}
REOPENED = FIXED | {"reopened_how": "went-back", "reopened_version": "1.2.0", "reopened_at": LONG_AGO}
LINKED = {"link_kind": LinkKind.IMPROVE_RUN, "link_target": "improve-1"}
NOTED = {"note_text": "Wait.", "note_by_kind": "user", "note_by_id": "somebody", "note_at": LONG_AGO}
MARK = VersionMark("pin", LONG_AGO, "2.0.0", Party("user", "deployer"))

BY_HAND: dict[Event, Callable[[Caller, str], Correction]] = {
    Event.SORT_TO_IMPROVE: lambda by, key: sort_correction(caller=by, correction_id=key, to=SortedTo.IMPROVE),
    Event.SORT_TO_DEVELOPER: lambda by, key: sort_correction(caller=by, correction_id=key, to=SortedTo.DEVELOPER),
    Event.SORT_TO_OWNER: lambda by, key: sort_correction(caller=by, correction_id=key, to=SortedTo.OWNER),
    Event.SET_BEING_FIXED: lambda by, key: set_status(caller=by, correction_id=key, status=Status.BEING_FIXED),
    Event.SET_WITH_OWNER: lambda by, key: set_status(caller=by, correction_id=key, status=Status.WITH_OWNER),
    Event.SET_OPEN: lambda by, key: set_status(caller=by, correction_id=key, status=Status.OPEN),
    Event.SET_WONT_FIX: lambda by, key: set_status(caller=by, correction_id=key, status=Status.WONT_FIX),
    Event.LINK: lambda by, key: link_correction(
        caller=by, correction_id=key, kind=LinkKind.PULL_REQUEST, target=ADDRESS
    ),
    Event.UNLINK: lambda by, key: unlink_correction(caller=by, correction_id=key),
    Event.UNREGISTER: lambda by, key: remove_correction(caller=by, correction_id=key),
}


def correction_in(project: Project, status: Status, sorted_to: SortedTo | None = None, **more: Any) -> Correction:
    """A correction in some state with everything that state needs, unchanged for a long time."""
    sorted_to = SortedTo.OWNER if status == Status.WITH_OWNER else sorted_to
    said: dict[str, Any] = {"status": status, "created_at": LONG_AGO, "updated_at": LONG_AGO}
    if sorted_to:
        said |= {"sorted_to": sorted_to, "sorted_by_kind": "rule", "sorted_at": LONG_AGO}
    if status == Status.FIXED:
        said |= FIXED
    if status == Status.REMOVED:
        said |= {"unregistered_at": LONG_AGO}
    return CorrectionFactory(**{"copy": RunCopyFactory(project=project)} | said | more)


def by_server(event: Event, correction: Correction) -> bool:
    return bool(apply_verdicts([(correction, Verdict(event, MARK, "live-change:1"))]))


def editor_of(project: Project) -> Caller:
    return caller_of(person_with(project))


def admin_of(project: Project) -> Caller:
    return caller_of(person_with(project, Role.ADMIN))
