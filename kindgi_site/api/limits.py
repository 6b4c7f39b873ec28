"""The requests-per-minute limit of a workspace (contract 1.2)."""

import logging
import math
from datetime import timedelta

from django.db import DatabaseError
from django.db.models import F

from kindgi_site import clock
from kindgi_site.api.errors import HttpRefusal
from kindgi_site.errors import Code
from kindgi_site.workspaces.models import RateWindow, Workspace

logger = logging.getLogger(__name__)

WINDOW = timedelta(seconds=60)
_last_logged = clock.now() - WINDOW


def count_request(workspace: Workspace) -> None:
    """Count one request of a workspace that has a limit; HttpRefusal 429 when its minute is full.

    When counting fails the request passes: a limit must not take the service down.
    """
    if workspace.requests_per_minute is None:
        return
    try:
        left = _seconds_left(workspace, workspace.requests_per_minute)
    except DatabaseError as problem:
        _log_at_most_once_a_minute(problem)
        return
    if left is not None:
        raise HttpRefusal(
            429,
            Code.RATE_LIMIT_EXCEEDED,
            "This workspace has used up its requests for this minute.",
            {"limit": "api-requests"},
            retry_after=max(1, math.ceil(left)),
        )


def _seconds_left(workspace: Workspace, limit: int) -> float | None:
    """None when the request was counted, else how long the full window stays open."""
    now = clock.now()
    windows = RateWindow.objects.filter(workspace=workspace)
    if windows.filter(opened_at__gt=now - WINDOW, requests__lt=limit).update(requests=F("requests") + 1):
        return None
    if limit > 0:
        if windows.filter(opened_at__lte=now - WINDOW).update(opened_at=now, requests=1):
            return None
        opened = RateWindow(workspace=workspace, opened_at=now, requests=0)
        RateWindow.objects.bulk_create([opened], ignore_conflicts=True)
        if windows.filter(opened_at__gt=now - WINDOW, requests__lt=limit).update(requests=F("requests") + 1):
            return None
    opened_at = windows.values_list("opened_at", flat=True).first() or now
    return (opened_at + WINDOW - now).total_seconds()


def _log_at_most_once_a_minute(problem: Exception) -> None:
    global _last_logged  # noqa: PLW0603 - one moment a process
    if clock.now() - _last_logged >= WINDOW:
        _last_logged = clock.now()
        logger.warning("Counting requests failed; requests pass uncounted: %s", type(problem).__name__)
