"""Making projects (contract, section 19)."""

import re

from django.db import transaction

from kindgi_site.callers import Caller
from kindgi_site.errors import Code, ConflictError, InvalidError
from kindgi_site.workspaces.models import Project, Workspace
from kindgi_site.workspaces.permissions import check_workspace_admin
from kindgi_site.workspaces.services.audit import record_write

_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@transaction.atomic
def create_project(*, caller: Caller, name: str, slug: str, description: str = "", is_default: bool = False) -> Project:
    """A new project. Holds the workspace's row, so that a slug is given once and there is one Default."""
    check_workspace_admin(caller)
    if not _SLUG.fullmatch(slug):
        raise InvalidError(
            Code.BAD_INPUT, "A slug is made of lower-case letters and digits, with single hyphens inside.", field="slug"
        )
    workspace = Workspace.objects.select_for_update(no_key=True).get(id=caller.workspace_id)
    if workspace.projects.filter(slug=slug).exists():
        raise ConflictError(Code.SLUG_CONFLICT, "There is a project of this slug already.", slug=slug)
    if is_default and workspace.projects.filter(is_default=True).exists():
        raise ConflictError(Code.PROJECT_DEFAULT_ALREADY_EXISTS, "There is a Default project already.")
    project = Project(workspace=workspace, name=name, slug=slug, description=description, is_default=is_default)
    project.updated_at = project.created_at
    project.save(force_insert=True)
    record_write(caller, "projects.create", "project", project.id, ["name", "slug"])
    return project
