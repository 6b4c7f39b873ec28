"""What /v1 sends of test sets (contract 14), cased as the contract."""

from rest_framework import serializers

from corrections.api.shapes import CorrectedItemShape, ExpectedCallShape, RunContextShape, SegmentShape, SubjectShape
from corrections.rules.drafts import MAX_CALLS
from corrections.vocabulary import Verdict
from kindgi_site.api import examples
from kindgi_site.api.shapes import Always, ShownId, ShownTime, StoredJsonField, WireShape, schema_of
from testsets.rules.versions import KINDS

_VERDICTS = [verdict.value for verdict in Verdict]


class TestSetShape(WireShape):
    id = ShownId(source="test_set.name")
    tenantId = ShownId(source="test_set.workspace_id")
    projectId = ShownId(source="test_set.project_id")
    version = serializers.CharField()
    kind = serializers.ChoiceField(list(KINDS))
    description = serializers.CharField(required=False)
    spec = schema_of({"type": "object", "additionalProperties": True})()
    unregisteredAt = ShownTime(source="unregistered_at", required=False)


class PublishedShape(WireShape):
    testSetId = ShownId()
    version = serializers.CharField()


class BuiltShape(PublishedShape):
    kind = serializers.ChoiceField(["corrections"])
    caseCount = serializers.IntegerField(min_value=0)
    truncated = serializers.BooleanField()


class UnregisteredVersionShape(PublishedShape):
    unregistered = Always()


class ReinstatedVersionShape(PublishedShape):
    wasTombstoned = serializers.BooleanField()


class ReasonShape(WireShape):
    verdict = serializers.ChoiceField(["yes", "no"])
    reason = serializers.CharField()
    correctorGroupId = ShownId(required=False)
    expert = Always(required=False)


class ExpertSumShape(WireShape):
    yesWeight = serializers.FloatField()
    totalWeight = serializers.FloatField()
    correctionIds = serializers.ListField(child=ShownId(), required=False)


class ItemSummaryShape(WireShape):
    key = serializers.CharField()
    pointer = serializers.CharField(required=False, allow_blank=True)
    rank = serializers.IntegerField(required=False, min_value=0)
    yes = serializers.IntegerField(min_value=0)
    no = serializers.IntegerField(min_value=0)
    yesWeight = serializers.FloatField()
    totalWeight = serializers.FloatField()
    expert = ExpertSumShape(required=False)
    correctionIds = serializers.ListField(child=ShownId(), required=False)
    reasons = ReasonShape(many=True)


class ExpectedDecisionsShape(WireShape):
    correctionId = ShownId()
    correctorGroupId = ShownId(required=False)
    expert = Always(required=False)
    calls = serializers.ListField(child=ExpectedCallShape(), max_length=MAX_CALLS)
    notCalled = serializers.ListField(child=serializers.CharField(), max_length=MAX_CALLS)


class DecisionsExpectedShape(WireShape):
    verdict = serializers.ChoiceField(_VERDICTS)
    shouldCall = ExpectedCallShape(many=True, required=False)
    mustNotCall = serializers.ListField(child=serializers.CharField(), required=False)


class AnswerExpectedShape(WireShape):
    verdict = serializers.ChoiceField(_VERDICTS)
    shouldSay = serializers.CharField(required=False)
    why = serializers.CharField(required=False)


class ExpectationShape(WireShape):
    decisions = DecisionsExpectedShape(required=False)
    answer = AnswerExpectedShape(required=False)
    items = CorrectedItemShape(many=True, required=False)


class TestCaseShape(WireShape):
    """A case as it is stored; this shape only describes it."""

    example = {
        "caseId": examples.RUN,
        "runId": examples.RUN,
        "subject": {"kind": "agent", "id": examples.AGENT, "version": "1.2.0"},
        "input": {"message": "Please cancel my order A-17."},
        "output": {"content": "Your money is on its way."},
        "items": [],
        "corrections": [
            {
                "correctionId": examples.CORRECTION,
                "calls": [{"tool": "cancel_order", "args": {"orderId": "A-17"}}],
                "notCalled": ["refund_order"],
            }
        ],
    }

    caseId = ShownId()
    runId = ShownId(required=False)
    subject = SubjectShape()
    input = StoredJsonField()
    context = RunContextShape(required=False)  # type: ignore[assignment]
    output = StoredJsonField()
    segments = SegmentShape(many=True, required=False)
    items = ItemSummaryShape(many=True)
    corrections = ExpectedDecisionsShape(many=True, required=False)
    expect = ExpectationShape(required=False)
    expert = Always(required=False)
    erased = Always(required=False)
