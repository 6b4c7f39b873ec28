"""The correcting queue as callers may see it (contract 18.4)."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, Exists, F, OuterRef, Prefetch, Q, QuerySet, Subquery

from corrections.models import CorrectingItem, Correction, CorrectorGroup, RuleMatch, Run
from corrections.queries.corrections import as_uuid
from corrections.rules.queue import ItemEvent, may_move
from corrections.vocabulary import ScopeKind
from kindgi_site.callers import Action, Caller
from kindgi_site.errors import Code, NotFoundError
from kindgi_site.workspaces.models import Project


@dataclass(frozen=True, slots=True)
class GroupCount:
    group_id: UUID | None
    count: int


@dataclass(frozen=True, slots=True)
class QueuedRun:
    """An item with all that a caller is shown beside it."""

    item: CorrectingItem
    matches: Sequence[RuleMatch]
    by_group: Sequence[GroupCount]
    may_write: bool

    @property
    def wanted_group_ids(self) -> list[str]:
        return list(dict.fromkeys(str(match.group_id) for match in self.matches if match.group_id is not None))

    @property
    def any_correction(self) -> bool:
        """Whether one of its rules takes anybody's correction."""
        return any(match.group_id is None for match in self.matches)

    @property
    def total(self) -> int:
        return sum(group.count for group in self.by_group)

    @property
    def can_dismiss(self) -> bool:
        return self.may_write and may_move(self.item.state, ItemEvent.DISMISS)

    @property
    def can_reopen(self) -> bool:
        return self.may_write and may_move(self.item.state, ItemEvent.REOPEN)


def items_of(project: Project) -> QuerySet[CorrectingItem]:
    """Every item of a project's queue, oldest first, with the rules that put it there."""
    matches = RuleMatch.objects.select_related("version").order_by("rule_id")
    items = CorrectingItem.objects.filter(project=project).order_by("added_at", "run_id")
    return items.prefetch_related(Prefetch("matches", matches, to_attr="listed_matches"))


def item_in(project: Project, run_id: str, *, lock: bool = False) -> CorrectingItem:
    """The item of one run; NotFoundError when the run is not in the project's queue."""
    key = as_uuid(run_id)
    items = items_of(project).select_for_update(of=("self",)) if lock else items_of(project)
    found = key and items.filter(run_id=key).first()
    if not found:
        raise NotFoundError(
            Code.CORRECTING_ITEM_NOT_FOUND, "This run is not in the project's correcting queue.", runId=run_id
        )
    return found


def queued_runs(caller: Caller, items: Sequence[CorrectingItem]) -> list[QueuedRun]:
    """Items of `items_of` with their corrections counted, in one statement for all of them."""
    live = Correction.objects.filter(workspace=caller.workspace_id, unregistered_at__isnull=True)
    rows = live.filter(run_id__in=[item.run_id for item in items]).values_list("run_id", "group")
    counts: dict[UUID, list[GroupCount]] = defaultdict(list)
    for run_id, group_id, count in rows.annotate(count=Count("id")).order_by(F("group").asc(nulls_last=True)):
        counts[run_id].append(GroupCount(group_id, count))
    may_write = {item.project_id: caller.may(Action.WRITE, item.project_id) for item in items}
    return [
        QueuedRun(item, item.listed_matches, counts[item.run_id], may_write[item.project_id])  # type: ignore[attr-defined]
        for item in items
    ]


def items_wanting(items: QuerySet[CorrectingItem], group_ids: Iterable[UUID]) -> QuerySet[CorrectingItem]:
    """The items that some rule queued for a correction of one of the groups."""
    return items.filter(Exists(RuleMatch.objects.filter(item=OuterRef("pk"), group__in=list(group_ids))))


def items_open_to(items: QuerySet[CorrectingItem], group_ids: Iterable[UUID]) -> QuerySet[CorrectingItem]:
    """The items to which a correction by anybody, or for one of the groups, is of use."""
    of_use = Q(group__isnull=True) | Q(group__in=list(group_ids))
    return items.filter(Exists(RuleMatch.objects.filter(of_use, item=OuterRef("pk"))))


def items_by_rule(items: QuerySet[CorrectingItem], rule_id: UUID) -> QuerySet[CorrectingItem]:
    return items.filter(Exists(RuleMatch.objects.filter(item=OuterRef("pk"), rule=rule_id)))


def live_groups_in(project: Project) -> QuerySet[CorrectorGroup]:
    """The groups that can be spoken for on some run of a project."""
    live = CorrectorGroup.objects.filter(workspace=project.workspace_id, unregistered_at__isnull=True)
    return live.filter(Q(scope_kind=ScopeKind.TENANT) | Q(project=project))


def item_state_of(run: Run) -> Subquery:
    """The state of a run's item, to be read beside something else of the run; NULL when it is not in the queue."""
    items = CorrectingItem.objects.filter(workspace=run.workspace_id, run_id=run.run_id)
    return Subquery(items.values("state")[:1])
