"""Move what is live of an agent, and what that does to corrections (contract 16; decision 3)."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from uuid import UUID

from django.db import transaction

from corrections.marks import Party, VersionMark
from corrections.models import Correction
from corrections.permissions import may_decide_as_owner
from corrections.queries.corrections import as_uuid
from corrections.rules.agents import check_agent_id
from corrections.rules.drafts import refusal
from corrections.rules.transitions import Event, transition
from corrections.services.erasure import hold_erasures
from corrections.services.status import Verdict, apply_verdicts
from corrections.vocabulary import Status, SubjectKind
from kindgi_site import clock
from kindgi_site.callers import Action, Caller
from kindgi_site.errors import Code, ConflictError
from kindgi_site.workspaces.permissions import check_project_action, project_denied
from kindgi_site.workspaces.queries.projects import project_readable_by
from kindgi_site.workspaces.services.audit import record_write
from testsets.drafts import LiveChangeDraft
from testsets.models import LiveChange, LiveVersion
from testsets.queries.test_runs import newest_gradings
from testsets.rules.grading import Outcome
from testsets.rules.versions import is_lower

PIN, UNPIN, LATEST, WENT_BACK = "pin", "unpin", "latest", "went-back"
ACTIONS = (PIN, UNPIN, LATEST)
MAX_FIXES = 500


@transaction.atomic
def change_live(*, caller: Caller, project_id: UUID, agent_id: str, draft: LiveChangeDraft) -> LiveChange:
    """Pin a version, take the pin away, or say which version is the latest.

    Holds the agent's live row, then those of the corrections it settles. When the live version
    changes: the corrections in `fixes` become fixed, and every other live one of the agent is
    settled by its newest grading at the new version. A refused fix leaves everything as it was.
    """
    _check_said(draft)
    check_agent_id(agent_id)
    project = project_readable_by(caller, project_id)
    check_project_action(caller, Action.WRITE if draft.action == LATEST else Action.ADMIN, project.id)
    if draft.fixes:
        hold_erasures(caller.workspace_id)  # it holds corrections in one order, and this does in two steps
    row = locked_live_row(project.id, agent_id)
    fixes = _locked_fixes(caller, project.id, agent_id, draft.fixes)
    before = row.version
    how = _moved(row, draft)
    change = _stored(caller, row, draft, how=how, before=before)
    if change.live:
        row.change = change
    row.save()
    if change.live and row.version:
        _ship(fixes, change)
        settle(project.id, agent_id, change, newest_gradings(project.id, agent_id, row.version), skip=fixes)
    record_write(caller, f"live-changes.{draft.action}", "agent", agent_id, ["version"])
    return change


def settle(
    project_id: UUID,
    agent_id: str,
    change: LiveChange,
    gradings: Mapping[UUID, Outcome],
    *,
    cause: str = "",
    skip: Iterable[Correction] = (),
) -> int:
    """Apply gradings of the live version to the live corrections of an agent; returns how many changed.

    `change` is what made the version live (16.2). Inside the caller's transaction; holds each correction's row.
    """
    skipped = {correction.id for correction in skip}
    corrections = Correction.objects.select_for_update().filter(
        id__in=[key for key in gradings if key not in skipped],
        project=project_id,
        subject_kind=SubjectKind.AGENT,
        subject_id=agent_id,
        unregistered_at__isnull=True,
    )
    cause = cause or f"live-change:{change.id}"
    right = Verdict(Event.GRADED_RIGHT, fixed_mark(change), cause)
    wrong = Verdict(Event.GRADED_WRONG, reopened_mark(change), cause)
    return apply_verdicts(
        (correction, right if gradings[correction.id] == Outcome.RIGHT else wrong)
        for correction in corrections.order_by("id")
        if gradings[correction.id] == Outcome.RIGHT or not _is_reopened_at(correction, change.to_version)
    )


def _is_reopened_at(correction: Correction, version: str) -> bool:
    """Wrong once more at the version it was reopened in: only another version replaces `reopenedIn` (E3)."""
    return correction.status != Status.FIXED and correction.reopened_version == version


def fixed_mark(change: LiveChange) -> VersionMark:
    """`pin` for a pin or going back; after an unpin the project follows Latest (16.3)."""
    how = PIN if change.how in (PIN, WENT_BACK) else LATEST
    return VersionMark(how, clock.now(), change.to_version, _by(change))


def reopened_mark(change: LiveChange) -> VersionMark:
    return VersionMark(change.how, clock.now(), change.to_version, _by(change))


def _by(change: LiveChange) -> Party | None:
    """Whoever pinned or unpinned; nobody in particular when Latest moved."""
    return None if change.how == LATEST else change.requested_by


def _check_said(draft: LiveChangeDraft) -> None:
    if (draft.action == UNPIN) != (draft.version is None):
        raise refusal("pin and latest need a version, and unpin takes none.", "version")
    if draft.at is not None and draft.at > clock.now():
        raise refusal("at must not be in the future.", "at")
    if len(draft.fixes) > MAX_FIXES:
        raise refusal(f"fixes has more than {MAX_FIXES} entries.", "fixes")


def locked_live_row(project_id: UUID, agent_id: str) -> LiveVersion:
    """The agent's live row, made when it has none: live changes and gradings of an agent come one after the other."""
    row, _created = LiveVersion.objects.get_or_create(project_id=project_id, agent_id=agent_id)
    return LiveVersion.objects.select_for_update().get(id=row.id)


def _locked_fixes(caller: Caller, project_id: UUID, agent_id: str, fixes: tuple[str, ...]) -> list[Correction]:
    """The corrections a change says it fixes: all there, all in a state that can become fixed."""
    wanted = {as_uuid(correction_id): correction_id for correction_id in fixes}
    corrections = Correction.objects.select_for_update().filter(
        id__in=[key for key in wanted if key is not None],
        project=project_id,
        subject_kind=SubjectKind.AGENT,
        subject_id=agent_id,
        unregistered_at__isnull=True,
    )
    found = {correction.id: correction for correction in corrections.order_by("id")}
    for key, correction_id in wanted.items():
        if key not in found:
            raise refusal(f"fixes names {correction_id!r}, which is no live correction of this agent here.", "fixes")
    _check_may_fix(caller, found.values())
    _check_can_be_fixed(found.values())
    return list(found.values())


def _check_may_fix(caller: Caller, corrections: Iterable[Correction]) -> None:
    """Before any of them is refused for its state (decision 14)."""
    for correction in corrections:
        row = transition(Status(correction.status), Event.SHIPPED)
        if row is not None and row.owner_guard and not may_decide_as_owner(caller, correction):
            reason = "Only the agent's owner or an administrator of the project decides on this."
            raise project_denied(Action.ADMIN, correction.project_id, reason)


def _check_can_be_fixed(corrections: Iterable[Correction]) -> None:
    for correction in corrections:
        if transition(Status(correction.status), Event.SHIPPED) is None:
            raise ConflictError(
                Code.INVALID_TRANSITION,
                f"A correction that is {correction.status} cannot become fixed this way.",
                **{"from": correction.status, "to": Status.FIXED, "correctionId": str(correction.id)},
            )


def _moved(row: LiveVersion, draft: LiveChangeDraft) -> str:
    """Move the row and say how it moved."""
    if draft.action == UNPIN:
        if not row.pinned:
            raise ConflictError(Code.NOT_PINNED, "No version of this agent is pinned here.")
        row.pinned = ""
        return UNPIN
    version = draft.version or ""
    if draft.action == LATEST:
        row.latest = version
        return LATEST
    went_back = bool(row.version) and is_lower(version, row.version)
    row.pinned = version
    return WENT_BACK if went_back else PIN


def _stored(caller: Caller, row: LiveVersion, draft: LiveChangeDraft, *, how: str, before: str) -> LiveChange:
    at: datetime = draft.at or clock.now()
    return LiveChange.objects.create(
        workspace_id=caller.workspace_id,
        project_id=row.project_id,
        agent_id=row.agent_id,
        action=draft.action,
        how=how,
        from_version=before,
        to_version=row.version,
        live=row.version != before,
        requested_by_kind=caller.kind,
        requested_by_id=caller.id,
        reason=draft.reason,
        created_at=at,
    )


def _ship(fixes: Iterable[Correction], change: LiveChange) -> None:
    verdict = Verdict(Event.SHIPPED, fixed_mark(change), f"live-change:{change.id}")
    apply_verdicts((correction, verdict) for correction in fixes)
