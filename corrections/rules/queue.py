"""Correcting rules: what one must say, which runs it takes, and how an item of the queue moves (contract 18)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from corrections.drafts import RuleChange, RuleDraft, RuleWhen, Unsaid
from corrections.rules.drafts import is_blank, refusal
from corrections.rules.positions import position
from corrections.vocabulary import ItemState, RunStatus, Via
from kindgi_site.exact_json import is_storable

MAX_NAME = 200
MAX_ENTRIES = 50
MAX_ENTRY = 200
MAX_OPEN = 10_000
MAX_REASON = 500
# Stands among a rule's versions for whichever version was live when the run began.
LIVE = "live"
_TAKEN_LIVE = frozenset({Via.LIVE, Via.LATEST})
_LISTS = MappingProxyType({"agentIds": "agent_ids", "flowIds": "flow_ids", "versions": "versions", "status": "status"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenRun:
    """What a rule looks at in a run. `agent_id` is '' for a flow's run."""

    run_id: str
    agent_id: str
    flow_id: str
    version: str
    via: str = ""
    status: str = RunStatus.COMPLETED
    dry_run: bool = False
    is_top_level: bool = True
    is_replay: bool = False


def may_be_queued(run: SeenRun) -> bool:
    """Whether any rule could take the run at all."""
    return run.is_top_level and not run.is_replay and run.status == RunStatus.COMPLETED


def matches(when: RuleWhen, run: SeenRun) -> bool:
    """Whether a rule's `when` takes the run, before its sample and its cap (contract 18.3)."""
    return (
        may_be_queued(run)
        and (not when.agent_ids or run.agent_id in when.agent_ids)
        and (not when.flow_ids or run.flow_id in when.flow_ids)
        and (not when.versions or _is_of_version(when.versions, run))
        and (not run.dry_run or when.include_dry_runs is True)
    )


def _is_of_version(versions: tuple[str, ...], run: SeenRun) -> bool:
    return run.version in versions or (LIVE in versions and run.via in _TAKEN_LIVE)


def is_sampled(rule_id: str, run_id: str, sample: float) -> bool:
    """The same for every version of a rule, and a larger sample keeps what a smaller one took."""
    return position(rule_id, run_id) < sample


def estimated(matched: int, sample: float) -> int:
    """How many a sample would take of the matching runs, without knowing which; halves up."""
    return math.floor(matched * sample + 0.5)


class ItemEvent(StrEnum):
    DISMISS = "dismiss"
    REOPEN = "reopen"


# By hand: from the state, to the state. What corrections and erasures do to an item is services/queue.py's.
ITEM_MOVES: Final[Mapping[ItemEvent, tuple[ItemState, ItemState]]] = MappingProxyType(
    {
        ItemEvent.DISMISS: (ItemState.OPEN, ItemState.DISMISSED),
        ItemEvent.REOPEN: (ItemState.DISMISSED, ItemState.OPEN),
    }
)


def may_move(state: str, event: ItemEvent) -> bool:
    return ITEM_MOVES[event][0] == state


def checked_rule(draft: RuleDraft) -> RuleDraft:
    """The rule with its name trimmed and repeats dropped; InvalidError `bad-input` for the first thing wrong."""
    checked = replace(draft, name=draft.name.strip(), when=checked_when(draft.when))
    if not 1 <= len(checked.name) <= MAX_NAME:
        raise refusal(f"name has 1 to {MAX_NAME} characters.", "name")
    if not is_storable(checked.name):
        raise refusal("name holds a character that cannot be stored.", "name")
    check_sample(checked.sample)
    if checked.max_open is not None and not 1 <= checked.max_open <= MAX_OPEN:
        raise refusal(f"maxOpen is a whole number from 1 to {MAX_OPEN}.", "maxOpen")
    if checked.group_id is not None and is_blank(checked.group_id):
        raise refusal("correctorGroupId is an id, not an empty text.", "correctorGroupId")
    return checked


def check_sample(sample: float) -> None:
    if not 0 < sample <= 1:
        raise refusal("sample is a number above 0, at most 1.", "sample")


def checked_when(when: RuleWhen) -> RuleWhen:
    """With repeats dropped; InvalidError `bad-input` for the first thing wrong."""
    for name, attribute in _LISTS.items():
        _check_list(getattr(when, attribute), name)
    if when.agent_ids and when.flow_ids:
        raise refusal("Name agentIds or flowIds, not both.", "flowIds")
    if any(status != RunStatus.COMPLETED for status in when.status):
        raise refusal("status may only hold completed.", "status")
    once: dict[str, Any] = {name: tuple(dict.fromkeys(getattr(when, name))) for name in _LISTS.values()}
    return replace(when, **once)


def _check_list(entries: tuple[str, ...], name: str) -> None:
    if len(entries) > MAX_ENTRIES:
        raise refusal(f"{name} has more than {MAX_ENTRIES} entries.", name)
    for entry in entries:
        if is_blank(entry) or len(entry) > MAX_ENTRY or not is_storable(entry):
            raise refusal(f"Each of {name} has 1 to {MAX_ENTRY} characters that can be stored.", name)


def changed(rule: RuleDraft, change: RuleChange) -> RuleDraft:
    """A rule after a change, unchecked."""
    told = {field.name: getattr(change, field.name) for field in fields(change)}
    # What None takes away is marked as unsaid where it is left out; elsewhere None is what leaves it out.
    may_be_none = ("max_open", "group_id")
    said = {
        name: value
        for name, value in told.items()
        if not isinstance(value, Unsaid) and (value is not None or name in may_be_none)
    }
    return replace(rule, **said)


def wire_when(when: RuleWhen) -> dict[str, Any]:
    """As it is stored and sent: what was said, by wire name."""
    said: dict[str, Any] = {
        name: list(entries) for name, attribute in _LISTS.items() if (entries := getattr(when, attribute))
    }
    return said if when.include_dry_runs is None else said | {"includeDryRuns": when.include_dry_runs}


def read_when(stored: Mapping[str, Any]) -> RuleWhen:
    lists = {attribute: tuple(stored.get(name, ())) for name, attribute in _LISTS.items()}
    return RuleWhen(**lists, include_dry_runs=stored.get("includeDryRuns"))
