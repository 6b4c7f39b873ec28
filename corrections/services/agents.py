"""Who owns an agent: they decide on its wrong decisions (contract 16.4)."""

from uuid import UUID

from django.db import transaction

from corrections.marks import Party
from corrections.models import AgentOwner
from corrections.rules.agents import check_agent_id
from kindgi_site import clock
from kindgi_site.callers import Action, Caller
from kindgi_site.workspaces.permissions import check_project_action
from kindgi_site.workspaces.queries.projects import project_readable_by
from kindgi_site.workspaces.services.audit import record_write


@transaction.atomic
def set_owner(*, caller: Caller, project_id: UUID, agent_id: str, owner: Party | None) -> Party | None:
    """Record who owns an agent in a project, or that nobody does."""
    check_agent_id(agent_id)
    project = project_readable_by(caller, project_id)
    check_project_action(caller, Action.ADMIN, project.id)
    if owner is None:
        AgentOwner.objects.filter(project=project, agent_id=agent_id).delete()
    else:
        AgentOwner.objects.update_or_create(
            project=project,
            agent_id=agent_id,
            defaults={"owner_kind": owner.kind, "owner_id": owner.id, "updated_at": clock.now()},
        )
    record_write(caller, "agents.set-owner", "agent", agent_id, ["owner"])
    return owner
