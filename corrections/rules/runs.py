"""What a run that is handed in must say (contract 11.2)."""

from typing import Any

from corrections.drafts import RunDraft
from corrections.rules.drafts import MAX_TEXT, MAX_TOOL, refusal
from corrections.vocabulary import TERMINAL, RunStatus, SubjectKind
from kindgi_site.exact_json import is_storable

MAX_HISTORY = 1000
MAX_FLOW_CALLS = 5000


def check_run(draft: RunDraft) -> None:
    """InvalidError `bad-input` for the first thing wrong with what is handed in."""
    _check_output(draft)
    if draft.failure_message is not None and draft.status != RunStatus.FAILED:
        raise refusal("failureMessage goes only with status failed.", "failureMessage")
    if len(draft.failure_message or "") > MAX_TEXT:
        raise refusal(f"failureMessage is longer than {MAX_TEXT} characters.", "failureMessage")
    if draft.status in TERMINAL and draft.completed_at is None:
        raise refusal(f"A {draft.status} run needs completedAt.", "completedAt")
    check_context(draft.context.value if draft.context else {})
    if draft.calls:
        if draft.subject_kind != SubjectKind.AGENT:
            raise refusal("calls goes only with agent; a flow's calls stand in context.flow.calls.", "calls")
        check_calls(draft.calls.value, None, "calls")


def _check_output(draft: RunDraft) -> None:
    if draft.status == RunStatus.COMPLETED:
        if draft.output is None or draft.output.value is None:
            raise refusal("A completed run needs an output that is not null.", "output")
    elif draft.output is not None:
        raise refusal("output goes only with status completed.", "output")


def check_context(context: Any) -> None:
    """InvalidError for the first part of a parsed context that is not what it should be."""
    if not isinstance(context, dict):
        raise refusal("context must be an object.", "context")
    history = context.get("history", [])
    if not isinstance(history, list) or len(history) > MAX_HISTORY:
        raise refusal(f"context.history must be a list of at most {MAX_HISTORY} messages.", "context")
    for name in ("sessionApproval", "flow", "toolEnv"):
        if not isinstance(context.get(name, {}), dict):
            raise refusal(f"context.{name} must be an object.", "context")
    flow = context.get("flow", {})
    check_calls(flow.get("calls", []), MAX_FLOW_CALLS, "context.flow.calls")
    _check_steps(flow.get("steps", []))


def check_calls(calls: Any, most: int | None, name: str) -> None:
    """InvalidError for the first entry of a parsed list of calls that is none, or when there are more than `most`."""
    if not isinstance(calls, list):
        raise refusal(f"{name} must be a list.", name)
    if most is not None and len(calls) > most:
        raise refusal(f"{name} has more than {most} entries.", name)
    for call in calls:
        tool = call.get("toolId") if isinstance(call, dict) else None
        if not isinstance(tool, str) or not 1 <= len(tool) <= MAX_TOOL or not is_storable(tool):
            raise refusal(f"Each of {name} needs a toolId of 1 to {MAX_TOOL} characters.", name)
        error = call.get("error", "")
        if not isinstance(error, str) or len(error) > MAX_TEXT:
            raise refusal(f"The error of a call in {name} is a text of at most {MAX_TEXT} characters.", name)


def _check_steps(steps: Any) -> None:
    if not isinstance(steps, list):
        raise refusal("context.flow.steps must be a list.", "context")
    for step in steps:
        named = step if isinstance(step, dict) else {}
        if not (isinstance(named.get("agentId"), str) and isinstance(named.get("agentVersion"), str)):
            raise refusal("Each of context.flow.steps needs an agentId and an agentVersion.", "context")
