"""/v1 of test runs: start, cases, outputs, results (contract 17)."""

from collections.abc import Callable, Mapping
from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from corrections.rules.drafts import refusal
from corrections.vocabulary import SubjectKind
from kindgi_site import exact_json
from kindgi_site.api import examples
from kindgi_site.api.bodies import (
    AnyJson,
    Decimal,
    Flag,
    Id,
    ListOf,
    Shape,
    Text,
    Version,
    Whole,
    WireBody,
    Word,
    one_of,
)
from kindgi_site.api.documents import Document
from kindgi_site.api.pipeline import V1View, path_uuid
from kindgi_site.api.schema import PAGING, SCOPE, filtering, refusals
from kindgi_site.api.scopes import scope_of
from kindgi_site.api.shapes import ShownId, ShownTime, WireShape, page_of, schema_of
from kindgi_site.exact_json import JsonText
from testsets.api.shapes import TestCaseShape
from testsets.drafts import OutputDraft, Sample, SamplePart, TestRunDraft
from testsets.filters import TestRunFilter
from testsets.models import TestRun
from testsets.outputs import OutputBody, output_draft
from testsets.presenters.flat import waiting_case
from testsets.queries.test_runs import cases_with_remaining, run_cases, test_run_readable_by, test_runs_readable_by
from testsets.rules.cases import GroupWeights
from testsets.services.judging import Place
from testsets.services.test_runs import (
    MAX_OUTPUTS,
    cancel_test_run,
    complete_test_run,
    judge_outputs,
    rescore_test_run,
    start_test_run,
    submit_outputs,
)


class AgentRefBody(Shape):
    agentId = Text(non_blank=True, max_length=200)
    version = Version(required=False)


class FlowRefBody(Shape):
    flowId = Text(non_blank=True, max_length=200)
    version = Version(required=False)


class SampleBody(Shape):
    part = Word(SamplePart)
    seed = Text(min_length=1, max_length=200)
    holdOutShare = Decimal(min_value=0.1, max_value=0.9)


class StartTestRunBody(WireBody):
    together = one_of("agentRef", "flowRef")
    example = {"projectId": examples.PROJECT, "agentRef": {"agentId": examples.AGENT, "version": "1.3.0"}}

    projectId = Id()
    agentRef = AgentRefBody(required=False)
    flowRef = FlowRefBody(required=False)
    testSetVersion = Text(required=False, non_blank=True, max_length=100)
    dryRun = Flag(required=False)
    correlationId = Text(required=False, non_blank=True, max_length=200)
    baseline = AnyJson(required=False)
    reads = serializers.ChoiceField(["recorded", "live"], required=False)
    repetitions = Whole(required=False, min_value=1, max_value=10)
    k = Whole(required=False, min_value=1, max_value=100)
    groupWeights = Word(GroupWeights, required=False)
    sample = SampleBody(required=False)


class SubmitOutputsBody(WireBody):
    example = {"outputs": [{"caseId": examples.RUN, "output": {"content": "Cancelled."}, "calls": []}]}

    outputs = ListOf(child=OutputBody(), min_length=1, max_length=MAX_OUTPUTS)


class CancelBody(WireBody):
    example = {"reason": "The wrong version."}

    reason = Text(required=False, max_length=2000)


class AgentRefShape(WireShape):
    agentId = ShownId()
    version = serializers.CharField()


class FlowRefShape(WireShape):
    flowId = ShownId()
    version = serializers.CharField()


class TestRunShape(WireShape):
    """The record; `result` is added when the run has one."""

    runId = ShownId()
    tenantId = ShownId()
    projectId = ShownId()
    testSetId = ShownId()
    testSetVersion = serializers.CharField()
    kind = serializers.CharField()
    agentRef = AgentRefShape(required=False)
    flowRef = FlowRefShape(required=False)
    status = serializers.ChoiceField(["pending", "running", "completed", "failed", "cancelled"])
    dryRun = serializers.BooleanField()
    startedAt = ShownTime()
    completedAt = ShownTime(required=False)
    result = schema_of({"type": "object", "additionalProperties": True})(required=False)
    error = serializers.CharField(required=False)
    cancelReason = serializers.CharField(required=False)
    correlationId = serializers.CharField(required=False)
    comparison = schema_of({"type": "object", "additionalProperties": True})(required=False)


class StartedShape(WireShape):
    runId = ShownId()
    dryRunPreview = schema_of({"type": "object", "additionalProperties": True})(required=False)


class AcceptedShape(WireShape):
    accepted = serializers.IntegerField()
    remaining = serializers.IntegerField()
    status = serializers.CharField()


class WaitingCaseShape(TestCaseShape):
    remaining = serializers.IntegerField()


class StartTestRunView(V1View):
    project_in_body = True

    @extend_schema(
        operation_id="testSets.runs.start",
        summary="Start a test run",
        request=StartTestRunBody,
        responses={201: StartedShape, **refusals(400, 401, 403, 404, 409, 410, 413, 422, 503)},
    )
    def post(self, request: Request, test_set_id: str) -> Response:
        run = start_test_run(caller=self.caller, set_name=test_set_id, draft=run_said(self.document))
        answer: dict[str, Any] = {"runId": str(run.id)}
        if run.dry_run:
            preview: dict[str, Any] = {"dryRun": True, "cases": run_cases(run).count()}
            if run.erased_cases:
                preview["erased"] = run.erased_cases
            answer["dryRunPreview"] = preview | {"comparison": comparison(run)}
        return Response(answer, status=201)


class TestRunsView(V1View):
    @extend_schema(
        operation_id="testRuns.list",
        summary="List test runs, newest first",
        parameters=[*PAGING, *SCOPE, *filtering(TestRunFilter)],
        responses={200: page_of(TestRunShape), **refusals(400, 401, 403)},
    )
    def get(self, request: Request) -> Response:
        scope = scope_of(request.query_params)
        runs = TestRunFilter(request.query_params, scope.narrow(test_runs_readable_by(self.caller))).narrowed()
        return Response(self.paging.newest_first(runs.defer("summary"), record, time_field="started_at"))


class TestRunView(V1View):
    @extend_schema(
        operation_id="testRuns.get",
        summary="Fetch a test run with its result",
        responses={200: TestRunShape, **refusals(400, 401, 403, 404)},
    )
    def get(self, request: Request, run_id: str) -> Response:
        return Response(with_result(test_run_readable_by(self.caller, path_uuid(run_id, "runId"))))


class TestRunCasesView(V1View):
    @extend_schema(
        operation_id="testRuns.cases",
        summary="Page through the cases of a test run, for the program that runs the agent",
        parameters=PAGING,
        responses={200: page_of(WaitingCaseShape), **refusals(400, 401, 403, 404)},
    )
    def get(self, request: Request, run_id: str) -> Response:
        run = test_run_readable_by(self.caller, path_uuid(run_id, "runId"))
        after = -1 if self.paging.after is None else int(self.paging.after[0])
        rows = cases_with_remaining(run, after=after, most=self.paging.limit + 1)
        return Response(self.paging.page(rows, lambda row: waiting_case(*row[1:]), lambda row: [str(row[0])]))


class SubmitOutputsView(V1View):
    outputs: list[OutputDraft]
    verdicts: Mapping[Place, JsonText]

    def before_post(self, keep_hold: Callable[[], None], run_id: str) -> None:
        """A judge may take long: it is asked before the transaction that stores outputs and answer."""
        key = path_uuid(run_id, "runId")
        self.outputs = outputs_said(self.document)
        self.verdicts = judge_outputs(
            caller=self.caller,
            run_id=key,
            outputs=self.outputs,
            seconds=settings.JUDGE_BUDGET_SECONDS,
            still_at_it=keep_hold,
        )

    @extend_schema(
        operation_id="testRuns.outputs.submit",
        summary="Hand outputs in",
        request=SubmitOutputsBody,
        responses={200: AcceptedShape, **refusals(400, 401, 403, 404, 409, 413, 503)},
    )
    def post(self, request: Request, run_id: str) -> Response:
        run, accepted = submit_outputs(
            caller=self.caller,
            run_id=path_uuid(run_id, "runId"),
            outputs=self.outputs,
            verdicts=self.verdicts,
        )
        return Response({"accepted": accepted, "remaining": run.remaining, "status": run.status})


class CompleteTestRunView(V1View):
    @extend_schema(
        operation_id="testRuns.complete",
        summary="End a test run as it stands",
        request=None,
        responses={200: TestRunShape, **refusals(400, 401, 403, 404, 409, 503)},
    )
    def post(self, request: Request, run_id: str) -> Response:
        return Response(with_result(complete_test_run(caller=self.caller, run_id=path_uuid(run_id, "runId"))))


class CancelTestRunView(V1View):
    @extend_schema(
        operation_id="testRuns.cancel",
        summary="Cancel a test run",
        request=CancelBody,
        responses={200: TestRunShape, **refusals(400, 401, 403, 404, 409, 413, 503)},
    )
    def post(self, request: Request, run_id: str) -> Response:
        key = path_uuid(run_id, "runId")
        said = CancelBody.read(self.document, optional=True)
        return Response(record(cancel_test_run(caller=self.caller, run_id=key, reason=said.get("reason", ""))))


class RescoreTestRunView(V1View):
    @extend_schema(
        operation_id="testRuns.rescore",
        summary="Score the submitted outputs again with what was said since",
        request=None,
        responses={201: StartedShape, **refusals(400, 401, 403, 404, 409, 503)},
    )
    def post(self, request: Request, run_id: str) -> Response:
        run = rescore_test_run(caller=self.caller, run_id=path_uuid(run_id, "runId"))
        return Response({"runId": str(run.id)}, status=201)


def record(run: TestRun) -> dict[str, Any]:
    """A test run without its result."""
    named = "agentId" if run.subject_kind == SubjectKind.AGENT else "flowId"
    answer: dict[str, Any] = {
        "runId": str(run.id),
        "tenantId": str(run.workspace_id),
        "projectId": str(run.project_id),
        "testSetId": run.version.test_set.name,
        "testSetVersion": run.version.version,
        "kind": run.version.kind,
        "agentRef" if named == "agentId" else "flowRef": {named: run.subject_id, "version": run.subject_version},
        "status": run.status,
        "dryRun": run.dry_run,
        "startedAt": ShownTime().to_representation(run.started_at),
        "completedAt": run.completed_at and ShownTime().to_representation(run.completed_at),
        "error": run.error,
        "cancelReason": run.cancel_reason,
        "correlationId": run.correlation_id,
        "comparison": comparison(run),
    }
    return {name: value for name, value in answer.items() if value is not None and value != ""}


def with_result(run: TestRun) -> dict[str, Any]:
    """A test run with its result, each case's part as it is stored."""
    if run.summary is None:
        return record(run)
    per_case = [result for result in run_cases(run).values_list("result", flat=True) if result is not None]
    return record(run) | {"result": {"summary": run.summary, "perCase": per_case}}


def comparison(run: TestRun) -> dict[str, Any]:
    """How the run compares: what both sides read, how often, at which depth, by whose word."""
    said: dict[str, Any] = {
        "baseline": "recorded",
        "reads": run.reads,
        "repetitions": run.repetitions,
        "k": run.k,
        "groupWeights": run.group_weights,
    }
    if run.sample is not None:
        said["sample"] = run.sample
    return said | ({"rescoreOf": str(run.rescore_of_id)} if run.rescore_of_id else {})


def run_said(document: Document) -> TestRunDraft:
    said = StartTestRunBody.read(document)
    if ("agentRef" in said) == ("flowRef" in said):
        raise refusal("Name exactly one of agentRef and flowRef.", "agentRef")
    if said.get("baseline", "recorded") is None:
        raise refusal("baseline must not be null.", "baseline")
    kind = SubjectKind.AGENT if "agentRef" in said else SubjectKind.FLOW
    ref = said.get("agentRef") or said["flowRef"]
    sample = said.get("sample")
    return TestRunDraft(
        project_id=said["projectId"],
        subject_kind=kind,
        subject_id=ref.get("agentId") or ref["flowId"],
        subject_version=ref.get("version"),
        set_version=said.get("testSetVersion"),
        dry_run=said.get("dryRun", False),
        correlation_id=said.get("correlationId", ""),
        is_against_recorded=said.get("baseline", "recorded") == "recorded",
        reads=said.get("reads", "recorded"),
        repetitions=said.get("repetitions", 1),
        k=said.get("k", 10),
        group_weights=said.get("groupWeights", GroupWeights.AS_RECORDED),
        sample=sample and Sample(sample["part"], sample["seed"], sample["holdOutShare"]),
        sample_as_sent=document.part("sample"),
    )


def outputs_said(document: Document) -> list[OutputDraft]:
    said = SubmitOutputsBody.read(document)["outputs"]
    texts = exact_json.elements(document.members["outputs"])
    sent = document.value["outputs"]
    return [output_draft(*each) for each in zip(said, sent, texts, strict=True)]
