"""What a wrong setting of this app stops the start for; a judge that fails later leaves answers ungraded, silently."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error

from testsets.judges import ask_model
from testsets.services.judging import configured_judge


def judge_can_be_asked(**_kwargs: Any) -> list[CheckMessage]:
    try:
        judge = configured_judge()
    except ImportError:
        judge = None
    if settings.TEST_JUDGE and not callable(judge):
        return [Error(f"TEST_JUDGE names nothing that can be called: {settings.TEST_JUDGE}", id="testsets.E001")]
    if judge is not ask_model:
        return []
    if not settings.JUDGE_URL or not settings.JUDGE_MODEL:
        return [Error("TEST_JUDGE asks a model, so JUDGE_URL and JUDGE_MODEL must be set.", id="testsets.E002")]
    if not settings.JUDGE_URL.startswith(("http://", "https://")):
        return [Error("JUDGE_URL is no http:// or https:// address.", id="testsets.E003")]
    return []
