"""Agents as projects know them."""

from uuid import UUID

from corrections.marks import Party
from corrections.models import AgentOwner
from corrections.rules.agents import known_id


def owner_of(project_id: UUID, agent_id: str) -> Party | None:
    row = AgentOwner.objects.filter(project=project_id, agent_id=known_id(agent_id)).first()
    return row.owner if row else None
