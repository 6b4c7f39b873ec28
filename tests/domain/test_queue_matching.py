"""Which runs a correcting rule takes, and what a rule must say (contract 18.1, 18.3): no database."""

import re
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corrections.drafts import RuleChange, RuleDraft, RuleWhen
from corrections.rules.positions import position
from corrections.rules.queue import (
    SeenRun,
    changed,
    checked_rule,
    checked_when,
    estimated,
    is_sampled,
    matches,
    may_move,
    read_when,
    wire_when,
)
from kindgi_site.errors import Code, InvalidError

AGENT = SeenRun(run_id="r1", agent_id="support", flow_id="agent.turn", version="1.2.0")
FLOW = SeenRun(run_id="r2", agent_id="", flow_id="ranking", version="1.2.0")
ALL = RuleWhen()

TABLE = [
    ("anything", ALL, AGENT, True),
    ("a flow too", ALL, FLOW, True),
    ("its agent", RuleWhen(agent_ids=("other", "support")), AGENT, True),
    ("another agent", RuleWhen(agent_ids=("other",)), AGENT, False),
    ("a flow when agents are named", RuleWhen(agent_ids=("ranking",)), FLOW, False),
    ("its flow", RuleWhen(flow_ids=("ranking",)), FLOW, True),
    ("another flow", RuleWhen(flow_ids=("other",)), FLOW, False),
    ("an agent when flows are named", RuleWhen(flow_ids=("support",)), AGENT, False),
    ("every agent's turns by their flow", RuleWhen(flow_ids=("agent.turn",)), AGENT, True),
    ("its version", RuleWhen(versions=("2.0.0", "1.2.0")), AGENT, True),
    ("a flow's version", RuleWhen(versions=("1.2.0",)), FLOW, True),
    ("another version", RuleWhen(versions=("1.2.1",)), AGENT, False),
    ("live, taken live", RuleWhen(versions=("live",)), replace(AGENT, via="live"), True),
    ("live, taken latest", RuleWhen(versions=("live",)), replace(AGENT, via="latest"), True),
    ("live, named by the caller", RuleWhen(versions=("live",)), replace(AGENT, via="explicit"), False),
    ("live, pinned by a flow", RuleWhen(versions=("live",)), replace(AGENT, via="flow-pin"), False),
    ("live, kept by a conversation", RuleWhen(versions=("live",)), replace(AGENT, via="conversation"), False),
    ("live, unknown how", RuleWhen(versions=("live",)), AGENT, False),
    ("live or its version", RuleWhen(versions=("live", "1.2.0")), AGENT, True),
    ("completed by name", RuleWhen(status=("completed",)), AGENT, True),
    ("failed", ALL, replace(AGENT, status="failed"), False),
    ("cancelled", ALL, replace(AGENT, status="cancelled"), False),
    ("running", ALL, replace(AGENT, status="running"), False),
    ("a dry run", ALL, replace(AGENT, dry_run=True), False),
    ("a dry run, refused by name", RuleWhen(include_dry_runs=False), replace(AGENT, dry_run=True), False),
    ("a dry run, wanted", RuleWhen(include_dry_runs=True), replace(AGENT, dry_run=True), True),
    ("no dry run where dry runs are wanted too", RuleWhen(include_dry_runs=True), AGENT, True),
    ("a part of another run", ALL, replace(AGENT, is_top_level=False), False),
    ("a replay", ALL, replace(AGENT, is_replay=True), False),
    ("all but one part", RuleWhen(agent_ids=("support",), versions=("9.9.9",)), AGENT, False),
]


@pytest.mark.parametrize(("when", "run", "taken"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_what_a_rule_takes(when, run, taken):
    assert matches(when, run) is taken


def test_the_position_is_the_contract_s_formula():
    rule_id, run_id = str(UUID(int=1)), str(UUID(int=2))

    digest = sha256(f"{rule_id}:{run_id}".encode()).hexdigest()

    assert position(rule_id, run_id) == int(digest[:8], 16) / 4294967296


def test_a_larger_sample_keeps_what_a_smaller_one_took():
    runs = [str(UUID(int=number)) for number in range(2000)]

    taken = [{run for run in runs if is_sampled("rule", run, share)} for share in (0.01, 0.1, 0.5, 0.9, 1.0)]

    assert all(smaller < larger for smaller, larger in pairwise(taken))
    assert taken[-1] == set(runs)
    assert 150 < len(taken[1]) < 250


@given(st.text(), st.text(), st.floats(min_value=0, max_value=1, exclude_min=True))
def test_a_sample_of_one_takes_everything(rule_id, run_id, sample):
    rule_id, run_id = (text.encode("utf-8", "replace").decode() for text in (rule_id, run_id))

    assert is_sampled(rule_id, run_id, 1.0)
    assert not is_sampled(rule_id, run_id, sample) or is_sampled(rule_id, run_id, min(1.0, sample * 2))


def test_two_rules_sample_independently():
    runs = [str(UUID(int=number)) for number in range(400)]

    assert [is_sampled("a", run, 0.5) for run in runs] != [is_sampled("b", run, 0.5) for run in runs]


@pytest.mark.parametrize(
    ("matched", "sample", "wanted"), [(0, 0.5, 0), (10, 1.0, 10), (10, 0.25, 3), (10, 0.24, 2), (1, 0.49, 0)]
)
def test_an_estimate_rounds_halves_up(matched, sample, wanted):
    assert estimated(matched, sample) == wanted


LIST_NAMES = {"agent_ids": "agentIds", "flow_ids": "flowIds", "versions": "versions"}


@pytest.mark.parametrize("attribute", LIST_NAMES)
@pytest.mark.parametrize(
    ("entries", "said"),
    [
        (("x",) * 51, "has more than 50 entries"),
        (("",), "has 1 to 200 characters"),
        ((" \t",), "has 1 to 200 characters"),
        (("x" * 201,), "has 1 to 200 characters"),
        (("a\0",), "characters that can be stored"),
        (("\ud800",), "characters that can be stored"),
    ],
)
def test_lists_have_bounds(attribute, entries, said):
    with pytest.raises(InvalidError, match=re.escape(said)) as refused:
        checked_when(RuleWhen(**{attribute: entries}))

    assert (refused.value.code, refused.value.details) == (Code.BAD_INPUT, {"field": LIST_NAMES[attribute]})


def test_lists_at_their_bounds_are_taken_and_lose_their_repeats():
    full = tuple(f"{number:0200}" for number in range(50))

    assert checked_when(RuleWhen(agent_ids=full)).agent_ids == full
    assert checked_when(RuleWhen(versions=("b", "a", "b"))).versions == ("b", "a")
    assert checked_when(RuleWhen(status=("completed", "completed"))).status == ("completed",)


@pytest.mark.parametrize(
    ("when", "field"),
    [
        (RuleWhen(agent_ids=("a",), flow_ids=("b",)), "flowIds"),
        (RuleWhen(status=("failed",)), "status"),
        (RuleWhen(status=("completed", "running")), "status"),
    ],
)
def test_what_does_not_go_together_is_refused(when, field):
    with pytest.raises(InvalidError) as refused:
        checked_rule(RuleDraft(name="n", when=when))

    assert (refused.value.code, refused.value.details) == (Code.BAD_INPUT, {"field": field})


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"name": " \n"}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"name": "a\0"}, "name"),
        ({"sample": 0.0}, "sample"),
        ({"sample": -0.1}, "sample"),
        ({"sample": 1.01}, "sample"),
        ({"sample": float("nan")}, "sample"),
        ({"max_open": 0}, "maxOpen"),
        ({"max_open": 10_001}, "maxOpen"),
        ({"group_id": " "}, "correctorGroupId"),
    ],
)
def test_rules_have_bounds(said, field):
    with pytest.raises(InvalidError) as refused:
        checked_rule(RuleDraft(**{"name": "n"} | said))

    assert (refused.value.code, refused.value.details) == (Code.BAD_INPUT, {"field": field})


@pytest.mark.parametrize("said", [{"sample": 1e-9}, {"sample": 1.0}, {"max_open": 1}, {"max_open": 10_000}])
def test_rules_at_their_bounds_are_taken_and_names_trimmed(said):
    assert checked_rule(RuleDraft(name=f"  {'x' * 200}\n", **said)) == RuleDraft(name="x" * 200, **said)


def test_a_change_says_what_becomes_different():
    before = RuleDraft(name="a", when=RuleWhen(versions=("live",)), sample=0.5, max_open=3, group_id="g")

    assert changed(before, RuleChange()) == before
    assert changed(before, RuleChange(max_open=None, group_id=None)) == replace(before, max_open=None, group_id=None)
    assert changed(before, RuleChange(when=RuleWhen(), enabled=False)) == replace(
        before, when=RuleWhen(), enabled=False
    )


@pytest.mark.parametrize(
    ("when", "wire"),
    [
        (RuleWhen(), {}),
        (RuleWhen(include_dry_runs=False), {"includeDryRuns": False}),
        (
            RuleWhen(flow_ids=("f",), versions=("live",), status=("completed",), include_dry_runs=True),
            {"flowIds": ["f"], "versions": ["live"], "status": ["completed"], "includeDryRuns": True},
        ),
        (RuleWhen(agent_ids=("a", "b")), {"agentIds": ["a", "b"]}),
    ],
)
def test_what_was_said_is_what_is_kept(when, wire):
    assert wire_when(when) == wire
    assert read_when(wire) == when


@pytest.mark.parametrize("state", ["open", "corrected", "dismissed", "erased"])
def test_only_open_items_are_dismissed_and_only_dismissed_ones_reopened(state):
    assert (may_move(state, "dismiss"), may_move(state, "reopen")) == (state == "open", state == "dismissed")
