"""The tools a run called, in order, read from wherever the run recorded them (contract 11.2, decisions 4, 15)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from corrections.rules.pointers import MISSING
from corrections.vocabulary import SubjectKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call. `arguments` and `result` are MISSING where not recorded; `error` means it was refused or failed."""

    tool: str
    arguments: Any = MISSING
    result: Any = MISSING
    error: str | None = None
    call_id: str | None = None
    started_at: str | None = None
    duration_ms: Any = None


def calls_made(subject_kind: str, output: Any, context: Any, calls: Any) -> list[Call] | None:
    """The calls of a run's parsed parts, or None when the run recorded none of them and so they are unknown.

    A flow run's are its context's; an agent turn's are those its output carries, else its `calls`.
    """
    if subject_kind == SubjectKind.FLOW:
        flow = _field(context, "flow")
        recorded = _field(flow, "calls")
        return None if not isinstance(recorded, list) else list(listed(recorded))
    appended = _field(output, "appended")
    carried = list(_appended(appended)) if isinstance(appended, list) else None
    return list(listed(calls)) if not carried and isinstance(calls, list) else carried


def listed(calls: Iterable[Any]) -> Iterator[Call]:
    """The calls of a parsed list as it is kept with a run or its copy; entries without a tool are passed over."""
    for call in calls:
        if isinstance(call, Mapping) and isinstance(call.get("toolId"), str):
            yield Call(
                tool=call["toolId"],
                arguments=call.get("arguments", MISSING),
                result=call.get("result", MISSING),
                error=call.get("error"),
                call_id=call.get("callId"),
                started_at=call.get("startedAt"),
                duration_ms=call.get("durationMs"),
            )


def _appended(entries: list[Any]) -> Iterator[Call]:
    """Every tool message that answers a call an earlier agent message decided."""
    decided: dict[str, Mapping[str, Any]] = {}
    for entry in entries:
        if _field(entry, "role") == "agent":
            decided.update(_decided_in(entry))
        elif _field(entry, "role") == "tool":
            call = _field(entry, "toolCall")
            call_id = _field(call, "invocationId")
            if isinstance(call_id, str) and call_id in decided:
                answered = _answered(call, decided[call_id], entry)
                if answered.tool:
                    yield answered


def _decided_in(entry: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    tool_calls = _field(_field(entry, "content"), "toolCalls")
    for call in tool_calls if isinstance(tool_calls, list) else []:
        if isinstance(_field(call, "id"), str):
            yield call["id"], call


def _answered(call: Mapping[str, Any], decided: Mapping[str, Any], entry: Mapping[str, Any]) -> Call:
    tool = call.get("toolId") or decided.get("toolId")
    error = call.get("error")
    return Call(
        tool=tool if isinstance(tool, str) else "",
        arguments=call.get("arguments", decided.get("arguments", MISSING)),
        result=entry.get("content", MISSING),
        error=error if isinstance(error, str) else None,
        call_id=call["invocationId"],
    )


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else None
