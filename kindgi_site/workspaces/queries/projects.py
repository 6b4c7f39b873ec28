"""Projects as callers may see them."""

from uuid import UUID

from django.db.models import QuerySet

from kindgi_site.callers import Action, Caller
from kindgi_site.errors import Code, NotFoundError
from kindgi_site.workspaces.models import Project


def projects_readable_by(caller: Caller) -> QuerySet[Project]:
    """Newest first."""
    projects = Project.objects.filter(workspace=caller.workspace_id).order_by("-created_at", "-id")
    readable = caller.readable_project_ids
    return projects if readable is None else projects.filter(id__in=readable)


def project_in_workspace(workspace_id: UUID, project_id: UUID) -> Project:
    """A project whether or not the caller may read it; NotFoundError `project-not-found`."""
    project = Project.objects.filter(workspace=workspace_id, id=project_id).first()
    if project is None:
        raise project_not_found(project_id)
    return project


def project_readable_by(caller: Caller, project_id: UUID) -> Project:
    project = project_in_workspace(caller.workspace_id, project_id)
    if not caller.may(Action.READ, project.id):
        raise project_not_found(project_id)
    return project


def project_not_found(project_id: object) -> NotFoundError:
    return NotFoundError(Code.PROJECT_NOT_FOUND, "There is no such project.", projectId=str(project_id))


def default_project_for(caller: Caller) -> Project:
    """The workspace's Default project; NotFoundError when there is none or the caller may not read it."""
    project = projects_readable_by(caller).filter(is_default=True).first()
    if project is None:
        raise project_not_found("default")
    return project
