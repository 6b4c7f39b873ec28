"""/v1 of the roster of reviewers (contract, section 10)."""

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from kindgi_site.api import examples
from kindgi_site.api.bodies import Id, Text, WireBody, Word
from kindgi_site.api.pipeline import V1View
from kindgi_site.api.schema import PAGING, refusals
from kindgi_site.api.shapes import Always, ShownId, ShownTime, WireShape, page_of
from kindgi_site.callers import ReviewerRole
from kindgi_site.workspaces.permissions import check_may_read_roster
from kindgi_site.workspaces.queries.reviewers import reviewer_readable_by, reviewers_readable_by
from kindgi_site.workspaces.services.reviewers import register_reviewer, unregister_reviewer


class RegisterReviewerBody(WireBody):
    example = {"userId": examples.PERSON, "role": "senior", "displayName": "Ana"}

    userId = Id()
    role = Word(ReviewerRole)
    displayName = Text(required=False, min_length=1, max_length=200)


class ReviewerShape(WireShape):
    id = ShownId()
    tenantId = ShownId(source="workspace_id")
    userId = ShownId(source="person_id")
    role = serializers.ChoiceField([role.value for role in ReviewerRole])
    displayName = serializers.CharField(source="display_name", required=False)
    createdAt = ShownTime(source="created_at")
    deactivatedAt = ShownTime(source="deactivated_at", required=False)


class UnregisteredReviewerShape(WireShape):
    reviewerId = ShownId()
    unregistered = Always()


class ReviewersView(V1View):
    @extend_schema(
        operation_id="reviewers.list",
        summary="List the roster, newest first",
        parameters=[*PAGING, OpenApiParameter("role", str, enum=[role.value for role in ReviewerRole])],
        responses={200: page_of(ReviewerShape), **refusals(400, 401, 403)},
    )
    def get(self, request: Request) -> Response:
        check_may_read_roster(self.caller)
        reviewers = reviewers_readable_by(self.caller, role=request.query_params.get("role", ""))
        return Response(self.paging.newest_first(reviewers, ReviewerShape.wire))

    @extend_schema(
        operation_id="reviewers.register",
        summary="Put a person on the roster, or change their place",
        request=RegisterReviewerBody,
        responses={201: ReviewerShape, **refusals(400, 401, 403, 404, 409, 413, 503)},
    )
    def post(self, request: Request) -> Response:
        said = RegisterReviewerBody.read(self.document)
        reviewer = register_reviewer(
            caller=self.caller, person_id=said["userId"], role=said["role"], display_name=said.get("displayName")
        )
        return Response(ReviewerShape.wire(reviewer), status=201)


class ReviewerView(V1View):
    @extend_schema(
        operation_id="reviewers.get",
        summary="Fetch a place on the roster",
        responses={200: ReviewerShape, **refusals(401, 403, 404)},
    )
    def get(self, request: Request, reviewer_id: str) -> Response:
        check_may_read_roster(self.caller)
        return Response(ReviewerShape.wire(reviewer_readable_by(self.caller, reviewer_id)))


class UnregisterReviewerView(V1View):
    @extend_schema(
        operation_id="reviewers.unregister",
        summary="Deactivate a reviewer",
        request=None,
        responses={200: UnregisteredReviewerShape, **refusals(401, 403, 404, 409, 503)},
    )
    def post(self, request: Request, reviewer_id: str) -> Response:
        reviewer = unregister_reviewer(caller=self.caller, reviewer_id=reviewer_id)
        return Response({"reviewerId": str(reviewer.id), "unregistered": True})
