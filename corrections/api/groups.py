"""/v1 of corrector groups (contract, section 9)."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from corrections.drafts import AssertableBy, GroupChange, GroupDraft, Unsaid
from corrections.models import CorrectorGroup
from corrections.queries.groups import group_readable_by, groups_readable_by
from corrections.rules.agents import MAX_AGENT_ID
from corrections.rules.groups import MAX_DESCRIPTION, MAX_NAME, MAX_PRINCIPALS
from corrections.services.groups import change_group, create_group, may_administer_group, retire_group
from corrections.vocabulary import ScopeKind
from kindgi_site.api import examples
from kindgi_site.api.bodies import Decimal, Id, ListOf, Shape, Text, WireBody, Word, uuid_of
from kindgi_site.api.pipeline import V1View
from kindgi_site.api.schema import PAGING, refusals
from kindgi_site.api.shapes import Always, ShownId, ShownTime, WireShape, page_of, schema_of
from kindgi_site.callers import Caller, ReviewerRole
from kindgi_site.errors import Code, InvalidError
from kindgi_site.exact_json import is_storable


class GroupScopeBody(Shape):
    kind = Word(ScopeKind)
    projectId = Id(required=False)
    agentId = Text(required=False, non_blank=True, max_length=MAX_AGENT_ID)


class AssertableByBody(Shape):
    minReviewerRole = Word(ReviewerRole, required=False)
    principalKinds = ListOf(child=serializers.ChoiceField(["user", "service"]), required=False, min_length=1)
    principalIds = ListOf(child=Text(non_blank=True), required=False, min_length=1, max_length=MAX_PRINCIPALS)


class CreateGroupBody(WireBody):
    example = {
        "name": "Order desk",
        "weight": 3,
        "scope": {"kind": "project", "projectId": examples.PROJECT},
        "assertableBy": {"minReviewerRole": "senior"},
    }

    name = Text(non_blank=True, max_length=MAX_NAME)
    weight = Decimal(min_value=0)
    scope = GroupScopeBody()
    description = Text(required=False, max_length=MAX_DESCRIPTION)
    assertableBy = AssertableByBody(required=False, allow_null=True)


class ChangeGroupBody(WireBody):
    example = {"weight": 2.5, "assertableBy": None}

    weight = Decimal(required=False, min_value=0)
    description = Text(required=False, max_length=MAX_DESCRIPTION)
    assertableBy = AssertableByBody(required=False, allow_null=True)


class GroupScopeShape(WireShape):
    kind = serializers.ChoiceField([kind.value for kind in ScopeKind], source="scope_kind")
    projectId = ShownId(source="project_id", required=False)
    agentId = ShownId(source="agent_id", required=False)


class AssertableByShape(WireShape):
    minReviewerRole = serializers.ChoiceField([role.value for role in ReviewerRole], required=False)
    principalKinds = serializers.ListField(child=serializers.CharField(), required=False)
    principalIds = serializers.ListField(child=serializers.CharField(), required=False)
    principalCount = serializers.IntegerField(required=False)


class WeightField(serializers.FloatField):
    """An integral weight goes out as `1`, not as `1.0` (contract 4.2)."""

    def to_representation(self, value: float) -> float:  # type: ignore[override]
        return int(value) if value.is_integer() and abs(value) < 2**53 else value


class GroupShape(WireShape):
    id = ShownId()
    tenantId = ShownId(source="workspace_id")
    scope = GroupScopeShape(source="*")
    name = serializers.CharField()
    weight = WeightField()
    description = serializers.CharField(required=False)
    assertableBy = schema_of(AssertableByShape)(required=False)
    createdAt = ShownTime(source="created_at")
    updatedAt = ShownTime(source="updated_at")
    unregisteredAt = ShownTime(source="unregistered_at", required=False)

    @classmethod
    def wire_for(cls, caller: Caller, group: CorrectorGroup) -> dict[str, Any]:
        """As the caller may see it: who may speak for the group is for its administrators (9.3)."""
        return cls.wire(GroupAsSeen(group, _assertable_by(caller, group)))


class GroupAsSeen:
    """A group with its restriction as one caller sees it."""

    def __init__(self, group: CorrectorGroup, assertable_by: dict[str, Any] | None) -> None:
        self._group = group
        self.assertableBy = assertable_by

    def __getattr__(self, name: str) -> Any:
        return getattr(self._group, name)


class UnregisteredGroupShape(WireShape):
    correctorGroupId = ShownId()
    unregistered = Always()


class GroupsView(V1View):
    @extend_schema(
        operation_id="correctorGroups.list",
        summary="List live corrector groups, newest first",
        parameters=[
            *PAGING,
            OpenApiParameter("scopeKind", str, enum=[kind.value for kind in ScopeKind]),
            OpenApiParameter("projectId", str, description="The project of the scope."),
            OpenApiParameter("agentId", str, description="The agent of the scope."),
        ],
        responses={200: page_of(GroupShape), **refusals(400, 401, 403)},
    )
    def get(self, request: Request) -> Response:
        groups = _in_scope(groups_readable_by(self.caller).filter(unregistered_at__isnull=True), request)
        return Response(self.paging.newest_first(groups, lambda group: GroupShape.wire_for(self.caller, group)))

    @extend_schema(
        operation_id="correctorGroups.create",
        summary="Make a corrector group",
        request=CreateGroupBody,
        responses={201: GroupShape, **refusals(400, 401, 403, 404, 409, 413, 503)},
    )
    def post(self, request: Request) -> Response:
        group = create_group(caller=self.caller, draft=_draft(CreateGroupBody.read(self.document)))
        return Response(GroupShape.wire_for(self.caller, group), status=201)


class GroupView(V1View):
    @extend_schema(
        operation_id="correctorGroups.get",
        summary="Fetch a corrector group",
        responses={200: GroupShape, **refusals(401, 403, 404)},
    )
    def get(self, request: Request, group_id: str) -> Response:
        return Response(GroupShape.wire_for(self.caller, group_readable_by(self.caller, group_id)))

    @extend_schema(
        operation_id="correctorGroups.update",
        summary="Change a corrector group's weight, description or restriction",
        request=ChangeGroupBody,
        responses={200: GroupShape, **refusals(400, 401, 403, 404, 409, 413, 503)},
    )
    def patch(self, request: Request, group_id: str) -> Response:
        said = ChangeGroupBody.read(self.document)
        change = GroupChange(
            weight=said.get("weight"),
            description=said.get("description"),
            assertable_by=_restriction(said["assertableBy"]) if "assertableBy" in said else Unsaid.UNSAID,
        )
        group = change_group(caller=self.caller, group_id=group_id, change=change)
        return Response(GroupShape.wire_for(self.caller, group))


class UnregisterGroupView(V1View):
    @extend_schema(
        operation_id="correctorGroups.unregister",
        summary="Retire a corrector group",
        request=None,
        responses={200: UnregisteredGroupShape, **refusals(401, 403, 404, 409, 503)},
    )
    def post(self, request: Request, group_id: str) -> Response:
        group = retire_group(caller=self.caller, group_id=group_id)
        return Response({"correctorGroupId": str(group.id), "unregistered": True})


def _draft(said: dict[str, Any]) -> GroupDraft:
    scope = said["scope"]
    return GroupDraft(
        name=said["name"],
        weight=said["weight"],
        scope_kind=scope["kind"],
        project_id=scope.get("projectId"),
        agent_id=scope.get("agentId", ""),
        description=said.get("description", ""),
        assertable_by=_restriction(said.get("assertableBy")),
    )


def _restriction(said: dict[str, Any] | None) -> AssertableBy | None:
    if said is None:
        return None
    return AssertableBy(
        min_reviewer_role=said.get("minReviewerRole"),
        principal_kinds=tuple(said.get("principalKinds", ())),
        principal_ids=tuple(said.get("principalIds", ())),
    )


def _assertable_by(caller: Caller, group: CorrectorGroup) -> dict[str, Any] | None:
    parts: dict[str, Any] = {
        "minReviewerRole": group.min_reviewer_role,
        "principalKinds": group.principal_kinds,
        "principalIds": group.principal_ids if may_administer_group(caller, group) else None,
        "principalCount": len(group.principal_ids),
    }
    return {name: value for name, value in parts.items() if value} or None


def _in_scope(groups: QuerySet[CorrectorGroup], request: Request) -> QuerySet[CorrectorGroup]:
    """Exactly one scope, not what covers it; InvalidError for a combination that names none."""
    kind, project, agent = (request.query_params.get(name, "") for name in ("scopeKind", "projectId", "agentId"))
    if not (kind or project or agent):
        return groups
    project_id = uuid_of(project)
    named = (bool(project), bool(agent))
    wanted = {"tenant": (False, False), "project": (True, False), "agent": (True, True)}
    if wanted.get(kind) != named or (project and project_id is None) or not is_storable(agent):
        raise InvalidError(
            Code.BAD_INPUT,
            "scopeKind is tenant alone, project with projectId, or agent with projectId and agentId.",
            field="scopeKind",
        )
    return groups.filter(scope_kind=kind, project=project_id, agent_id=agent)
