"""What is live of an agent, and every change of it (contract 16)."""

from uuid import UUID

from django.db.models import QuerySet

from corrections.rules.agents import known_id
from kindgi_site.errors import Code, NotFoundError
from testsets.models import LiveChange, LiveVersion


def live_row_of(project_id: UUID, agent_id: str) -> LiveVersion | None:
    """With the change that made it live joined."""
    return LiveVersion.objects.filter(project=project_id, agent_id=known_id(agent_id)).select_related("change").first()


def live_version_of(project_id: UUID, agent_id: str) -> str | None:
    row = live_row_of(project_id, agent_id)
    return row.version or None if row else None


def changes_of(project_id: UUID, agent_id: str) -> QuerySet[LiveChange]:
    """Newest first."""
    return LiveChange.objects.filter(project=project_id, agent_id=known_id(agent_id)).order_by("-created_at", "-id")


def change_of(project_id: UUID, agent_id: str, change_id: UUID) -> LiveChange:
    """NotFoundError when the agent has no such change."""
    found = changes_of(project_id, agent_id).filter(id=change_id).first()
    if found is None:
        raise NotFoundError(Code.NOT_FOUND, "There is no such change.", changeId=str(change_id))
    return found


def next_change(change: LiveChange) -> LiveChange | None:
    """The change after it that made another version live."""
    later = LiveChange.objects.filter(
        project=change.project_id, agent_id=change.agent_id, live=True, created_at__gte=change.created_at
    )
    return later.exclude(id=change.id).order_by("created_at", "id").first()
