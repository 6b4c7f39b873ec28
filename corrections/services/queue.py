"""The correcting queue: what puts runs into it, and what closes and opens its items (contract 18.3, 18.4)."""

from collections.abc import Collection, Sequence
from uuid import UUID

from django.db import transaction
from django.db.models import Case, Count, DateTimeField, Exists, OuterRef, Q, QuerySet, Value, When

from corrections.models import (
    CorrectingItem,
    CorrectingRule,
    CorrectingRuleVersion,
    Correction,
    RuleMatch,
    RuleSkip,
    Run,
)
from corrections.queries.correcting_rules import enabled_rules_of, seen
from corrections.queries.queue import item_in
from corrections.rules.drafts import refusal
from corrections.rules.queue import (
    ITEM_MOVES,
    MAX_REASON,
    ItemEvent,
    SeenRun,
    is_sampled,
    matches,
    may_be_queued,
    may_move,
    read_when,
)
from corrections.vocabulary import ItemState
from kindgi_site import clock
from kindgi_site.callers import Action, Caller
from kindgi_site.errors import Code, ConflictError
from kindgi_site.workspaces.models import Project
from kindgi_site.workspaces.permissions import check_project_action
from kindgi_site.workspaces.services.audit import record_write


def look_at_run(run: Run) -> None:
    """Let the project's rules look at a run that has just finished: once in its life, inside the write that ends it.

    One statement when no rule is enabled. A rule with a cap is held, so that runs finishing at one
    moment do not pass it together; rules without one are not.
    """
    look = seen(run)
    if not may_be_queued(look):
        return
    taking = [rule for rule in enabled_rules_of(run.project_id) if _takes(rule, look)]
    full = _full(run, taking)
    at = clock.now()
    if full:
        skipped = [rule for rule in taking if rule.rule_id in full]
        RuleSkip.objects.bulk_create(
            [
                RuleSkip(rule_id=rule.rule_id, version=rule, agent_version=_agent_version(look), at=at)
                for rule in skipped
            ]
        )
    wanting = [rule for rule in taking if rule.rule_id not in full]
    if wanting:
        _add_item(run, wanting)


def _takes(rule: CorrectingRuleVersion, look: SeenRun) -> bool:
    return matches(read_when(rule.when), look) and is_sampled(str(rule.rule_id), look.run_id, rule.sample)


def _full(run: Run, rules: Sequence[CorrectingRuleVersion]) -> set[UUID]:
    """The rules among these whose cap is reached; those with a cap stay held."""
    caps = {rule.rule_id: rule.max_open for rule in rules if rule.max_open is not None}
    if not caps:
        return set()
    held = CorrectingRule.objects.select_for_update(no_key=True).filter(id__in=caps).order_by("id")
    list(held.values_list("id", flat=True))
    # By way of the project's open items: of the rule's own there may be many more that are closed.
    waiting = RuleMatch.objects.filter(rule__in=caps, item__project=run.project_id, item__state=ItemState.OPEN)
    counts = waiting.values_list("rule").annotate(count=Count("id")).order_by()
    return {rule_id for rule_id, count in counts if count >= caps[rule_id]}


def _agent_version(look: SeenRun) -> str:
    return look.version if look.agent_id else ""


def _add_item(run: Run, rules: Sequence[CorrectingRuleVersion]) -> None:
    assert run.completed_at is not None  # a completed run has it
    item = CorrectingItem(
        workspace_id=run.workspace_id,
        project_id=run.project_id,
        run_id=run.run_id,
        subject_kind=run.subject_kind,
        subject_id=run.subject_id,
        subject_version=run.subject_version,
        run_status=run.status,
        completed_at=run.completed_at,
    )
    item.save(force_insert=True)
    RuleMatch.objects.bulk_create(
        [RuleMatch(item=item, rule_id=rule.rule_id, version=rule, group_id=rule.group_id) for rule in rules]
    )
    # A copy outlives its run: one that was corrected before may be handed in anew.
    settle_item(run.workspace_id, run.run_id)


def settle_item(workspace_id: UUID, run_id: UUID) -> None:
    """After a correction of a run was recorded: close its open item when every rule has what it wants, open a
    corrected one when a rule no longer has. One statement; the caller holds the run's row.
    """
    unmet = Exists(_unmet(workspace_id, run_id))
    to_close, to_open = Q(state=ItemState.OPEN) & ~unmet, Q(state=ItemState.CORRECTED) & unmet
    _item(workspace_id, run_id).filter(to_close | to_open).update(
        state=Case(When(state=ItemState.OPEN, then=Value(ItemState.CORRECTED)), default=Value(ItemState.OPEN)),
        closed_at=Case(When(state=ItemState.OPEN, then=Value(clock.now())), output_field=DateTimeField()),
    )


def reopen_unmet_item(workspace_id: UUID, run_id: UUID) -> None:
    """After a correction of a run was taken back: open its corrected item when a rule no longer has what it wants.

    The caller holds the run's row.
    """
    unmet = Exists(_unmet(workspace_id, run_id))
    corrected = _item(workspace_id, run_id).filter(unmet, state=ItemState.CORRECTED)
    corrected.update(state=ItemState.OPEN, closed_at=None)


def _item(workspace_id: UUID, run_id: UUID) -> QuerySet[CorrectingItem]:
    return CorrectingItem.objects.filter(workspace=workspace_id, run_id=run_id)


def _unmet(workspace_id: UUID, run_id: UUID) -> QuerySet[RuleMatch]:
    """The rules of an outer item that have no live correction of the kind they want."""
    live = Correction.objects.filter(workspace=workspace_id, run_id=run_id, unregistered_at__isnull=True)
    of_group = live.filter(group=OuterRef("group"))
    nobody, none_of_group = Q(group__isnull=True) & ~Exists(live), Q(group__isnull=False) & ~Exists(of_group)
    return RuleMatch.objects.filter(nobody | none_of_group, item=OuterRef("pk"))


@transaction.atomic
def dismiss_item(*, caller: Caller, project: Project, run_id: str, reason: str | None = None) -> CorrectingItem:
    """Take an open item out of the queue as not worth correcting; only that one can be reopened by hand."""
    if reason is not None and len(reason) > MAX_REASON:
        raise refusal(f"reason is longer than {MAX_REASON} characters.", "reason")
    return _moved(caller, project, run_id, ItemEvent.DISMISS, reason or "")


@transaction.atomic
def reopen_item(*, caller: Caller, project: Project, run_id: str) -> CorrectingItem:
    """Put a dismissed item back, whatever was recorded of its run meanwhile."""
    return _moved(caller, project, run_id, ItemEvent.REOPEN, "")


def _moved(caller: Caller, project: Project, run_id: str, event: ItemEvent, reason: str) -> CorrectingItem:
    check_project_action(caller, Action.WRITE, project.id)
    item = item_in(project, run_id, lock=True)
    if not may_move(item.state, event):
        raise ConflictError(
            Code.CORRECTING_ITEM_NOT_OPEN,
            f"This item is {item.state}; only one that is {ITEM_MOVES[event][0]} can be moved this way.",
            runId=str(item.run_id),
            state=item.state,
        )
    item.state = ITEM_MOVES[event][1]
    item.closed_at = None if item.state == ItemState.OPEN else clock.now()
    item.closed_by, item.reason = caller.principal, reason
    item.save(update_fields=["state", "closed_at", "closed_by", "reason"])
    changed = ["state", *(["reason"] if reason else [])]
    record_write(caller, f"correcting-queue.{event}", "correcting-item", item.run_id, changed)
    return item


def erase_items(workspace_id: UUID, run_ids: Collection[UUID]) -> int:
    """Close the items of erased runs for good, and clear what people wrote on them; returns how many there were."""
    items = CorrectingItem.objects.filter(workspace=workspace_id, run_id__in=run_ids)
    return items.exclude(state=ItemState.ERASED).update(state=ItemState.ERASED, closed_at=clock.now(), reason="")
