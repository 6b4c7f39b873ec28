"""What /v1 sends of runs and corrections (contract 7.1, 7.5, 11.1), cased as the contract."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from corrections.models import Run
from corrections.models.runs import AGENT_TURN_FLOW
from corrections.rules.drafts import MAX_ARGS_FIELDS, MAX_TOOL
from corrections.rules.segments import KEY_PATTERN, MAX_VALUE
from corrections.vocabulary import RECORDED_RIGHT, LinkKind, RunStatus, SortedTo, Status, SubjectKind, Verdict, Via
from kindgi_site.api import examples
from kindgi_site.api.shapes import Always, ShownId, ShownTime, StoredJsonField, WireShape, schema_of


def _words(enumeration: Any, **options: Any) -> serializers.ChoiceField:
    return serializers.ChoiceField([word.value for word in enumeration], **options)


def _object(**fields: Any) -> dict[str, Any]:
    """The schema of an object with exactly these fields, all needed."""
    return {"type": "object", "required": list(fields), "properties": fields}


class SubjectShape(WireShape):
    kind = _words(SubjectKind)
    id = ShownId()
    version = serializers.CharField()


class PartyShape(WireShape):
    kind = serializers.ChoiceField(["user", "service"])
    id = ShownId()


_PARTY = {"$ref": "#/components/schemas/Party"}


@extend_schema_field({"oneOf": [_object(kind={"type": "string", "enum": ["fix-job", "rule"]}), _PARTY]})
class SorterShape(WireShape):
    kind = serializers.ChoiceField(["user", "service", "fix-job", "rule"])
    id = ShownId(required=False)


class SortingShape(WireShape):
    by = SorterShape()
    reason = serializers.CharField(required=False)
    at = ShownTime()


@extend_schema_field(
    {
        "oneOf": [
            _object(
                kind={"type": "string", "enum": [LinkKind.IMPROVE_RUN, LinkKind.SUGGESTED_CHANGE]},
                id={"type": "string"},
            ),
            _object(kind={"type": "string", "enum": [LinkKind.PULL_REQUEST]}, url={"type": "string", "format": "uri"}),
        ]
    }
)
class LinkShape(WireShape):
    kind = _words(LinkKind)
    id = ShownId(source="target", required=False)
    url = serializers.URLField(source="target", required=False)

    def to_representation(self, instance: Any) -> dict[str, Any]:
        name = "url" if instance.kind == LinkKind.PULL_REQUEST else "id"
        return {"kind": instance.kind, name: instance.target}


class FixedInShape(WireShape):
    version = serializers.CharField(required=False)
    how = serializers.ChoiceField(["pin", "latest", RECORDED_RIGHT])
    by = PartyShape(required=False)
    at = ShownTime()


class ReopenedInShape(WireShape):
    version = serializers.CharField()
    how = serializers.ChoiceField(["pin", "went-back", "unpin", "latest"])
    by = PartyShape(required=False)
    at = ShownTime()


class StatusNoteShape(WireShape):
    text = serializers.CharField()
    by = PartyShape()
    at = ShownTime()


@extend_schema_field({"type": "object", "maxProperties": MAX_ARGS_FIELDS, "additionalProperties": True})
class _ArgsField(StoredJsonField):
    pass


class ExpectedCallShape(WireShape):
    tool = serializers.CharField(min_length=1, max_length=MAX_TOOL)
    args = _ArgsField()


class CorrectedItemShape(WireShape):
    key = serializers.CharField(min_length=1)
    pointer = serializers.CharField(required=False, allow_blank=True)
    rank = serializers.IntegerField(required=False, min_value=0)
    verdict = _words(Verdict)


class SegmentShape(WireShape):
    key = serializers.RegexField(KEY_PATTERN)
    value = serializers.CharField(min_length=1, max_length=MAX_VALUE)


_SUBJECT = {"kind": "agent", "id": examples.AGENT, "version": "1.2.0"}
_AT = "2026-03-01T10:12:30.250Z"


class CorrectionShape(WireShape):
    example = {
        "id": examples.CORRECTION,
        "tenantId": examples.TENANT,
        "projectId": examples.PROJECT,
        "runId": examples.RUN,
        "subject": _SUBJECT,
        "decisions": "wrong",
        "shouldCall": [{"tool": "cancel_order", "args": {"orderId": "A-17"}}],
        "mustNotCall": ["refund_order"],
        "why": "Nothing had been paid yet.",
        "madeBy": {"kind": "user", "id": examples.PERSON},
        "status": "with-owner",
        "sortedTo": "owner",
        "sorted": {"by": {"kind": "rule"}, "at": _AT},
        "createdAt": _AT,
        "updatedAt": _AT,
    }

    id = ShownId()
    tenantId = ShownId(source="workspace_id")
    projectId = ShownId(source="project_id")
    runId = ShownId(source="run_id")
    subject = SubjectShape()
    decisions = _words(Verdict, required=False)
    shouldCall = schema_of(ExpectedCallShape(many=True))(source="should_call", required=False)
    mustNotCall = schema_of({"type": "array", "items": {"type": "string"}})(source="must_not_call", required=False)
    answer = _words(Verdict, required=False)
    shouldSay = serializers.CharField(source="should_say", required=False)
    why = serializers.CharField(required=False)
    items = schema_of(CorrectedItemShape(many=True))(required=False)
    correctorGroupId = ShownId(source="group_id", required=False)
    expert = Always(required=False)
    madeBy = PartyShape(source="made_by")
    participantId = ShownId(source="participant_id", required=False)
    status = _words(Status)
    sortedTo = _words(SortedTo, source="sorted_to", required=False)
    sorted = SortingShape(source="sorting", required=False)
    link = LinkShape(required=False)
    fixedIn = FixedInShape(source="fixed_in", required=False)
    reopenedIn = ReopenedInShape(source="reopened_in", required=False)
    statusNote = StatusNoteShape(source="status_note", required=False)
    createdAt = ShownTime(source="created_at")
    updatedAt = ShownTime(source="updated_at")
    unregisteredAt = ShownTime(source="unregistered_at", required=False)
    supersededBy = ShownId(source="superseded_by_id", required=False)


class UnregisteredCorrectionShape(WireShape):
    correctionId = ShownId()
    unregistered = Always()


class CorrectionEventShape(WireShape):
    at = ShownTime()
    by = PartyShape(required=False)
    action = serializers.CharField()
    vars()["from"] = serializers.CharField(source="from_status", required=False)  # a word of Python's
    to = serializers.CharField(source="to_status", required=False)
    note = serializers.CharField(required=False)
    cause = serializers.CharField(required=False)


class SessionApprovalShape(WireShape):
    approved = serializers.BooleanField()
    rationale = serializers.CharField(required=False)


class FlowCallShape(WireShape):
    runId = ShownId()
    nodeId = ShownId(required=False)
    scope = serializers.CharField(required=False)
    toolId = ShownId()
    arguments = StoredJsonField(required=False)
    result = StoredJsonField(required=False)
    fromEvent = Always(required=False)


class FlowStepShape(WireShape):
    runId = ShownId()
    nodeId = ShownId(required=False)
    scope = serializers.CharField(required=False)
    agentId = ShownId()
    agentVersion = serializers.CharField()
    retrieved = StoredJsonField(required=False)
    recalled = StoredJsonField(required=False)


class FlowShape(WireShape):
    calls = FlowCallShape(many=True)
    steps = FlowStepShape(many=True)
    truncated = Always(required=False)


class RunContextShape(WireShape):
    history = serializers.ListField(child=StoredJsonField(), required=False)
    historyTruncated = Always(required=False)
    retrieved = StoredJsonField(required=False)
    recalled = StoredJsonField(required=False)
    sessionApproval = SessionApprovalShape(required=False)
    flow = FlowShape(required=False)
    toolEnv = serializers.DictField(child=serializers.DictField(child=serializers.CharField()), required=False)
    replayOf = ShownId(required=False)


class _SegmentsField(schema_of(SegmentShape(many=True))):  # type: ignore[misc]
    """Always there, `[]` when the run had none, and gone after an erasure."""

    def get_attribute(self, instance: Any) -> Any:
        if instance.erased_at is not None:
            return None
        return instance.segments or []


class RunCopyShape(WireShape):
    runId = ShownId(source="run_id")
    subject = SubjectShape()
    input = StoredJsonField()
    context = schema_of(RunContextShape)(required=False)  # type: ignore[assignment]
    output = StoredJsonField()
    segments = _SegmentsField(required=False)
    capturedAt = ShownTime(source="captured_at")


class CorrectionWithCopiesShape(CorrectionShape):
    example = CorrectionShape.example | {
        "run": {
            "runId": examples.RUN,
            "subject": _SUBJECT,
            "input": {"message": "Please cancel my order A-17."},
            "output": {"content": "Your money is on its way."},
            "segments": [],
            "capturedAt": _AT,
        }
    }

    run = RunCopyShape(source="copy")


class AgentShape(WireShape):
    id = ShownId(source="subject_id")
    version = serializers.CharField(source="subject_version")
    conversationId = ShownId(source="conversation_shown")
    via = _words(Via, required=False)


class _AgentField(AgentShape):
    def get_attribute(self, instance: Run) -> Any:
        return instance if instance.is_agent_turn else None


class _FlowIdField(ShownId):
    def get_attribute(self, instance: Run) -> str:
        return AGENT_TURN_FLOW if instance.is_agent_turn else instance.subject_id


class RunShape(WireShape):
    id = ShownId(source="run_id")
    tenantId = ShownId(source="workspace_id")
    projectId = ShownId(source="project_id")
    flowId = _FlowIdField()
    flowVersion = serializers.CharField(source="subject_version")
    status = _words(RunStatus)
    dryRun = serializers.BooleanField(source="dry_run")
    createdAt = ShownTime(source="created_at")
    updatedAt = ShownTime(source="updated_at")
    completedAt = ShownTime(source="completed_at", required=False)
    failureMessage = serializers.CharField(source="content.failure_message", required=False)
    parentRunId = ShownId(source="parent_run_id", required=False)
    parentNodeId = ShownId(source="parent_node_id", required=False)
    agent = _AgentField(source="*", required=False)
    replayOf = ShownId(source="replay_of", required=False)
    testRunId = ShownId(source="test_run_id", required=False)
    contentErasedAt = ShownTime(source="erased_at", required=False)
    segments = schema_of(SegmentShape(many=True))(required=False)


class RunWithOutputShape(RunShape):
    output = StoredJsonField(source="content.output", required=False)


class RunWithPartsShape(RunWithOutputShape):
    """Of the parts, the answer has those that `include` asked for (decision 5)."""

    input = StoredJsonField(required=False)
    calls = StoredJsonField(required=False)
    context = StoredJsonField(required=False)  # type: ignore[assignment]
