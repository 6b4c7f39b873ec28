"""What of a run's context goes into its copy, cut to the contract's bounds (7.5), text for text."""

import json
from dataclasses import dataclass

from corrections.vocabulary import SubjectKind
from kindgi_site import exact_json
from kindgi_site.exact_json import JsonText

MAX_HISTORY = 200
MAX_FLOW_CALLS = 500

_CALL_TEXTS = ("runId", "nodeId", "scope", "toolId")
_STEP_TEXTS = ("runId", "nodeId", "scope", "agentId", "agentVersion")


@dataclass(frozen=True, slots=True, kw_only=True)
class CopiedContext:
    """`wire` is the context as sent, None when there is nothing of it.

    `flow_calls` are the same calls with what the wire leaves out (failures, times).
    """

    wire: JsonText | None
    flow_calls: JsonText | None = None


def copied_context(*, subject_kind: str, run_id: str, context_text: str | None, replay_of: str) -> CopiedContext:
    """An unreadable part is dropped, and the rest still copied."""
    given = exact_json.members(context_text) if context_text else {}
    parts: dict[str, str] = {}
    flow_calls = None
    if subject_kind == SubjectKind.AGENT:
        parts |= _history(given.get("history"))
        parts |= {name: given[name] for name in ("retrieved", "recalled") if name in given}
        parts |= _session_approval(given.get("sessionApproval"))
    else:
        flow, flow_calls = _flow(given.get("flow"), run_id)
        parts |= flow
    parts |= _tool_env(given.get("toolEnv"))
    if replay_of:
        parts["replayOf"] = json.dumps(replay_of)
    return CopiedContext(
        wire=JsonText(exact_json.joined_object(parts)) if parts else None,
        flow_calls=None if flow_calls is None else JsonText(flow_calls),
    )


def _history(text: str | None) -> dict[str, str]:
    messages = _elements(text)
    if not messages:
        return {}
    parts = {"history": exact_json.joined_array(messages[-MAX_HISTORY:])}
    if len(messages) > MAX_HISTORY:
        parts["historyTruncated"] = "true"
    return parts


def _session_approval(text: str | None) -> dict[str, str]:
    given = _members(text)
    approved = given.get("approved")
    if approved not in ("true", "false"):
        return {}
    kept = {"approved": approved}
    if approved == "false" and _is_text(given.get("rationale")):
        kept["rationale"] = given["rationale"]
    return {"sessionApproval": exact_json.joined_object(kept)}


def _flow(text: str | None, run_id: str) -> tuple[dict[str, str], str | None]:
    given = _members(text)
    calls = _objects(given.get("calls"))
    steps = _objects(given.get("steps"))
    if not calls and not steps:
        return {}, None
    kept = calls[:MAX_FLOW_CALLS]
    parts = {
        "calls": exact_json.joined_array([_flow_call(call, run_id) for call in kept]),
        "steps": exact_json.joined_array([_flow_step(step, run_id) for step in steps]),
    }
    if len(calls) > MAX_FLOW_CALLS:
        parts["truncated"] = "true"
    return {"flow": exact_json.joined_object(parts)}, exact_json.joined_array(kept)


def _flow_call(text: str, run_id: str) -> str:
    given = exact_json.members(text)
    kept = {"runId": json.dumps(run_id)} | _texts_of(given, _CALL_TEXTS)
    kept |= {name: given[name] for name in ("arguments", "result") if name in given}
    if given.get("fromEvent") == "true":
        kept["fromEvent"] = "true"
    return exact_json.joined_object(kept)


def _flow_step(text: str, run_id: str) -> str:
    given = exact_json.members(text)
    kept = {"runId": json.dumps(run_id)} | _texts_of(given, _STEP_TEXTS)
    kept |= {name: given[name] for name in ("retrieved", "recalled") if name in given}
    return exact_json.joined_object(kept)


def _tool_env(text: str | None) -> dict[str, str]:
    kept = {
        tool: env
        for tool, env in _members(text).items()
        if env.startswith("{") and all(_is_text(value) for value in exact_json.members(env).values())
    }
    return {"toolEnv": exact_json.joined_object(kept)} if kept else {}


def _texts_of(given: dict[str, str], names: tuple[str, ...]) -> dict[str, str]:
    return {name: given[name] for name in names if _is_text(given.get(name))}


def _is_text(text: str | None) -> bool:
    return text is not None and text.startswith('"')


def _members(text: str | None) -> dict[str, str]:
    return exact_json.members(text) if text is not None and text.startswith("{") else {}


def _elements(text: str | None) -> list[str]:
    return list(exact_json.elements(text)) if text is not None and text.startswith("[") else []


def _objects(text: str | None) -> list[str]:
    return [part for part in _elements(text) if part.startswith("{")]
