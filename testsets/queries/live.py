"""What is live of an agent, and every change of it (contract 16)."""

from uuid import UUID

from django.db.models import QuerySet

from testsets.models import LiveChange, LiveVersion


def live_row_of(project_id: UUID, agent_id: str) -> LiveVersion | None:
    """With the change that made it live joined."""
    return LiveVersion.objects.filter(project=project_id, agent_id=agent_id).select_related("change").first()


def live_version_of(project_id: UUID, agent_id: str) -> str | None:
    row = live_row_of(project_id, agent_id)
    return row.version or None if row else None


def changes_of(project_id: UUID, agent_id: str) -> QuerySet[LiveChange]:
    """Newest first."""
    return LiveChange.objects.filter(project=project_id, agent_id=agent_id).order_by("-created_at", "-id")
