"""How a case stands in one test run against another: what got fixed, what came back."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from kindgi_site import exact_json
from testsets.rules.grading import Outcome


class Standing(StrEnum):
    """In the order in which people want to see them."""

    REGRESSED = "regressed"
    FIXED = "fixed"
    STILL_WRONG = "still wrong"
    NEW_WRONG = "new, wrong"
    NEW_RIGHT = "new, right"
    STILL_RIGHT = "right"
    NOT_MEASURABLE = "not measurable"
    ERROR = "error"
    ERASED = "erased"

    @property
    def is_wrong(self) -> bool:
        return self in _WRONG

    @property
    def is_right(self) -> bool:
        return self in _RIGHT


_WRONG = frozenset({Standing.REGRESSED, Standing.STILL_WRONG, Standing.NEW_WRONG, Standing.ERROR})
_RIGHT = frozenset({Standing.FIXED, Standing.NEW_RIGHT, Standing.STILL_RIGHT})


@dataclass(frozen=True, slots=True)
class Compared:
    """One case's wire object in `perCase`, and how it stands."""

    case_id: str
    standing: Standing
    result: Mapping[str, Any]


def compared(now: Iterable[Mapping[str, Any]], before: Iterable[Mapping[str, Any]]) -> list[Compared]:
    """Each case of a result against the same case of an earlier one, worst first, else in the order of the set."""
    earlier = {result["caseId"]: str(result["outcome"]) for result in before}
    cases = [Compared(result["caseId"], standing_of(result, earlier.get(result["caseId"])), result) for result in now]
    order = list(Standing)
    return sorted(cases, key=lambda case: order.index(case.standing))


def standing_of(result: Mapping[str, Any], before: str | None) -> Standing:
    if "error" in result:
        return Standing.ERROR
    outcome = result["outcome"]
    if outcome == Outcome.UNGRADED:
        return Standing.NOT_MEASURABLE
    is_right = outcome == Outcome.RIGHT
    if before == Outcome.RIGHT:
        return Standing.STILL_RIGHT if is_right else Standing.REGRESSED
    if before == Outcome.WRONG:
        return Standing.FIXED if is_right else Standing.STILL_WRONG
    return Standing.NEW_RIGHT if is_right else Standing.NEW_WRONG


def share_right(cases: Iterable[Compared]) -> float | None:
    """The right cases among those that could be measured; None when none could."""
    standings = [case.standing for case in cases]
    right = sum(standing.is_right for standing in standings)
    measured = right + sum(standing.is_wrong for standing in standings)
    return right / measured if measured else None


def reasons(result: Mapping[str, Any]) -> list[str]:
    """Why a case is wrong, each reason a line: the calls that failed it, the answer's reason, the error."""
    lines = [f"error: {result['error']}"] if "error" in result else []
    lines += [_failure_line(failure) for failure in result.get("decisions", {}).get("failures", ())]
    answer = result.get("answer", {})
    if answer.get("outcome") == Outcome.WRONG:
        lines.append("answer: wrong" + (f" ({answer['reason']})" if answer.get("reason") else ""))
    if result.get("items", {}).get("outcome") == Outcome.WRONG:
        lines.append("items: an unwanted one is shown, or no wanted one is")
    return lines


_KINDS = {
    "missing": "was not called",
    "different": "was called with other arguments",
    "forbidden": "must not be called",
    "tools-differ": "differs from the tools of the corrected run",
}


def _failure_line(failure: Mapping[str, Any]) -> str:
    line = f"{failure['tool']} {_KINDS.get(failure['kind'], failure['kind'])}"
    paths = [
        f"{path['path']}: wanted {_value(path, 'wanted')}, got {_value(path, 'got')}"
        for path in failure.get("paths", ())
    ]
    return f"{line} ({'; '.join(paths)})" if paths else line


def _value(path: Mapping[str, Any], name: str) -> str:
    """As JSON, so that 1 and "1" look different."""
    return exact_json.dumps(path[name]) if name in path else "nothing"
