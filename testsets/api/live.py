"""/v1 of what is live of an agent, and of its owner (contract 16)."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from corrections.api.shapes import PartyShape
from corrections.marks import Party
from corrections.queries.agents import owner_of
from corrections.services.agents import set_owner
from kindgi_site.api import examples
from kindgi_site.api.bodies import ListOf, Moment, Text, Version, WireBody
from kindgi_site.api.pipeline import V1View, path_uuid
from kindgi_site.api.schema import PAGING, refusals
from kindgi_site.api.shapes import ShownId, ShownTime, WireShape, page_of
from kindgi_site.callers import Action
from kindgi_site.clock import wire_time
from kindgi_site.errors import Code, NotFoundError
from kindgi_site.workspaces.permissions import check_project_action
from kindgi_site.workspaces.queries.projects import project_readable_by
from testsets.drafts import LiveChangeDraft
from testsets.models import LiveVersion
from testsets.queries.live import changes_of, live_row_of
from testsets.services.live import ACTIONS, LATEST, MAX_FIXES, PIN, UNPIN, WENT_BACK, change_live


class LiveChangeBody(WireBody):
    example = {"action": PIN, "version": "1.3.0", "reason": "Graded better.", "fixes": [examples.CORRECTION]}

    action = serializers.ChoiceField(list(ACTIONS))
    version = Version(required=False)
    reason = Text(required=False, max_length=2000)
    at = Moment(required=False)
    fixes = ListOf(child=Text(non_blank=True), required=False, max_length=MAX_FIXES)


class OwnerBody(WireBody):
    example = {"kind": "user", "id": examples.PERSON}

    kind = serializers.ChoiceField(["user", "service"])
    id = Text(non_blank=True, max_length=100)


class VersionOrNull(serializers.CharField):
    """A version, or null where none was live; null is sent (contract 4.1)."""

    def get_attribute(self, instance: Any) -> str | None:
        return super().get_attribute(instance) or None


class LiveChangeShape(WireShape):
    id = ShownId()
    projectId = ShownId(source="project_id")
    agentId = ShownId(source="agent_id")
    action = serializers.ChoiceField(list(ACTIONS))
    how = serializers.ChoiceField([PIN, WENT_BACK, UNPIN, LATEST])
    fromVersion = VersionOrNull(source="from_version", allow_null=True)
    toVersion = VersionOrNull(source="to_version", allow_null=True)
    live = serializers.BooleanField()
    requestedBy = PartyShape(source="requested_by", required=False)
    reason = serializers.CharField(required=False)
    createdAt = ShownTime(source="created_at")


class LiveShape(WireShape):
    projectId = ShownId()
    agentId = ShownId()
    version = serializers.CharField()
    via = serializers.ChoiceField(["live", "latest"])
    since = ShownTime()


class LiveNowShape(WireShape):
    version = serializers.CharField()
    via = serializers.ChoiceField(["live", "latest"])
    since = ShownTime()


class AgentOwnerShape(WireShape):
    projectId = ShownId()
    agentId = ShownId()
    owner = PartyShape(required=False)


class AgentShape(AgentOwnerShape):
    live = LiveNowShape(required=False)


class LiveChangesView(V1View):
    @extend_schema(
        operation_id="agents.liveChanges.list",
        summary="List what changed the live version, newest first",
        parameters=PAGING,
        responses={200: page_of(LiveChangeShape), **refusals(400, 401, 403, 404)},
    )
    def get(self, request: Request, project_id: str, agent_id: str) -> Response:
        project = _readable(self, project_id)
        return Response(self.paging.newest_first(changes_of(project, agent_id), LiveChangeShape.wire))

    @extend_schema(
        operation_id="agents.liveChanges.create",
        summary="Pin a version, unpin it, or say which is the latest",
        request=LiveChangeBody,
        responses={201: LiveChangeShape, **refusals(400, 401, 403, 404, 409, 413, 503)},
    )
    def post(self, request: Request, project_id: str, agent_id: str) -> Response:
        project = path_uuid(project_id, "projectId")
        said = LiveChangeBody.read(self.document)
        draft = LiveChangeDraft(
            action=said["action"],
            version=said.get("version"),
            reason=said.get("reason", ""),
            at=said.get("at"),
            fixes=tuple(dict.fromkeys(said.get("fixes", ()))),
        )
        change = change_live(caller=self.caller, project_id=project, agent_id=agent_id, draft=draft)
        return Response(LiveChangeShape.wire(change), status=201)


class LiveView(V1View):
    @extend_schema(
        operation_id="agents.live",
        summary="Fetch the live version",
        responses={200: LiveShape, **refusals(400, 401, 403, 404)},
    )
    def get(self, request: Request, project_id: str, agent_id: str) -> Response:
        project = _readable(self, project_id)
        row = live_row_of(project, agent_id)
        if row is None or not row.version:
            raise NotFoundError(Code.NOT_FOUND, "No version of this agent is live here.", agentId=agent_id)
        return Response({"projectId": str(project), "agentId": agent_id} | live_now(row))


class AgentView(V1View):
    @extend_schema(
        operation_id="agents.get",
        summary="Fetch an agent's owner and live version",
        responses={200: AgentShape, **refusals(400, 401, 403, 404)},
    )
    def get(self, request: Request, project_id: str, agent_id: str) -> Response:
        project = _readable(self, project_id)
        row = live_row_of(project, agent_id)
        answer = _owner_wire(project, agent_id, owner_of(project, agent_id))
        return Response(answer | ({"live": live_now(row)} if row and row.version else {}))


class AgentOwnerView(V1View):
    @extend_schema(
        operation_id="agents.setOwner",
        summary="Say who owns an agent; null says nobody",
        request=OwnerBody,
        responses={200: AgentOwnerShape, **refusals(400, 401, 403, 404, 409, 413, 503)},
    )
    def put(self, request: Request, project_id: str, agent_id: str) -> Response:
        project = path_uuid(project_id, "projectId")
        owner = None
        if not (self.document.is_json and self.document.value is None):
            said = OwnerBody.read(self.document)
            owner = Party(said["kind"], said["id"])
        set_owner(caller=self.caller, project_id=project, agent_id=agent_id, owner=owner)
        return Response(_owner_wire(project, agent_id, owner))


def live_now(row: LiveVersion) -> dict[str, Any]:
    assert row.change is not None  # a version is only ever live by a change
    return {"version": row.version, "via": row.via, "since": wire_time(row.change.created_at)}


def _readable(view: V1View, project_id: str) -> UUID:
    project = project_readable_by(view.caller, path_uuid(project_id, "projectId"))
    check_project_action(view.caller, Action.READ, project.id)
    return project.id


def _owner_wire(project_id: UUID, agent_id: str, owner: Party | None) -> dict[str, Any]:
    answer: dict[str, Any] = {"projectId": str(project_id), "agentId": agent_id}
    return answer if owner is None else answer | {"owner": {"kind": owner.kind, "id": owner.id}}
