"""Query parameters that narrow lists, for /v1 and for pages."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import django_filters
from django import forms
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from corrections.drafts import RuleWhen
from corrections.models import CorrectingItem, Correction, Run
from corrections.models.runs import AGENT_TURN_FLOW
from corrections.permissions import may_speak_for
from corrections.queries.corrections import as_uuid
from corrections.queries.queue import items_by_rule, items_of, items_open_to, items_wanting, live_groups_in
from corrections.rules.queue import check_sample, checked_when
from corrections.vocabulary import ItemState, LinkKind, RunStatus, SortedTo, Status, SubjectKind, Verdict
from kindgi_site.api.bodies import moment_of, uuid_of
from kindgi_site.callers import Caller
from kindgi_site.errors import Code, InvalidError
from kindgi_site.workspaces.models import Project

DEFAULT_LAST = 100
MAX_LAST = 500
_DECIMAL = re.compile(r"[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?")
_DIGITS = re.compile(r"[0-9]{1,9}")


class MomentField(forms.CharField):
    """A time of contract 4.4."""

    wire_type = datetime  # for the OpenAPI document

    def clean(self, value: Any) -> datetime | None:
        text = super().clean(value)
        if not text:
            return None
        moment = moment_of(text)
        if moment is None:
            raise ValidationError(_("This must be a time with its zone, such as 2026-03-01T09:30:00Z."))
        return moment


class MomentFilter(django_filters.Filter):
    field_class = MomentField


class WordsField(forms.MultipleChoiceField):
    """One or more words, repeated or comma-separated."""

    def to_python(self, value: Any) -> list[str]:
        entries = [value] if isinstance(value, str) else value or []
        return [word for entry in entries for word in str(entry).split(",") if word]


class WordsFilter(django_filters.Filter):
    field_class = WordsField

    def filter(self, queryset: QuerySet[Any], value: list[str]) -> QuerySet[Any]:
        return queryset.filter(**{f"{self.field_name}__in": value}) if value else queryset


class ExactTextFilter(django_filters.CharFilter):
    """Kept as sent: a space is part of an id."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, strip=False, **options)


class TrueFalseFilter(django_filters.ChoiceFilter):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, choices=[("true", "true"), ("false", "false")], **options)


class WireFilterSet(django_filters.FilterSet):
    """Filters whose first problem is the contract's refusal; parameters it does not know are ignored."""

    def narrowed(self) -> QuerySet[Any]:
        """The filtered queryset; InvalidError `bad-input` for the first parameter that means nothing."""
        if not self.form.is_valid():
            name, problems = next(iter(self.form.errors.as_data().items()))
            said = next(iter(problems[0].messages))
            raise InvalidError(Code.BAD_INPUT, f"{name}: {said}" if name != "__all__" else said, field=name)
        assert self.queryset is not None
        return self.filter_queryset(self.queryset)

    def said(self, name: str) -> Any:
        return self.form.cleaned_data.get(name)

    def needs(self, name: str, other: str) -> None:
        if self.said(name) and not self.said(other):
            raise InvalidError(Code.BAD_INPUT, f"{name} needs {other}.", field=name)


class RunFilter(WireFilterSet):
    """The filters of `GET /v1/runs` (contract 11.3)."""

    agentId = ExactTextFilter(method="of_agent")
    agentVersion = ExactTextFilter(field_name="subject_version")
    flowId = ExactTextFilter(method="of_flow")
    flowVersion = ExactTextFilter(field_name="subject_version")
    status = WordsFilter(field_name="status", choices=[(word.value, word.value) for word in RunStatus])
    createdAfter = MomentFilter(field_name="created_at", lookup_expr="gt")
    createdBefore = MomentFilter(field_name="created_at", lookup_expr="lt")
    parentRunId = ExactTextFilter(method="of_parent")
    topLevel = TrueFalseFilter(method="top_level")
    replays = django_filters.ChoiceFilter(
        choices=[(word, word) for word in ("exclude", "include", "only")], method="passed"
    )
    testRunId = ExactTextFilter(field_name="test_run_id")

    class Meta:
        model = Run
        fields: list[str] = []

    def filter_queryset(self, queryset: QuerySet[Run]) -> QuerySet[Run]:
        self.needs("agentVersion", "agentId")
        self.needs("flowVersion", "flowId")
        if self.said("topLevel") == "true" and self.said("parentRunId"):
            raise InvalidError(Code.BAD_INPUT, "topLevel=true does not go with parentRunId.", field="topLevel")
        return self._without_replays(super().filter_queryset(queryset))

    def _without_replays(self, runs: QuerySet[Run]) -> QuerySet[Run]:
        of_test_run = bool(self.said("testRunId"))
        wanted = self.said("replays") or ("include" if of_test_run else "exclude")
        if wanted == "exclude" and of_test_run:
            raise InvalidError(Code.BAD_INPUT, "replays=exclude does not go with testRunId.", field="replays")
        if wanted == "include":
            return runs
        return runs.filter(replay_of="") if wanted == "exclude" else runs.exclude(replay_of="")

    def of_agent(self, runs: QuerySet[Run], _name: str, agent_id: str) -> QuerySet[Run]:
        return runs.filter(subject_kind=SubjectKind.AGENT, subject_id=agent_id)

    def of_flow(self, runs: QuerySet[Run], _name: str, flow_id: str) -> QuerySet[Run]:
        if flow_id == AGENT_TURN_FLOW:
            return runs.filter(subject_kind=SubjectKind.AGENT)
        return runs.filter(subject_kind=SubjectKind.FLOW, subject_id=flow_id)

    def of_parent(self, runs: QuerySet[Run], _name: str, run_id: str) -> QuerySet[Run]:
        parent = uuid_of(run_id)
        if parent is None:
            raise InvalidError(Code.BAD_INPUT, "parentRunId must be a UUID.", field="parentRunId")
        return runs.filter(parent_run_id=str(parent))

    def top_level(self, runs: QuerySet[Run], _name: str, value: str) -> QuerySet[Run]:
        return runs.filter(parent_run_id="") if value == "true" else runs

    def passed(self, runs: QuerySet[Run], _name: str, _value: str) -> QuerySet[Run]:
        return runs


def _choices(*words: str) -> list[tuple[str, str]]:
    return [(word, word) for word in words]


class CorrectionFilter(WireFilterSet):
    """The filters of `GET /v1/corrections` (contract 7.7). Without `status`, live corrections only."""

    runId = ExactTextFilter(method="of_run")
    agentId = ExactTextFilter(method="of_agent")
    agentVersion = ExactTextFilter(field_name="subject_version")
    flowId = ExactTextFilter(method="of_flow")
    correctorGroupId = ExactTextFilter(method="of_group")
    participantId = ExactTextFilter(field_name="participant_id")
    decisions = django_filters.ChoiceFilter(choices=_choices(*Verdict))
    answer = django_filters.ChoiceFilter(choices=_choices(*Verdict))
    verdict = django_filters.ChoiceFilter(choices=_choices(*Verdict), method="with_verdict")
    status = WordsFilter(field_name="status", choices=_choices(*Status))
    sortedTo = WordsFilter(field_name="sorted_to", choices=_choices(*SortedTo, "none"))
    link = ExactTextFilter(method="with_link")
    expert = TrueFalseFilter(method="of_experts")

    class Meta:
        model = Correction
        fields: list[str] = []

    def filter_queryset(self, queryset: QuerySet[Correction]) -> QuerySet[Correction]:
        self.needs("agentVersion", "agentId")
        if Status.REMOVED not in (self.said("status") or []):
            queryset = queryset.filter(unregistered_at__isnull=True)
        if "none" in (self.said("sortedTo") or []):
            self.form.cleaned_data["sortedTo"] = [word.replace("none", "") for word in self.said("sortedTo")]
        narrowed: QuerySet[Correction] = super().filter_queryset(queryset)
        return narrowed

    def of_run(self, corrections: QuerySet[Correction], _name: str, run_id: str) -> QuerySet[Correction]:
        return corrections.filter(run_id=key) if (key := as_uuid(run_id)) else corrections.none()

    def of_group(self, corrections: QuerySet[Correction], _name: str, group_id: str) -> QuerySet[Correction]:
        return corrections.filter(group=key) if (key := as_uuid(group_id)) else corrections.none()

    def of_agent(self, corrections: QuerySet[Correction], _name: str, agent_id: str) -> QuerySet[Correction]:
        return corrections.filter(subject_kind=SubjectKind.AGENT, subject_id=agent_id)

    def of_flow(self, corrections: QuerySet[Correction], _name: str, flow_id: str) -> QuerySet[Correction]:
        return corrections.filter(subject_kind=SubjectKind.FLOW, subject_id=flow_id)

    def with_verdict(self, corrections: QuerySet[Correction], _name: str, verdict: str) -> QuerySet[Correction]:
        return corrections.filter(has_right=True) if verdict == Verdict.RIGHT else corrections.filter(has_wrong=True)

    def with_link(self, corrections: QuerySet[Correction], _name: str, link: str) -> QuerySet[Correction]:
        kind, _, target = link.partition(":")
        if kind not in set(LinkKind) or not target:
            raise InvalidError(Code.BAD_INPUT, "link is a kind, a colon and an id or address.", field="link")
        return corrections.filter(link_kind=kind, link_target=target)

    def of_experts(self, corrections: QuerySet[Correction], _name: str, value: str) -> QuerySet[Correction]:
        return corrections.filter(expert=value == "true")


class QueueFilter(WireFilterSet):
    """The filters of the correcting queue (contract 18.4)."""

    state = django_filters.ChoiceFilter(choices=_choices(*ItemState))
    agentId = ExactTextFilter(method="of_agent")
    ruleId = ExactTextFilter(method="of_rule")
    correctorGroupId = ExactTextFilter(method="wanting")
    forMe = TrueFalseFilter(method="for_caller")
    addedAfter = MomentFilter(field_name="added_at", lookup_expr="gt")
    closedAfter = MomentFilter(field_name="closed_at", lookup_expr="gt")

    class Meta:
        model = CorrectingItem
        fields: list[str] = []

    def __init__(self, data: QueryDict, *, caller: Caller, project: Project) -> None:
        super().__init__(data, items_of(project))
        self.caller, self.project = caller, project

    def of_agent(self, items: QuerySet[CorrectingItem], _name: str, agent_id: str) -> QuerySet[CorrectingItem]:
        return items.filter(subject_kind=SubjectKind.AGENT, subject_id=agent_id)

    def of_rule(self, items: QuerySet[CorrectingItem], _name: str, rule_id: str) -> QuerySet[CorrectingItem]:
        return items_by_rule(items, key) if (key := as_uuid(rule_id)) else items.none()

    def wanting(self, items: QuerySet[CorrectingItem], _name: str, group_id: str) -> QuerySet[CorrectingItem]:
        return items_wanting(items, [key]) if (key := as_uuid(group_id)) else items.none()

    def for_caller(self, items: QuerySet[CorrectingItem], _name: str, value: str) -> QuerySet[CorrectingItem]:
        if value != "true":
            return items
        mine = [group.id for group in live_groups_in(self.project) if may_speak_for(self.caller, group)]
        return items_open_to(items, mine)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewQuery:
    """What a preview of a correcting rule asks (contract 18.2). `sample` None: as the rule says, else everything."""

    when: RuleWhen
    sample: float | None
    last: int
    rule_id: str


def preview_query(query: QueryDict) -> PreviewQuery:
    """InvalidError `bad-input` for the first parameter that means nothing; an empty one counts as left out."""
    dry_runs = query.get("includeDryRuns") or "false"
    when = RuleWhen(
        agent_ids=_listed(query, "agentIds"),
        flow_ids=_listed(query, "flowIds"),
        versions=_listed(query, "versions"),
        status=_listed(query, "status"),
        include_dry_runs=dry_runs == "true",
    )
    checked_when(when)
    if dry_runs not in ("true", "false"):
        raise InvalidError(Code.BAD_INPUT, "includeDryRuns is true or false.", field="includeDryRuns")
    return PreviewQuery(when=when, sample=_sample(query), last=_last(query), rule_id=query.get("ruleId", ""))


def _listed(query: QueryDict, name: str) -> tuple[str, ...]:
    return tuple(word for value in query.getlist(name) for word in value.split(",") if word)


def _sample(query: QueryDict) -> float | None:
    text = query.get("sample", "")
    if not text:
        return None
    # What is no number is refused as one that is out of bounds.
    sample = float(text) if _DECIMAL.fullmatch(text) else 0.0
    check_sample(sample)
    return sample


def _last(query: QueryDict) -> int:
    text = query.get("last") or str(DEFAULT_LAST)
    last = int(text) if _DIGITS.fullmatch(text) else 0
    if not 1 <= last <= MAX_LAST:
        raise InvalidError(Code.BAD_INPUT, f"last is a whole number from 1 to {MAX_LAST}.", field="last")
    return last
