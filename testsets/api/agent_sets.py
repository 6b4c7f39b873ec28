"""/v1 of an agent's test set: live cases, hand cases, promotion, freezing (contract 15, decisions 6, 17)."""

from datetime import datetime
from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from corrections.api.bodies import CorrectedItemBody, ExpectedCallBody, SegmentBody
from corrections.drafts import CorrectedItem, ExpectedCall
from corrections.models import Correction
from corrections.queries.said import group_weights
from corrections.rules import drafts as limits
from corrections.rules.drafts import refusal
from corrections.rules.expectations import AnswerExpected, DecisionsExpected, Expectation
from corrections.rules.runs import check_calls, check_context
from corrections.rules.segments import check_segments
from corrections.vocabulary import Verdict
from kindgi_site.api import examples
from kindgi_site.api.bodies import AnyJson, AnyObject, Flag, ListOf, Shape, Text, Version, WireBody, Word
from kindgi_site.api.documents import Document
from kindgi_site.api.pipeline import V1View, path_uuid
from kindgi_site.api.schema import PAGING, refusals
from kindgi_site.api.shapes import Always, ShownId, WireShape, page_of
from kindgi_site.callers import Action
from kindgi_site.exact_json import JsonText, dumps
from testsets.api.sets import SetNameText, SetVersionText, built_wire
from testsets.api.shapes import BuiltShape, PublishedShape, TestCaseShape
from testsets.drafts import HandCaseChange, HandCaseDraft
from testsets.queries.agent_sets import Member, Place, agent_set_for, members_after, place_of
from testsets.services.freezing import freeze, frozen_case
from testsets.services.hand_cases import (
    SOURCE_KINDS,
    add_hand_case,
    change_hand_case,
    promote_run,
    remove_hand_case,
)
from testsets.services.sets import check_set_name, checked_version

MAX_NOTE = 2000


class DecisionsExpectedBody(Shape):
    verdict = Word(Verdict)
    shouldCall = ListOf(child=ExpectedCallBody(), required=False, max_length=limits.MAX_CALLS)
    mustNotCall = ListOf(
        child=Text(min_length=1, max_length=limits.MAX_TOOL), required=False, max_length=limits.MAX_CALLS
    )


class AnswerExpectedBody(Shape):
    verdict = Word(Verdict)
    shouldSay = Text(required=False, max_length=limits.MAX_TEXT)
    why = Text(required=False, max_length=limits.MAX_TEXT)


class ExpectationBody(Shape):
    decisions = DecisionsExpectedBody(required=False)
    answer = AnswerExpectedBody(required=False)
    items = ListOf(child=CorrectedItemBody(), required=False, max_length=limits.MAX_ITEMS)


class AddCaseBody(WireBody):
    example = {
        "input": {"message": "Please cancel my order A-17."},
        "agentVersion": "1.2.0",
        "expect": {"answer": {"verdict": "wrong", "shouldSay": "Your order A-17 is cancelled."}},
    }

    expect = ExpectationBody()
    runId = Text(required=False, non_blank=True)
    input = AnyJson(required=False)
    agentVersion = Version(required=False)
    output = AnyJson(required=False)
    calls = ListOf(child=AnyObject(), required=False)
    context = AnyObject(required=False)  # type: ignore[assignment]
    segments = ListOf(child=SegmentBody(), required=False)
    expert = Flag(required=False)
    note = Text(required=False, max_length=MAX_NOTE)


class ChangeCaseBody(WireBody):
    example = {"note": "Asked for by the order desk."}

    expect = ExpectationBody(required=False)
    expert = Flag(required=False)
    note = Text(required=False, max_length=MAX_NOTE)


class ExpectedToolCallBody(Shape):
    name = Text(min_length=1, max_length=limits.MAX_TOOL)
    arguments = AnyObject(required=False)


class DraftCaseBody(WireBody):
    example = {
        "query": "Please cancel my order A-17.",
        "expectedToolCalls": [{"name": "cancel_order", "arguments": {"orderId": "A-17"}}],
        "agentVersion": "1.2.0",
    }

    query = Text(non_blank=True)
    context = AnyJson(required=False)  # type: ignore[assignment]
    expectedOutput = Text(required=False, max_length=limits.MAX_TEXT)
    expectedToolCalls = ListOf(child=ExpectedToolCallBody(), required=False, max_length=limits.MAX_CALLS)
    parameters = serializers.DictField(child=Text(), required=False)
    sourceKind = serializers.ChoiceField(list(SOURCE_KINDS), required=False)
    sourceRunId = Text(required=False, non_blank=True, max_length=200)
    agentVersion = Version(required=False)


class PromoteRunBody(WireBody):
    example = {"runId": examples.RUN}

    runId = Text(non_blank=True)
    sourceKind = serializers.ChoiceField(list(SOURCE_KINDS), required=False)


class FreezeBody(WireBody):
    example = {"version": "1.0.0", "description": "Before the new tool."}

    version = SetVersionText(min_length=1, max_length=100)
    testSetId = SetNameText(required=False, min_length=1, max_length=200)
    description = Text(required=False)


class AgentSetShape(WireShape):
    projectId = ShownId()
    agentId = ShownId()
    caseCount = serializers.IntegerField()
    fromCorrections = serializers.IntegerField()
    byHand = serializers.IntegerField()
    incomplete = serializers.IntegerField()
    latestFrozen = PublishedShape(required=False)


class LiveCaseShape(TestCaseShape):
    source = serializers.ChoiceField(["correction", "hand"])  # type: ignore[assignment]
    status = serializers.CharField(required=False)
    incomplete = Always(required=False)
    note = serializers.CharField(required=False)
    sourceKind = serializers.ChoiceField(list(SOURCE_KINDS), required=False)
    sourceRunId = ShownId(required=False)


class UnregisteredCaseShape(WireShape):
    caseId = ShownId()
    unregistered = Always()


class AgentSetView(V1View):
    @extend_schema(
        operation_id="agentTestSet.get",
        summary="Fetch what an agent's test set holds",
        responses={200: AgentSetShape, **refusals(400, 401, 403, 404)},
    )
    def get(self, request: Request, project_id: str, agent_id: str) -> Response:
        agent_set = agent_set_for(self.caller, Action.READ, path_uuid(project_id, "projectId"), agent_id)
        from_corrections = agent_set.corrections().count()
        by_hand = agent_set.hand_cases().count()
        latest = agent_set.latest_frozen()
        answer: dict[str, Any] = {
            "projectId": str(agent_set.project.id),
            "agentId": agent_id,
            "caseCount": from_corrections + by_hand,
            "fromCorrections": from_corrections,
            "byHand": by_hand,
            "incomplete": agent_set.hand_cases().filter(is_incomplete=True).count(),
        }
        if latest is not None:
            answer["latestFrozen"] = {"testSetId": latest.test_set.name, "version": latest.version}
        return Response(answer)


class LiveCasesView(V1View):
    @extend_schema(
        operation_id="agentTestSet.cases.list",
        summary="Page through an agent's live cases, as they would be frozen",
        parameters=PAGING,
        responses={200: page_of(LiveCaseShape), **refusals(400, 401, 403, 404)},
    )
    def get(self, request: Request, project_id: str, agent_id: str) -> Response:
        agent_set = agent_set_for(self.caller, Action.READ, path_uuid(project_id, "projectId"), agent_id)
        members = members_after(agent_set, _place(self.paging.after), self.paging.limit + 1)
        weights = group_weights(self.caller.workspace_id)
        return Response(self.paging.page(members, lambda member: live_case(member, weights), _position))

    @extend_schema(
        operation_id="agentTestSet.cases.add",
        summary="Add a case by hand",
        request=AddCaseBody,
        responses={201: LiveCaseShape, **refusals(400, 401, 403, 404, 409, 410, 413, 503)},
    )
    def post(self, request: Request, project_id: str, agent_id: str) -> Response:
        project = path_uuid(project_id, "projectId")
        case = add_hand_case(
            caller=self.caller, project_id=project, agent_id=agent_id, draft=_hand_case_said(self.document)
        )
        return Response(live_case(case, {}), status=201)


class DraftCaseView(V1View):
    @extend_schema(
        operation_id="agentTestSet.cases.fromDraft",
        summary="Add a case from a draft",
        request=DraftCaseBody,
        responses={201: LiveCaseShape, **refusals(400, 401, 403, 404, 409, 413, 503)},
    )
    def post(self, request: Request, project_id: str, agent_id: str) -> Response:
        project = path_uuid(project_id, "projectId")
        case = add_hand_case(
            caller=self.caller, project_id=project, agent_id=agent_id, draft=_draft_said(self.document)
        )
        return Response(live_case(case, {}), status=201)


class PromoteRunView(V1View):
    @extend_schema(
        operation_id="agentTestSet.cases.fromRun",
        summary="Make a run a case",
        request=PromoteRunBody,
        responses={200: LiveCaseShape, 201: LiveCaseShape, **refusals(400, 401, 403, 404, 409, 410, 413, 503)},
    )
    def post(self, request: Request, project_id: str, agent_id: str) -> Response:
        """The same run again is the first case again, with 200."""
        project = path_uuid(project_id, "projectId")
        said = PromoteRunBody.read(self.document)
        case, is_new = promote_run(
            caller=self.caller,
            project_id=project,
            agent_id=agent_id,
            run_id=said["runId"],
            source_kind=said.get("sourceKind"),
        )
        return Response(live_case(case, {}), status=201 if is_new else 200)


class HandCaseView(V1View):
    @extend_schema(
        operation_id="agentTestSet.cases.change",
        summary="Change a hand case",
        request=ChangeCaseBody,
        responses={200: LiveCaseShape, **refusals(400, 401, 403, 404, 409, 413, 503)},
    )
    def patch(self, request: Request, project_id: str, agent_id: str, case_id: str) -> Response:
        project = path_uuid(project_id, "projectId")
        said = ChangeCaseBody.read(self.document)
        change = HandCaseChange(
            expect=_expectation(said["expect"]) if "expect" in said else None,
            expert=said.get("expert"),
            note=said.get("note"),
        )
        case = change_hand_case(
            caller=self.caller, project_id=project, agent_id=agent_id, case_id=case_id, change=change
        )
        return Response(live_case(case, {}))


class UnregisterCaseView(V1View):
    @extend_schema(
        operation_id="agentTestSet.cases.unregister",
        summary="Take a hand case out of the set",
        request=None,
        responses={200: UnregisteredCaseShape, **refusals(400, 401, 403, 404, 409, 503)},
    )
    def post(self, request: Request, project_id: str, agent_id: str, case_id: str) -> Response:
        project = path_uuid(project_id, "projectId")
        case = remove_hand_case(caller=self.caller, project_id=project, agent_id=agent_id, case_id=case_id)
        return Response({"caseId": case.case_id, "unregistered": True})


class FreezeView(V1View):
    @extend_schema(
        operation_id="agentTestSet.freeze",
        summary="Freeze an agent's test set into a version",
        request=FreezeBody,
        responses={201: BuiltShape, **refusals(400, 401, 403, 404, 409, 413, 503)},
    )
    def post(self, request: Request, project_id: str, agent_id: str) -> Response:
        project = path_uuid(project_id, "projectId")
        said = FreezeBody.read(self.document)
        checked_version(said["version"])
        if "testSetId" in said:
            check_set_name(said["testSetId"])
        built = freeze(
            caller=self.caller,
            project_id=project,
            agent_id=agent_id,
            version=said["version"],
            set_name=said.get("testSetId"),
            description=said.get("description", ""),
        )
        return Response(built_wire(built), status=201)


def live_case(member: Member, weights: dict[str, float]) -> dict[str, object]:
    """A case as it would be frozen, and where it comes from."""
    case = frozen_case(member, weights)
    if isinstance(member, Correction):
        return case | {"source": "correction", "status": member.status}
    said: dict[str, object] = {
        "incomplete": member.is_incomplete,
        "note": member.note,
        "sourceKind": member.source_kind,
        "sourceRunId": member.source_run_id,
    }
    return case | {"source": "hand"} | {name: value for name, value in said.items() if value}


def _position(member: Member) -> list[str]:
    place = place_of(member)
    return [place.at.isoformat(), "hand" if place.is_hand else "correction", str(place.id)]


def _place(after: list[str] | None) -> Place | None:
    return None if after is None else Place(datetime.fromisoformat(after[0]), after[1] == "hand", UUID(after[2]))


def _expectation(said: dict[str, Any]) -> Expectation:
    decisions, answer = said.get("decisions"), said.get("answer")
    return Expectation(
        decisions=decisions
        and DecisionsExpected(
            decisions["verdict"],
            tuple(_call(call["tool"], call.get("args", {})) for call in decisions.get("shouldCall", ())),
            tuple(decisions.get("mustNotCall", ())),
        ),
        answer=answer and AnswerExpected(answer["verdict"], answer.get("shouldSay"), answer.get("why")),
        items=tuple(CorrectedItem(**item) for item in said.get("items", ())),
    )


def _call(tool: str, args: dict[str, Any]) -> ExpectedCall:
    return ExpectedCall(tool, args, dumps(args))


_OWN_PARTS = ("input", "agentVersion", "output", "calls", "context", "segments")


def _hand_case_said(document: Document) -> HandCaseDraft:
    said = AddCaseBody.read(document)
    own = [name for name in _OWN_PARTS if name in said]
    if "runId" in said and own:
        raise refusal(f"A case copied from a run takes no {own[0]} of its own.", own[0])
    if "runId" not in said and not {"input", "agentVersion"} <= set(own):
        raise refusal("Name a runId, or give input and agentVersion.", "runId")
    check_segments(said.get("segments", []))
    check_context(document.value.get("context", {}))
    check_calls(document.value.get("calls", []), None, "calls")
    return HandCaseDraft(
        expect=_expectation(said["expect"]),
        run_id=said.get("runId"),
        agent_version=said.get("agentVersion"),
        input=document.part("input"),
        output=document.part("output") if said.get("output") is not None else None,
        context=document.part("context"),
        segments=document.part("segments") if said.get("segments") else None,
        calls=document.part("calls"),
        expert=said.get("expert", False),
        note=said.get("note", ""),
    )


def _draft_said(document: Document) -> HandCaseDraft:
    """Query, context and parameters become the input; what is expected is said as of a wrong run (decision 6)."""
    said = DraftCaseBody.read(document)
    if "sourceKind" in said and "sourceRunId" not in said:
        raise refusal("sourceKind needs sourceRunId.", "sourceKind")
    calls = tuple(_call(call["name"], call.get("arguments", {})) for call in said.get("expectedToolCalls", ()))
    output = said.get("expectedOutput")
    if not calls and output is None:
        raise refusal("Say at least one of expectedOutput and expectedToolCalls.", "expectedOutput")
    given = {name: document.members[name] for name in ("query", "context", "parameters") if name in said}
    return HandCaseDraft(
        expect=Expectation(
            decisions=DecisionsExpected(Verdict.WRONG, calls) if calls else None,
            answer=None if output is None else AnswerExpected(Verdict.WRONG, output),
        ),
        agent_version=said.get("agentVersion"),
        input=JsonText.of({name: JsonText(text) for name, text in given.items()}),
        source_kind=said.get("sourceKind", ""),
        source_run_id=said.get("sourceRunId", ""),
    )
