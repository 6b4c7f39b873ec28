"""Correcting rules as callers may see them: what they say, what they would take, what came of them (contract 18)."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Case, CharField, Count, Exists, F, OuterRef, Q, QuerySet, Subquery, Value, When

from corrections.drafts import RuleWhen
from corrections.models import CorrectingItem, CorrectingRule, CorrectingRuleVersion, Correction, RuleMatch, Run
from corrections.models.runs import AGENT_TURN_FLOW
from corrections.queries.corrections import as_uuid
from corrections.rules.queue import SeenRun, estimated, is_sampled, matches
from corrections.vocabulary import SubjectKind
from kindgi_site.callers import Action, Caller
from kindgi_site.errors import Code, NotFoundError
from kindgi_site.workspaces.models import Project
from kindgi_site.workspaces.permissions import check_project_action
from kindgi_site.workspaces.queries.projects import project_in_workspace

WEIGHT_WITHOUT_GROUP = 1.0


def project_for(caller: Caller, action: Action, project_id: UUID) -> Project:
    """ForbiddenError comes before NotFoundError `project-not-found` here, as section 18 wants it."""
    check_project_action(caller, action, project_id)
    return project_in_workspace(caller.workspace_id, project_id)


def live_rules_of(project: Project) -> QuerySet[CorrectingRuleVersion]:
    """The version that applies of each rule that was not stopped, oldest rule first, with its rule joined."""
    applying = CorrectingRuleVersion.objects.filter(number=F("rule__version"))
    live = applying.filter(rule__project=project, rule__unregistered_at__isnull=True)
    return live.select_related("rule").order_by("rule__created_at", "rule_id")


def enabled_rules_of(project_id: UUID) -> QuerySet[CorrectingRuleVersion]:
    """The versions that look at a project's runs now, in the order of their rules."""
    applying = CorrectingRuleVersion.objects.filter(number=F("rule__version"), enabled=True)
    return applying.filter(rule__project=project_id, rule__unregistered_at__isnull=True).order_by("rule_id")


def rule_in(project: Project, rule_id: str) -> CorrectingRuleVersion:
    """The version that applies of one rule, a stopped one too, with its rule joined; NotFoundError."""
    key = as_uuid(rule_id)
    applying = CorrectingRuleVersion.objects.filter(number=F("rule__version"), rule__project=project)
    found = key and applying.filter(rule=key).select_related("rule").first()
    if not found:
        raise rule_not_found(rule_id)
    return found


def rule_for_page(caller: Caller, rule_id: UUID, *, live_only: bool = False) -> CorrectingRuleVersion:
    """`rule_in` any project the caller may read, with group and project joined."""
    applying = CorrectingRuleVersion.objects.filter(number=F("rule__version"), rule__workspace=caller.workspace_id)
    readable = caller.readable_project_ids
    if readable is not None:
        applying = applying.filter(rule__project__in=readable)
    if live_only:
        applying = applying.filter(rule__unregistered_at__isnull=True)
    found = applying.filter(rule=rule_id).select_related("rule__project", "group").first()
    if found is None:
        raise rule_not_found(rule_id)
    return found


def versions_in(project: Project, rule_id: str) -> QuerySet[CorrectingRuleVersion]:
    """All that one rule ever said, with the rule joined; NotFoundError."""
    key = as_uuid(rule_id)
    if key is None or not CorrectingRule.objects.filter(project=project, id=key).exists():
        raise rule_not_found(rule_id)
    return CorrectingRuleVersion.objects.filter(rule=key).select_related("rule").order_by("-number")


def rule_not_found(rule_id: object) -> NotFoundError:
    return NotFoundError(Code.CORRECTING_RULE_NOT_FOUND, "There is no such correcting rule.", ruleId=str(rule_id))


def seen(run: Run) -> SeenRun:
    """A run as the rules look at it."""
    return SeenRun(
        run_id=str(run.run_id),
        agent_id=run.subject_id if run.is_agent_turn else "",
        flow_id=AGENT_TURN_FLOW if run.is_agent_turn else run.subject_id,
        version=run.subject_version,
        via=run.via,
        status=run.status,
        dry_run=run.dry_run,
        is_top_level=not run.parent_run_id,
        is_replay=bool(run.replay_of),
    )


def newest_runs_of(project: Project, last: int) -> list[SeenRun]:
    """The project's newest top-level runs that are no replays, in one statement."""
    runs = Run.objects.filter(project=project, parent_run_id="", replay_of="").order_by("-created_at", "-id")
    read = ("run_id", "subject_kind", "subject_id", "subject_version", "via", "status", "dry_run")
    return [seen(run) for run in runs.only(*read, "parent_run_id", "replay_of")[:last]]


@dataclass(frozen=True, slots=True)
class Preview:
    considered: int
    matched: int


def preview_of(project: Project, when: RuleWhen, sample: float, last: int, rule_id: UUID | None) -> Preview:
    """What a rule would have taken of the newest `last` runs, its cap left aside.

    Which of them a sample takes depends on the rule's id; without one it is an estimate.
    """
    runs = newest_runs_of(project, last)
    matching = [run for run in runs if matches(when, run)]
    if rule_id is None:
        return Preview(len(runs), estimated(len(matching), sample))
    return Preview(len(runs), sum(is_sampled(str(rule_id), run.run_id, sample) for run in matching))


@dataclass(slots=True)
class GroupTally:
    """Corrections of one corrector group; `yes` are those that found nothing wrong."""

    group_id: UUID | None
    corrections: int
    yes: int


@dataclass(slots=True)
class Outcome:
    """What came of one version of a rule for one version of an agent; '' for flows."""

    rule_version: int
    agent_version: str
    open: int = 0
    corrected: int = 0
    dismissed: int = 0
    erased: int = 0
    skipped_by_cap: int = 0
    runs_with_corrections: int = 0
    by_group: list[GroupTally] = field(default_factory=list)
    yes_weight: float = 0.0
    total_weight: float = 0.0

    @property
    def added(self) -> int:
        return self.open + self.corrected + self.dismissed + self.erased

    @property
    def corrections(self) -> int:
        return sum(tally.corrections for tally in self.by_group)

    @property
    def yes_share(self) -> float | None:
        """By the weights the groups have now; None when nothing weighs anything."""
        return self.yes_weight / self.total_weight if self.total_weight else None


_AGENT_VERSION = {
    "agent_version": Case(
        When(subject_kind=SubjectKind.AGENT, then=F("subject_version")), default=Value(""), output_field=CharField()
    )
}


def outcomes_of(rule: CorrectingRule, since: datetime | None) -> list[Outcome]:
    """By version of the rule, newest first, and version of the agent; four statements, however much there is."""
    found: dict[tuple[int, str], Outcome] = {}

    def outcome(row: dict[str, Any]) -> Outcome:
        key = (row["rule_version"], row["agent_version"])
        return found.setdefault(key, Outcome(*key))

    for row in _states(rule, since):
        setattr(outcome(row), row["state"], row["count"])  # each state has a field of its name
    for row in _skips(rule, since):
        outcome(row).skipped_by_cap = row["count"]
    for row in _corrections(rule, since):
        _add(outcome(row), row)
    for row in _corrected_runs(rule, since):
        outcome(row).runs_with_corrections = row["count"]
    return sorted(found.values(), key=lambda one: (-one.rule_version, one.agent_version))


def _add(outcome: Outcome, row: dict[str, Any]) -> None:
    weight = WEIGHT_WITHOUT_GROUP if row["group"] is None else row["group__weight"]
    outcome.by_group.append(GroupTally(row["group"], row["count"], row["yes"]))
    outcome.yes_weight += weight * row["yes"]
    outcome.total_weight += weight * row["count"]


def _items(rule: CorrectingRule, since: datetime | None) -> QuerySet[CorrectingItem]:
    items = CorrectingItem.objects.filter(matches__rule=rule)
    return items if since is None else items.filter(added_at__gte=since)


def _states(rule: CorrectingRule, since: datetime | None) -> Any:
    items = _items(rule, since).annotate(**_AGENT_VERSION, rule_version=F("matches__version__number"))
    return items.values("rule_version", "agent_version", "state").annotate(count=Count("id")).order_by()


def _skips(rule: CorrectingRule, since: datetime | None) -> Any:
    skips = rule.skips.annotate(rule_version=F("version__number"))
    if since is not None:
        skips = skips.filter(at__gte=since)
    return skips.values("rule_version", "agent_version").annotate(count=Count("id")).order_by()


def _live_corrections(rule: CorrectingRule, since: datetime | None) -> Any:
    """Of the runs the rule queued; a rule stands in an item once, so each correction is there once."""
    match = RuleMatch.objects.filter(rule=rule, item__workspace=rule.workspace_id, item__run_id=OuterRef("run_id"))
    live = Correction.objects.filter(workspace=rule.workspace_id, unregistered_at__isnull=True)
    queued = live.filter(run_id__in=_items(rule, since).values("run_id"))
    return queued.annotate(**_AGENT_VERSION, rule_version=Subquery(match.values("version__number")[:1]))


def _corrections(rule: CorrectingRule, since: datetime | None) -> Any:
    rows = _live_corrections(rule, since).values("rule_version", "agent_version", "group", "group__weight")
    counted = rows.annotate(count=Count("id"), yes=Count("id", filter=Q(has_wrong=False)))
    return counted.order_by(F("group").asc(nulls_last=True))


def _corrected_runs(rule: CorrectingRule, since: datetime | None) -> Any:
    live = Correction.objects.filter(workspace=rule.workspace_id, run_id=OuterRef("run_id"))
    items = _items(rule, since).filter(Exists(live.filter(unregistered_at__isnull=True)))
    rows = items.annotate(**_AGENT_VERSION, rule_version=F("matches__version__number"))
    return rows.values("rule_version", "agent_version").annotate(count=Count("id")).order_by()
