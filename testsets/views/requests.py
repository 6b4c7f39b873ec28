"""What several pages ask of a request: the agent that an address names, projects to choose from."""

from uuid import UUID

from django.db.models import QuerySet

from kindgi_site.callers import Action
from kindgi_site.errors import Code, NotFoundError
from kindgi_site.exact_json import is_storable
from kindgi_site.workspaces.models import Project
from kindgi_site.workspaces.queries.projects import projects_readable_by
from kindgi_site.workspaces.requests import PageRequest
from testsets.queries.agent_sets import AgentSet, agent_set_for


def agent_set_at(request: PageRequest, action: Action, project_id: UUID, agent_id: str) -> AgentSet:
    """The set of the agent in an address; NotFoundError for an id that no agent can have."""
    if not is_storable(agent_id):
        raise NotFoundError(Code.NOT_FOUND, "There is no such agent.")
    return agent_set_for(request.caller, action, project_id, agent_id)


def projects_for(request: PageRequest, action: Action) -> QuerySet[Project]:
    """The projects on which the caller may do something, the Default one first."""
    readable = projects_readable_by(request.caller).order_by("-is_default", "name")
    return readable.filter(id__in=[project.id for project in readable if request.caller.may(action, project.id)])
