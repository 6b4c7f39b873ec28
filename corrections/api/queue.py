"""/v1 of the correcting queue (contract 18.4)."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from corrections.api.in_project import ProjectView
from corrections.filters import QueueFilter
from corrections.queries.queue import QueuedRun, queued_runs
from corrections.rules.queue import MAX_REASON
from corrections.services.queue import dismiss_item, reopen_item
from corrections.vocabulary import ItemState, RunStatus
from kindgi_site.api.bodies import Text, WireBody
from kindgi_site.api.cursors import time_place
from kindgi_site.api.schema import filtering, paging, refusals
from kindgi_site.api.shapes import ShownId, ShownTime, WireShape, page_of
from kindgi_site.callers import Action


class DismissBody(WireBody):
    example = {"reason": "A test of the operators."}

    reason = Text(required=False, max_length=MAX_REASON)


class ItemRuleShape(WireShape):
    ruleId = ShownId(source="rule_id")
    version = serializers.IntegerField(source="version.number", min_value=1)


class GroupCountShape(WireShape):
    correctorGroupId = ShownId(source="group_id", allow_null=True)
    count = serializers.IntegerField(min_value=0)


class ProgressShape(WireShape):
    total = serializers.IntegerField(min_value=0)
    byGroup = GroupCountShape(source="by_group", many=True)


class ItemCanShape(WireShape):
    dismiss = serializers.BooleanField(source="can_dismiss")
    reopen = serializers.BooleanField(source="can_reopen")


class CorrectingItemShape(WireShape):
    """A queued run: what it was, where it stands, never what it said."""

    runId = ShownId(source="item.run_id")
    projectId = ShownId(source="item.project_id")
    agentId = ShownId(source="item.agent_id", required=False)
    agentVersion = serializers.CharField(source="item.agent_version", required=False)
    flowId = ShownId(source="item.flow_id")
    runStatus = serializers.ChoiceField([word.value for word in RunStatus], source="item.run_status")
    completedAt = ShownTime(source="item.completed_at")
    rules = ItemRuleShape(source="matches", many=True)
    wantedGroupIds = serializers.ListField(child=ShownId(), source="wanted_group_ids")
    anyCorrection = serializers.BooleanField(source="any_correction")
    progress = ProgressShape(source="*")
    addedAt = ShownTime(source="item.added_at")
    state = serializers.ChoiceField([word.value for word in ItemState], source="item.state")
    closedAt = ShownTime(source="item.closed_at", required=False)
    closedBy = ShownId(source="item.closed_by", required=False)
    reason = serializers.CharField(source="item.reason", required=False)
    can = ItemCanShape(source="*")


class CorrectingQueueShape(page_of(CorrectingItemShape)):  # type: ignore[misc]
    total = serializers.IntegerField(min_value=0, help_text="Every item the filters match, across pages.")


class CorrectingQueueView(ProjectView):
    @extend_schema(
        operation_id="projects.correctingQueue.list",
        summary="List a project's correcting queue, oldest first",
        parameters=[*paging(least=0), *filtering(QueueFilter)],
        responses={200: CorrectingQueueShape, **refusals(400, 401, 403, 404)},
    )
    def get(self, request: Request, project_id: str) -> Response:
        """`limit=0` answers with the total alone. `forMe=true`: what the caller's own correction is of use to."""
        project = self.project(project_id, Action.READ)
        items = QueueFilter(request.query_params, caller=self.caller, project=project).narrowed()
        total = {"total": items.count()}
        if request.query_params.get("limit") == "0":
            return Response({"data": [], "hasMore": False} | total)
        rows = queued_runs(self.caller, self.paging.oldest(items, time_field="added_at", id_field="run_id"))
        return Response(self.paging.page(rows, CorrectingItemShape.wire, _place) | total)


class DismissItemView(ProjectView):
    @extend_schema(
        operation_id="projects.correctingQueue.dismiss",
        summary="Take a run out of the correcting queue",
        request=DismissBody,
        responses={200: CorrectingItemShape, **refusals(400, 401, 403, 404, 409, 413, 503)},
    )
    def post(self, request: Request, project_id: str, run_id: str) -> Response:
        """For one that is not worth correcting. A body that is not JSON counts as none."""
        project = self.project(project_id, Action.WRITE)
        said = DismissBody.read(self.document) if self.document.is_json else {}
        item = dismiss_item(caller=self.caller, project=project, run_id=run_id, reason=said.get("reason"))
        return Response(_wire(queued_runs(self.caller, [item])))


class ReopenItemView(ProjectView):
    @extend_schema(
        operation_id="projects.correctingQueue.reopen",
        summary="Put a dismissed run back into the correcting queue",
        request=None,
        responses={200: CorrectingItemShape, **refusals(400, 401, 403, 404, 409, 503)},
    )
    def post(self, request: Request, project_id: str, run_id: str) -> Response:
        project = self.project(project_id, Action.WRITE)
        item = reopen_item(caller=self.caller, project=project, run_id=run_id)
        return Response(_wire(queued_runs(self.caller, [item])))


def _wire(rows: list[QueuedRun]) -> dict[str, Any]:
    return CorrectingItemShape.wire(rows[0])


def _place(row: QueuedRun) -> list[str]:
    return time_place(row.item.added_at, row.item.run_id)
