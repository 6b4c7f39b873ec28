"""Records of corrections as /v1 sends them, written down by hand for what tests/factories.py makes."""

from typing import Any

from corrections.models import Correction
from kindgi_site.clock import wire_time


def record(correction: Correction, **more: Any) -> dict[str, Any]:
    """The whole record of a wrong answer by a service; `more` are fields that it has besides, or instead."""
    plain = {
        "id": str(correction.id),
        "tenantId": str(correction.workspace_id),
        "projectId": str(correction.project_id),
        "runId": str(correction.run_id),
        "subject": {"kind": "agent", "id": "support", "version": "1.2.0"},
        "answer": "wrong",
        "why": "It is late.",
        "madeBy": {"kind": "service", "id": correction.made_by_id},
        "status": correction.status,
        "createdAt": wire_time(correction.created_at),
        "updatedAt": wire_time(correction.updated_at),
    }
    return {name: value for name, value in (plain | more).items() if value is not None}


def fresh(correction: Correction) -> Correction:
    return Correction.objects.get(id=correction.id)


def sorting(correction: Correction, **by: Any) -> dict[str, Any]:
    """`sorted` at the time of its last change."""
    return {"by": by, "at": wire_time(correction.updated_at)}
