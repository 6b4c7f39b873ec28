"""Agents' ids: chosen by callers, within bounds."""

from corrections.rules.drafts import refusal
from kindgi_site.exact_json import is_storable

MAX_AGENT_ID = 200


def check_agent_id(agent_id: str) -> None:
    """InvalidError for a text that no agent can be called by."""
    if not _may_be_agent(agent_id):
        raise refusal(f"An agent's id has 1 to {MAX_AGENT_ID} characters.", "agentId")


def known_id(agent_id: str) -> str:
    """The id to look rows up by; '', which no agent has, for a text that a database would not even compare."""
    return agent_id if _may_be_agent(agent_id) else ""


def _may_be_agent(agent_id: str) -> bool:
    return 1 <= len(agent_id) <= MAX_AGENT_ID and is_storable(agent_id)
