"""Freeze an agent's live test set into a version (contract 15)."""

import re
from collections.abc import Sequence
from uuid import UUID

from django.db import transaction

from corrections.models import Correction
from corrections.queries.said import counted, group_weights
from corrections.rules.expectations import expectation_of, read_expectation
from corrections.rules.weights import answer_place, expected_decisions, hand_item_sums, item_sums
from corrections.services.erasure import hold_erasures
from kindgi_site import clock
from kindgi_site.callers import Action, Caller
from kindgi_site.stored_json import JsonText
from kindgi_site.workspaces.services.audit import record_write
from testsets.drafts import VersionDraft
from testsets.models import HandCase, TestCase, TestSetVersion
from testsets.queries.agent_sets import Member, agent_set_for, frozen_places, members_at
from testsets.rules.versions import CORRECTIONS
from testsets.services.building import CHUNK, MAX_CASES, Built, case_head
from testsets.services.sets import new_version

AGENT_SET = "agent-test-set"
_OUTSIDE = re.compile(r"[^A-Za-z0-9._-]")
_MAX_NAME = 200


@transaction.atomic
def freeze(
    *,
    caller: Caller,
    project_id: UUID,
    agent_id: str,
    version: str,
    set_name: str | None = None,
    description: str = "",
) -> Built:
    """Store the set as it stands as a new version: at most 1000 cases, newest corrected run first.

    Hand cases that say nothing yet are left out. Three statements for each hundred cases.
    """
    agent_set = agent_set_for(caller, Action.ADMIN, project_id, agent_id)
    hold_erasures(caller.workspace_id)
    members = frozen_places(agent_set, MAX_CASES + 1)
    truncated = len(members) > MAX_CASES
    members = members[:MAX_CASES]
    draft = VersionDraft(
        set_name=set_name or default_set_name(agent_id),
        version=version,
        project_id=project_id,
        kind=CORRECTIONS,
        description=description,
        frozen_agent_id=agent_id,
        spec={
            "source": AGENT_SET,
            "projectId": str(project_id),
            "agentId": agent_id,
            "caseCount": len(members),
            "truncated": truncated,
            "builtAt": clock.wire_time(clock.now()),
        },
    )
    made = new_version(caller=caller, draft=draft)
    weights = group_weights(caller.workspace_id)
    for start in range(0, len(members), CHUNK):
        TestCase.objects.bulk_create(_frozen(made, members_at(members[start : start + CHUNK]), start, weights))
    record_write(caller, "test-sets.freeze", "test-set-version", made.id, ["version"])
    return Built(made, len(members), truncated)


def default_set_name(agent_id: str) -> str:
    """The agent's id with `.corrections`, in the letters an id may have."""
    plain = _OUTSIDE.sub("-", agent_id).lstrip("._-") or "agent"
    return f"{plain[: _MAX_NAME - len('.corrections')]}.corrections"


def _frozen(
    version: TestSetVersion, members: Sequence[Member], start: int, weights: dict[str, float]
) -> list[TestCase]:
    return [
        TestCase(
            version=version,
            position=start + index,
            case_id=case_id_of(member),
            run_id=member.run_id,
            expert=member.expert,
            wire=JsonText.of(frozen_case(member, weights)),
            called_tools=member.called_tools if isinstance(member, HandCase) else member.copy.called_tools,
        )
        for index, member in enumerate(members)
    ]


def case_id_of(member: Member) -> str:
    return member.case_id if isinstance(member, HandCase) else str(member.id)


def frozen_case(member: Member, weights: dict[str, float]) -> dict[str, object]:
    """A member's whole wire object as a frozen case, its JSON as it was stored."""
    return _from_hand(member) if isinstance(member, HandCase) else _from_correction(member, weights)


def _from_correction(correction: Correction, weights: dict[str, float]) -> dict[str, object]:
    vote = counted(correction)
    output = correction.copy.output
    place = answer_place(correction.subject_kind, output.value if output else None)
    case = case_head(str(correction.id), correction.copy)
    case["items"] = [item.wire() for item in item_sums([vote], weights, place)]
    decisions = [entry.wire() for entry in expected_decisions([vote])]
    if decisions:
        case["corrections"] = decisions
    case["expect"] = expectation_of(vote.said).wire()
    return case | ({"expert": True} if correction.expert else {})


def _from_hand(hand: HandCase) -> dict[str, object]:
    assert hand.expect is not None
    expect = read_expectation(hand.expect.value)
    place = answer_place(hand.subject.kind, hand.output.value if hand.output else None)
    case: dict[str, object] = {"caseId": hand.case_id}
    if hand.run_id is not None:
        case["runId"] = str(hand.run_id)
    case |= {
        "subject": {"kind": hand.subject.kind, "id": hand.subject.id, "version": hand.subject.version},
        "input": hand.input,
    }
    if hand.context is not None:
        case["context"] = hand.context
    case["output"] = hand.output
    if hand.segments is not None:
        case["segments"] = hand.segments
    case["items"] = [item.wire() for item in hand_item_sums(expect, place, expert=hand.expert)]
    case["expect"] = hand.expect
    return case | ({"expert": True} if hand.expert else {})
