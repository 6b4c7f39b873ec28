"""Routes below one project that look at it before anything else (contract, section 18)."""

from corrections.queries.correcting_rules import project_for
from kindgi_site.api.pipeline import V1View, path_uuid
from kindgi_site.callers import Action
from kindgi_site.workspaces.models import Project


class ProjectView(V1View):
    def project(self, project_id: str, action: Action) -> Project:
        """UUID shape, then permission, then existence: in this order, and before the body."""
        return project_for(self.caller, action, path_uuid(project_id, "projectId"))
