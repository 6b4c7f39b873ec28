"""/v1 of correcting rules (contract 18.1, 18.2, 18.5)."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from corrections.api.in_project import ProjectView
from corrections.drafts import RuleChange, RuleDraft, RuleWhen
from corrections.filters import MAX_LAST, preview_query
from corrections.queries.correcting_rules import (
    live_rules_of,
    outcomes_of,
    preview_of,
    rule_in,
    versions_in,
)
from corrections.rules.queue import MAX_ENTRIES, MAX_ENTRY, MAX_OPEN
from corrections.services.correcting_rules import change_rule, create_rule, stop_rule
from kindgi_site.api import examples
from kindgi_site.api.bodies import Decimal, Flag, ListOf, Shape, Text, Whole, WireBody, moment_of
from kindgi_site.api.cursors import time_place
from kindgi_site.api.documents import Document
from kindgi_site.api.schema import PAGING, query, refusals
from kindgi_site.api.shapes import ShownId, ShownTime, WireShape, page_of, schema_of
from kindgi_site.callers import Action
from kindgi_site.clock import wire_time
from kindgi_site.errors import Code, InvalidError

_WIRE_TO_DRAFT = {"maxOpen": "max_open", "correctorGroupId": "group_id"}


def _entries() -> ListOf:
    child = Text(non_blank=True, max_length=MAX_ENTRY)
    return ListOf(child=child, required=False, min_length=1, max_length=MAX_ENTRIES)


class RuleWhenBody(Shape):
    agentIds = _entries()
    flowIds = _entries()
    versions = _entries()
    status = _entries()
    includeDryRuns = Flag(required=False)


class CreateCorrectingRuleBody(WireBody):
    example = {
        "name": "A tenth of what is live",
        "when": {"agentIds": [examples.AGENT], "versions": ["live"]},
        "sample": 0.1,
        "maxOpen": 50,
    }

    name = Text(non_blank=True)
    when = RuleWhenBody(required=False)
    sample = Decimal(required=False)
    maxOpen = Whole(required=False, min_value=1, max_value=MAX_OPEN)
    correctorGroupId = Text(required=False, non_blank=True)
    enabled = Flag(required=False)


class ChangeCorrectingRuleBody(WireBody):
    example = {"sample": 0.25, "maxOpen": None}

    name = Text(required=False, non_blank=True)
    when = RuleWhenBody(required=False)
    sample = Decimal(required=False)
    maxOpen = Whole(required=False, allow_null=True, min_value=1, max_value=MAX_OPEN)
    correctorGroupId = Text(required=False, allow_null=True, non_blank=True)
    enabled = Flag(required=False)


def rule_draft(document: Document) -> RuleDraft:
    return RuleDraft(**_said(CreateCorrectingRuleBody.read(document)))


def rule_change(document: Document) -> RuleChange:
    return RuleChange(**_said(ChangeCorrectingRuleBody.read(document)))


def _said(body: dict[str, Any]) -> dict[str, Any]:
    said = {_WIRE_TO_DRAFT.get(name, name): value for name, value in body.items()}
    if "when" in said:
        said["when"] = _when(said["when"])
    return said


def _when(said: dict[str, Any]) -> RuleWhen:
    return RuleWhen(
        agent_ids=tuple(said.get("agentIds", ())),
        flow_ids=tuple(said.get("flowIds", ())),
        versions=tuple(said.get("versions", ())),
        status=tuple(said.get("status", ())),
        include_dry_runs=said.get("includeDryRuns"),
    )


class RuleWhenShape(WireShape):
    agentIds = serializers.ListField(child=ShownId(), required=False)
    flowIds = serializers.ListField(child=ShownId(), required=False)
    versions = serializers.ListField(child=serializers.CharField(), required=False)
    status = serializers.ListField(child=serializers.CharField(), required=False)
    includeDryRuns = serializers.BooleanField(required=False)


class Share(serializers.FloatField):
    """Between 0 and 1; a whole one without a point (contract 4.2)."""

    def to_representation(self, value: float) -> Any:
        return int(value) if value == int(value) else value


class CorrectingRuleShape(WireShape):
    """Of one version of a rule; `createdBy` and `createdAt` are that version's."""

    ruleId = ShownId(source="rule_id")
    projectId = ShownId(source="rule.project_id")
    version = serializers.IntegerField(source="number", min_value=1)
    name = serializers.CharField()
    when = schema_of(RuleWhenShape)()
    sample = Share()
    maxOpen = serializers.IntegerField(source="max_open", required=False, min_value=1, max_value=MAX_OPEN)
    correctorGroupId = ShownId(source="group_id", required=False)
    enabled = serializers.BooleanField()
    createdBy = ShownId(source="created_by", required=False)
    createdAt = ShownTime(source="created_at")
    unregisteredAt = ShownTime(source="rule.unregistered_at", required=False)


class StoppedCorrectingRuleShape(WireShape):
    ruleId = ShownId()
    unregistered = serializers.BooleanField()


class RulePreviewShape(WireShape):
    considered = serializers.IntegerField(min_value=0)
    matched = serializers.IntegerField(min_value=0)


class GroupTallyShape(WireShape):
    correctorGroupId = ShownId(source="group_id", allow_null=True)
    corrections = serializers.IntegerField(min_value=0)
    yes = serializers.IntegerField(min_value=0)


class _AgentVersionField(serializers.CharField):
    """null for flows."""

    def get_attribute(self, instance: Any) -> str | None:
        return super().get_attribute(instance) or None


class RuleOutcomeShape(WireShape):
    ruleVersion = serializers.IntegerField(source="rule_version", min_value=1)
    agentVersion = _AgentVersionField(source="agent_version", allow_null=True)
    added = serializers.IntegerField(min_value=0)
    open = serializers.IntegerField(min_value=0)
    corrected = serializers.IntegerField(min_value=0)
    dismissed = serializers.IntegerField(min_value=0)
    erased = serializers.IntegerField(min_value=0)
    skippedByCap = serializers.IntegerField(source="skipped_by_cap", min_value=0)
    corrections = serializers.IntegerField(min_value=0)
    runsWithCorrections = serializers.IntegerField(source="runs_with_corrections", min_value=0)
    yesShare = Share(source="yes_share", allow_null=True)
    byGroup = GroupTallyShape(source="by_group", many=True)


class RuleResultsShape(WireShape):
    ruleId = ShownId()
    since = ShownTime(required=False)
    groups = RuleOutcomeShape(many=True)


class CorrectingRulesView(ProjectView):
    @extend_schema(
        operation_id="projects.correctingRules.list",
        summary="List a project's correcting rules, oldest first",
        parameters=PAGING,
        responses={200: page_of(CorrectingRuleShape), **refusals(400, 401, 403, 404)},
    )
    def get(self, request: Request, project_id: str) -> Response:
        """The version that applies of each rule that was not stopped."""
        rules = live_rules_of(self.project(project_id, Action.READ))
        rows = self.paging.oldest(rules, time_field="rule__created_at", id_field="rule_id")
        page = self.paging.page(
            rows, CorrectingRuleShape.wire, lambda row: time_place(row.rule.created_at, row.rule_id)
        )
        return Response(page)

    @extend_schema(
        operation_id="projects.correctingRules.create",
        summary="Write a correcting rule",
        request=CreateCorrectingRuleBody,
        responses={201: CorrectingRuleShape, **refusals(400, 401, 403, 404, 409, 413, 503)},
    )
    def post(self, request: Request, project_id: str) -> Response:
        """It looks once at each run of the project that finishes from now on."""
        project = self.project(project_id, Action.WRITE)
        rule = create_rule(caller=self.caller, project=project, draft=rule_draft(self.document))
        return Response(CorrectingRuleShape.wire(rule), status=201)


class CorrectingRulePreviewView(ProjectView):
    @extend_schema(
        operation_id="projects.correctingRules.preview",
        summary="What a rule would have queued of the newest runs",
        parameters=[
            *(query(name) for name in ("agentIds", "flowIds", "versions", "status", "ruleId")),
            query("includeDryRuns", enum=["true", "false"]),
            OpenApiParameter("sample", float, description="Above 0, at most 1."),
            OpenApiParameter("last", int, description=f"How many runs, 100 unless said, at most {MAX_LAST}."),
        ],
        responses={200: RulePreviewShape, **refusals(400, 401, 403, 404)},
    )
    def get(self, request: Request, project_id: str) -> Response:
        """Lists are comma-separated. With `ruleId` sampled as that rule does, else an estimate; no cap is applied."""
        project = self.project(project_id, Action.READ)
        asked = preview_query(request.query_params)
        rule = rule_in(project, asked.rule_id) if asked.rule_id else None
        sample = asked.sample or (rule.sample if rule else 1.0)
        preview = preview_of(project, asked.when, sample, asked.last, rule.rule_id if rule else None)
        return Response(RulePreviewShape.wire(preview))


class CorrectingRuleView(ProjectView):
    @extend_schema(
        operation_id="projects.correctingRules.get",
        summary="Fetch a correcting rule",
        responses={200: CorrectingRuleShape, **refusals(400, 401, 403, 404)},
    )
    def get(self, request: Request, project_id: str, rule_id: str) -> Response:
        """The version that applies; of a stopped rule, the last."""
        rule = rule_in(self.project(project_id, Action.READ), rule_id)
        return Response(CorrectingRuleShape.wire(rule))

    @extend_schema(
        operation_id="projects.correctingRules.update",
        summary="Change a correcting rule",
        request=ChangeCorrectingRuleBody,
        responses={200: CorrectingRuleShape, **refusals(400, 401, 403, 404, 409, 413, 503)},
    )
    def patch(self, request: Request, project_id: str, rule_id: str) -> Response:
        """A new version; what is left out stays, `when` is replaced whole. Items already queued stay as they are."""
        project = self.project(project_id, Action.WRITE)
        change = rule_change(self.document)
        rule = change_rule(caller=self.caller, project=project, rule_id=rule_id, change=change)
        return Response(CorrectingRuleShape.wire(rule))


class StopCorrectingRuleView(ProjectView):
    @extend_schema(
        operation_id="projects.correctingRules.unregister",
        summary="Stop a correcting rule",
        request=None,
        responses={200: StoppedCorrectingRuleShape, **refusals(400, 401, 403, 404, 409, 503)},
    )
    def post(self, request: Request, project_id: str, rule_id: str) -> Response:
        """It queues nothing more; what it queued stays. `unregistered` is false when it had been stopped before."""
        project = self.project(project_id, Action.WRITE)
        rule, was_running = stop_rule(caller=self.caller, project=project, rule_id=rule_id)
        return Response({"ruleId": str(rule.id), "unregistered": was_running})


class CorrectingRuleVersionsView(ProjectView):
    @extend_schema(
        operation_id="projects.correctingRules.versions",
        summary="All that a correcting rule ever said, newest first",
        parameters=PAGING,
        responses={200: page_of(CorrectingRuleShape), **refusals(400, 401, 403, 404)},
    )
    def get(self, request: Request, project_id: str, rule_id: str) -> Response:
        versions = versions_in(self.project(project_id, Action.READ), rule_id)
        rows = self.paging.highest(versions, number_field="number")
        return Response(self.paging.page(rows, CorrectingRuleShape.wire, lambda row: [str(row.number)]))


class CorrectingRuleResultsView(ProjectView):
    @extend_schema(
        operation_id="projects.correctingRules.results",
        summary="What came of a correcting rule",
        parameters=[query("since", description="Only what was added from this time on.")],
        responses={200: RuleResultsShape, **refusals(400, 401, 403, 404)},
    )
    def get(self, request: Request, project_id: str, rule_id: str) -> Response:
        """By version of the rule, newest first, and version of the agent."""
        project = self.project(project_id, Action.READ)
        text = request.query_params.get("since", "")
        since = moment_of(text)
        if text and since is None:
            raise InvalidError(Code.BAD_INPUT, "since is a time with its zone.", field="since")
        rule = rule_in(project, rule_id).rule
        answer: dict[str, Any] = {"ruleId": str(rule.id)}
        if since is not None:
            answer["since"] = wire_time(since)
        return Response(answer | {"groups": [RuleOutcomeShape.wire(one) for one in outcomes_of(rule, since)]})
