"""/v1 of projects (contract, section 19)."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from kindgi_site.api.bodies import Flag, Text, WireBody
from kindgi_site.api.pipeline import V1View, path_uuid
from kindgi_site.api.schema import PAGING, refusals
from kindgi_site.api.shapes import ShownId, ShownTime, WireShape, page_of
from kindgi_site.workspaces.permissions import check_workspace_admin
from kindgi_site.workspaces.queries.projects import default_project_for, project_readable_by, projects_readable_by
from kindgi_site.workspaces.services.projects import create_project


class CreateProjectBody(WireBody):
    example = {"name": "Web shop", "slug": "web-shop"}

    name = Text(non_blank=True, max_length=200)
    slug = Text(non_blank=True, max_length=100)
    description = Text(required=False, max_length=2000)
    isDefault = Flag(required=False)


class ProjectShape(WireShape):
    id = ShownId()
    tenantId = ShownId(source="workspace_id")
    name = serializers.CharField()
    slug = serializers.CharField()
    isDefault = serializers.BooleanField(source="is_default")
    description = serializers.CharField(required=False)
    createdAt = ShownTime(source="created_at")
    updatedAt = ShownTime(source="updated_at")


class CreatedProjectShape(WireShape):
    id = ShownId()


class ProjectsView(V1View):
    @extend_schema(
        operation_id="projects.list",
        summary="List projects, newest first",
        parameters=[*PAGING, OpenApiParameter("nameContains", str, description="A part of the name, in any case.")],
        responses={200: page_of(ProjectShape), **refusals(400, 401, 403)},
    )
    def get(self, request: Request) -> Response:
        projects = projects_readable_by(self.caller)
        part = request.query_params.get("nameContains", "")
        if part:
            projects = projects.filter(name__icontains=part.replace("\0", "\ufffd"))
        return Response(self.paging.newest_first(projects, ProjectShape.wire))

    @extend_schema(
        operation_id="projects.create",
        summary="Make a project",
        request=CreateProjectBody,
        responses={201: CreatedProjectShape, **refusals(400, 401, 403, 409, 413, 503)},
    )
    def post(self, request: Request) -> Response:
        check_workspace_admin(self.caller)
        said: dict[str, Any] = CreateProjectBody.read(self.document)
        project = create_project(
            caller=self.caller,
            name=said["name"],
            slug=said["slug"],
            description=said.get("description", ""),
            is_default=said.get("isDefault", False),
        )
        return Response({"id": str(project.id)}, status=201)


class DefaultProjectView(V1View):
    @extend_schema(
        operation_id="projects.getDefault",
        summary="Fetch the Default project",
        responses={200: ProjectShape, **refusals(401, 403, 404)},
    )
    def get(self, request: Request) -> Response:
        return Response(ProjectShape.wire(default_project_for(self.caller)))


class ProjectView(V1View):
    @extend_schema(
        operation_id="projects.get",
        summary="Fetch a project",
        responses={200: ProjectShape, **refusals(400, 401, 403, 404)},
    )
    def get(self, request: Request, project_id: str) -> Response:
        return Response(ProjectShape.wire(project_readable_by(self.caller, path_uuid(project_id, "projectId"))))
