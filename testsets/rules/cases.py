"""A case as grading sees it, read from its stored wire form (contract 14.3, 15)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from corrections.rules.expectations import Expectation, read_expectation
from corrections.rules.weights import ExpectedDecisions, ItemSum, read_expected_decisions, read_item_sum


class GroupWeights(StrEnum):
    AS_RECORDED = "as-recorded"
    EXPERTS_ONLY = "experts-only"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """`output` is the recorded one, parsed. `called_tools` are the recorded run's, None when they are unknown."""

    case_id: str
    subject_kind: str
    output: Any = None
    items: tuple[ItemSum, ...] = ()
    corrections: tuple[ExpectedDecisions, ...] = ()
    expect: Expectation | None = None
    expert: bool = False
    called_tools: tuple[str, ...] | None = None


def read_case(value: Mapping[str, Any], called_tools: Sequence[str] | None = None) -> Case:
    """From a case's parsed wire form and the tools its run called, which are not on the wire."""
    return Case(
        case_id=value["caseId"],
        subject_kind=value["subject"]["kind"],
        output=value["output"],
        items=tuple(map(read_item_sum, value["items"])),
        corrections=tuple(map(read_expected_decisions, value.get("corrections", ()))),
        expect=read_expectation(value["expect"]) if "expect" in value else None,
        expert="expert" in value,
        called_tools=None if called_tools is None else tuple(called_tools),
    )


def narrowed(case: Case, group_weights: str) -> Case:
    """The case as the test run weighs it: by everybody's word, or by the experts' alone (contract 17.4)."""
    if group_weights != GroupWeights.EXPERTS_ONLY:
        return case
    return replace(
        case,
        items=experts_items(case.items),
        corrections=tuple(entry for entry in case.corrections if entry.expert),
        expect=case.expect if case.expert else None,
    )


def experts_items(items: Sequence[ItemSum]) -> tuple[ItemSum, ...]:
    return tuple(
        replace(item, yes_weight=item.expert.yes_weight, total_weight=item.expert.total_weight)
        for item in items
        if item.expert is not None and item.expert.total_weight > 0
    )
