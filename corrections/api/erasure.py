"""/v1 of erasure (contract 12.1, 12.2)."""

from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from corrections.api.shapes import PartyShape
from corrections.models import Erasure
from corrections.queries.erasures import erasure_for, erasures_for
from corrections.services.erasure import CONVERSATION, PARTICIPANT, erase_conversation, erase_participant, erase_run
from kindgi_site.api.bodies import Id, Shape, Text, WireBody, one_of
from kindgi_site.api.pipeline import V1View, path_uuid
from kindgi_site.api.schema import PAGING, refusals
from kindgi_site.api.shapes import ShownId, ShownTime, WireShape, page_of
from kindgi_site.clock import wire_time
from kindgi_site.errors import Code, InvalidError


@extend_schema_field({"type": "string", "enum": [PARTICIPANT]})
class SubjectKind(Text):
    """Other kinds of the contract's are refused after the rest of the body (12.2)."""


class ErasureSubjectBody(Shape):
    kind = SubjectKind()
    id = Text(non_blank=True, max_length=256)


class CreateErasureBody(WireBody):
    together = one_of("subject", "conversationId")
    example = {"subject": {"kind": PARTICIPANT, "id": "customer-4711"}}

    subject = ErasureSubjectBody(required=False)
    conversationId = Id(required=False)


class ErasedRunShape(WireShape):
    runId = ShownId()
    contentErasedAt = ShownTime()
    erased = serializers.BooleanField()


class ErasureShape(WireShape):
    id = ShownId()
    selectorKind = serializers.ChoiceField([PARTICIPANT, CONVERSATION], source="selector_kind")
    selector = serializers.CharField(required=False)
    status = serializers.CharField()
    phase = serializers.CharField()
    requestedBy = PartyShape(source="requested_by")
    matchable = serializers.BooleanField(source="is_matchable")
    counts = serializers.DictField(child=serializers.IntegerField())
    attempts = serializers.IntegerField()
    createdAt = ShownTime(source="created_at")
    completedAt = ShownTime(source="completed_at", required=False)


class RunErasureView(V1View):
    @extend_schema(
        operation_id="runs.erase",
        summary="Forget what a run said",
        request=None,
        responses={200: ErasedRunShape, **refusals(400, 401, 403, 404, 409, 503)},
    )
    def post(self, request: Request, run_id: str) -> Response:
        """Once more clears what came in since, such as a replay; `erased` is then false, and the time the first."""
        key = path_uuid(run_id, "runId")
        receipt, erased_at = erase_run(caller=self.caller, run_id=key)
        is_first = receipt is not None and receipt.created_at == erased_at
        return Response({"runId": str(key), "contentErasedAt": wire_time(erased_at), "erased": is_first})


class ErasuresView(V1View):
    @extend_schema(
        operation_id="erasures.list",
        summary="List erasures, newest first",
        parameters=PAGING,
        responses={200: page_of(ErasureShape), **refusals(400, 401, 403)},
    )
    def get(self, request: Request) -> Response:
        return Response(self.paging.newest_first(erasures_for(self.caller), ErasureShape.wire))

    @extend_schema(
        operation_id="erasures.create",
        summary="Forget a participant or a conversation",
        request=CreateErasureBody,
        responses={202: ErasureShape, **refusals(400, 401, 403, 409, 413, 503)},
    )
    def post(self, request: Request) -> Response:
        return Response(ErasureShape.wire(self._erased()), status=202)

    def _erased(self) -> Erasure:
        said = CreateErasureBody.read(self.document)
        subject = said.get("subject")
        if (subject is None) == ("conversationId" not in said):
            raise InvalidError(Code.BAD_INPUT, "Name exactly one of subject and conversationId.", field="subject")
        if subject is None:
            return erase_conversation(caller=self.caller, conversation_id=said["conversationId"])
        if subject["kind"] != PARTICIPANT:
            raise InvalidError(Code.BAD_INPUT, "subject.kind is participant.", field="subject")
        return erase_participant(caller=self.caller, participant_id=subject["id"])


class ErasureView(V1View):
    @extend_schema(
        operation_id="erasures.get",
        summary="Fetch an erasure",
        responses={200: ErasureShape, **refusals(401, 403, 404)},
    )
    def get(self, request: Request, erasure_id: str) -> Response:
        return Response(ErasureShape.wire(erasure_for(self.caller, erasure_id)))
