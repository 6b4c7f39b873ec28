"""What a corrector group must say (contract 9.2 and 9.3), first problem first."""

import math

from corrections.drafts import AssertableBy, GroupChange, GroupDraft
from corrections.rules.agents import MAX_AGENT_ID
from corrections.rules.drafts import is_blank, refusal
from corrections.vocabulary import ScopeKind
from kindgi_site.exact_json import is_storable

MAX_NAME = 100
MAX_DESCRIPTION = 2000
MAX_PRINCIPALS = 100
PRINCIPAL_KINDS = ("user", "service")
PARTS = ("minReviewerRole", "principalKinds", "principalIds")


def check_group(draft: GroupDraft) -> None:
    """InvalidError `bad-input` for the first thing wrong with a new group."""
    if is_blank(draft.name):
        raise refusal("name must not be empty.", "name")
    _check_text(draft.name, MAX_NAME, "name")
    _check_weight(draft.weight)
    _check_scope(draft)
    _check_text(draft.description, MAX_DESCRIPTION, "description")
    if draft.assertable_by is not None:
        check_assertable_by(draft.assertable_by)


def check_change(change: GroupChange) -> None:
    """InvalidError `bad-input` for the first thing wrong with a change; it must say something."""
    if change == GroupChange():
        raise refusal("Say at least one of weight, description, assertableBy.", "weight")
    if change.weight is not None:
        _check_weight(change.weight)
    if change.description is not None:
        _check_text(change.description, MAX_DESCRIPTION, "description")
    if isinstance(change.assertable_by, AssertableBy):
        check_assertable_by(change.assertable_by)


def check_assertable_by(restriction: AssertableBy) -> None:
    if restriction == AssertableBy():
        raise refusal(f"assertableBy needs one or more of {', '.join(PARTS)}.", "assertableBy")
    if not set(restriction.principal_kinds) <= set(PRINCIPAL_KINDS):
        raise refusal(f"principalKinds is made of {' and '.join(PRINCIPAL_KINDS)}.", "assertableBy")
    if len(restriction.principal_ids) > MAX_PRINCIPALS:
        raise refusal(f"principalIds has more than {MAX_PRINCIPALS} entries.", "assertableBy")
    if any(is_blank(one) or not is_storable(one) for one in restriction.principal_ids):
        raise refusal("Each of principalIds is an id, not an empty text.", "assertableBy")


def _check_weight(weight: float) -> None:
    if not math.isfinite(weight) or weight < 0:
        raise refusal("weight is a number from 0.", "weight")


def _check_scope(draft: GroupDraft) -> None:
    wanted = {
        ScopeKind.TENANT: (False, False),
        ScopeKind.PROJECT: (True, False),
        ScopeKind.AGENT: (True, True),
    }[draft.scope_kind]
    if (draft.project_id is not None, not is_blank(draft.agent_id)) != wanted:
        raise refusal(
            "scope is a tenant alone, a project with its projectId, or an agent with its projectId and agentId.",
            "scope",
        )
    _check_text(draft.agent_id, MAX_AGENT_ID, "scope")


def _check_text(text: str, most: int, name: str) -> None:
    if len(text) > most:
        raise refusal(f"{name} is longer than {most} characters.", name)
    if not is_storable(text):
        raise refusal(f"{name} holds a character that cannot be stored.", name)
