"""What /v1 takes of runs and corrections (contract 7.2, 11.2), cased as the contract; each body becomes a draft."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema_field

from corrections.drafts import CorrectedItem, CorrectionDraft, ExpectedCall, RunDraft
from corrections.rules import drafts as limits
from corrections.rules.drafts import refusal
from corrections.rules.segments import KEY_PATTERN, MAX_VALUE, check_segments
from corrections.vocabulary import BY_HAND, LinkKind, RunStatus, SortedTo, Status, SubjectKind, Verdict, Via
from kindgi_site.api import examples
from kindgi_site.api.bodies import (
    AnyJson,
    AnyObject,
    Flag,
    Id,
    ListOf,
    Moment,
    Shape,
    Text,
    Version,
    Whole,
    WireBody,
    Word,
    any_of,
    one_of,
)
from kindgi_site.api.documents import Document
from kindgi_site.exact_json import JsonText, dumps
from kindgi_site.keys import as_kept

MAX_ID = 200
MAX_NOTE = 2000


@extend_schema_field({"type": "object", "maxProperties": limits.MAX_ARGS_FIELDS, "additionalProperties": True})
class Args(AnyObject):
    """Top-level fields of a call, to be compared by value."""


class ExpectedCallBody(Shape):
    tool = Text(min_length=1, max_length=limits.MAX_TOOL)
    args = Args(required=False)


class CorrectedItemBody(Shape):
    key = Text(non_blank=True, max_length=limits.MAX_KEY)
    pointer = Text(required=False, max_length=limits.MAX_POINTER)
    rank = Whole(required=False, min_value=0)
    verdict = Word(Verdict)


class CreateCorrectionBody(WireBody):
    together = any_of("decisions", "answer", "items")
    example = {
        "runId": examples.RUN,
        "decisions": "wrong",
        "shouldCall": [{"tool": "cancel_order", "args": {"orderId": "A-17"}}],
        "mustNotCall": ["refund_order"],
        "why": "Nothing had been paid yet.",
    }

    runId = Text(non_blank=True)
    decisions = Word(Verdict, required=False)
    answer = Word(Verdict, required=False)
    shouldCall = ListOf(child=ExpectedCallBody(), required=False, max_length=limits.MAX_CALLS)
    mustNotCall = ListOf(
        child=Text(min_length=1, max_length=limits.MAX_TOOL), required=False, max_length=limits.MAX_CALLS
    )
    shouldSay = Text(required=False, max_length=limits.MAX_TEXT)
    why = Text(required=False, max_length=limits.MAX_TEXT)
    items = ListOf(child=CorrectedItemBody(), required=False, max_length=limits.MAX_ITEMS)
    correctorGroupId = Text(required=False, non_blank=True)
    participantId = Text(required=False, non_blank=True, max_length=256)

    def refuse_earlier(self, name: str, said: dict[str, Any]) -> None:
        limits.check_draft(_draft(said), before=name)


def correction_draft(document: Document) -> tuple[str, CorrectionDraft]:
    """(run id as sent, what is said of the run)."""
    said = CreateCorrectionBody.read(document)
    return said["runId"], _draft(said)


def _draft(said: dict[str, Any]) -> CorrectionDraft:
    return CorrectionDraft(
        decisions=said.get("decisions"),
        should_call=tuple(_expected_call(call) for call in said.get("shouldCall", ())),
        must_not_call=tuple(said.get("mustNotCall", ())),
        answer=said.get("answer"),
        should_say=said.get("shouldSay"),
        why=said.get("why"),
        items=tuple(CorrectedItem(**item) for item in said.get("items", ())),
        corrector_group_id=said.get("correctorGroupId"),
        participant_id=said.get("participantId"),
    )


def _expected_call(call: dict[str, Any]) -> ExpectedCall:
    args = call.get("args", {})
    return ExpectedCall(tool=call["tool"], args=args, args_text=dumps(args))


class AgentBody(Shape):
    id = Text(min_length=1, max_length=MAX_ID)
    version = Version()
    conversationId = Id(required=False)
    via = Word(Via, required=False)


class FlowBody(Shape):
    id = Text(min_length=1, max_length=MAX_ID)
    version = Version()


@extend_schema_field({"type": "string", "pattern": KEY_PATTERN})
class SegmentKey(Text):
    """Its form is a rule's to check, like its value's length: all problems of segments are told alike."""


@extend_schema_field({"type": "string", "minLength": 1, "maxLength": MAX_VALUE})
class SegmentValue(Text):
    pass


class SegmentBody(Shape):
    key = SegmentKey()
    value = SegmentValue()


class IngestRunBody(WireBody):
    together = one_of("agent", "flow")
    example = {
        "projectId": examples.PROJECT,
        "agent": {"id": examples.AGENT, "version": "1.2.0"},
        "status": "completed",
        "input": {"message": "Please cancel my order A-17."},
        "output": {"content": "Your money is on its way."},
        "calls": [{"toolId": "refund_order", "arguments": {"orderId": "A-17"}}],
        "completedAt": "2026-03-01T09:30:00Z",
    }

    projectId = Id()
    agent = AgentBody(required=False)
    flow = FlowBody(required=False)
    status = Word(RunStatus)
    input = AnyJson()
    output = AnyJson(required=False)
    failureMessage = Text(required=False, max_length=limits.MAX_TEXT)
    startedAt = Moment(required=False)
    completedAt = Moment(required=False)
    dryRun = Flag(required=False)
    parentRunId = Text(required=False, non_blank=True, max_length=MAX_ID)
    parentNodeId = Text(required=False, non_blank=True, max_length=MAX_ID)
    replayOf = Text(required=False, non_blank=True, max_length=MAX_ID)
    testRunId = Text(required=False, non_blank=True, max_length=MAX_ID)
    segments = ListOf(child=SegmentBody(), required=False)
    participantId = Text(required=False, non_blank=True, max_length=256)
    context = AnyObject(required=False)  # type: ignore[assignment]
    calls = ListOf(child=AnyObject(), required=False)


def run_draft(run_id: UUID, document: Document) -> RunDraft:
    """A run as handed in; its JSON parts keep the text that was sent."""
    said = IngestRunBody.read(document)
    kind, subject = _subject(said)
    check_segments(said.get("segments", []))
    return RunDraft(
        run_id=run_id,
        project_id=said["projectId"],
        subject_kind=kind,
        subject_id=subject["id"],
        subject_version=subject["version"],
        conversation_id=subject.get("conversationId"),
        via=subject.get("via", ""),
        status=said["status"],
        input=document.part("input") or JsonText("null"),
        output=document.part("output"),
        context=document.part("context"),
        calls=document.part("calls"),
        segments=document.part("segments") if said.get("segments") else None,
        failure_message=said.get("failureMessage"),
        started_at=said.get("startedAt"),
        completed_at=said.get("completedAt"),
        dry_run=said.get("dryRun", False),
        parent_run_id=as_kept(said.get("parentRunId", "")),
        parent_node_id=said.get("parentNodeId", ""),
        replay_of=as_kept(said.get("replayOf", "")),
        test_run_id=said.get("testRunId", ""),
        participant_id=said.get("participantId", ""),
    )


def _subject(said: dict[str, Any]) -> tuple[SubjectKind, dict[str, Any]]:
    if ("agent" in said) == ("flow" in said):
        raise refusal("Name exactly one of agent and flow.", "agent")
    kind = SubjectKind.AGENT if "agent" in said else SubjectKind.FLOW
    return kind, said[kind]


@extend_schema_field({"type": "string", "enum": [*BY_HAND]})
class StatusByHand(Word):
    """The others are words too, and refused by the state machine (contract 8.2, C12)."""


class StatusBody(WireBody):
    example = {"status": "wont-fix", "note": "The tool is gone since 1.3.0."}

    status = StatusByHand(Status)
    note = Text(required=False, min_length=1, max_length=MAX_NOTE)


@extend_schema_field({"type": "string", "enum": ["fix-job"]})
class FixJob(Text):
    """Only a service that may speak as the fix job says it."""


class SortBody(WireBody):
    example = {"to": "developer", "reason": "The tool takes the wrong field."}

    to = Word(SortedTo)
    reason = Text(required=False, min_length=1, max_length=MAX_NOTE)
    vars()["as"] = FixJob(required=False)  # a word of Python's


class LinkBody(WireBody):
    together = {
        "oneOf": [
            {"properties": {"kind": {"enum": [LinkKind.IMPROVE_RUN, LinkKind.SUGGESTED_CHANGE]}}, "required": ["id"]},
            {"properties": {"kind": {"enum": [LinkKind.PULL_REQUEST]}}, "required": ["url"]},
        ]
    }
    example = {"kind": "pull-request", "url": "https://code.example.org/support/pulls/17"}

    kind = Word(LinkKind)
    id = Text(required=False, min_length=1, max_length=200)
    url = Text(required=False, min_length=1, max_length=2000)


def link_said(document: Document) -> tuple[LinkKind, str]:
    """(kind, id or address); each kind takes exactly its own of the two."""
    said = LinkBody.read(document)
    wanted, other = ("url", "id") if said["kind"] == LinkKind.PULL_REQUEST else ("id", "url")
    if wanted not in said or other in said:
        raise refusal(f"A link of kind {said['kind']} needs {wanted} and nothing else.", wanted)
    return said["kind"], said[wanted]
