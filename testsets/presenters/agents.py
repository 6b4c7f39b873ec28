"""Agents in a list: what is live, who owns them, and how many corrections stand where."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from corrections.presenters.text import plain
from corrections.vocabulary import Status
from testsets.presenters.numbers import counted
from testsets.queries.agents import MOST_COUNTED, AgentHere


@dataclass(frozen=True, slots=True)
class AgentRow:
    """The numbers of corrections are words, '' for none."""

    agent_id: str
    shown: str
    project_id: UUID
    project_name: str
    version: str
    is_pinned: bool
    owner: str
    open: str
    being_fixed: str
    with_owner: str
    fixed: str


def agent_rows(
    agents: Iterable[AgentHere], standing: Mapping[tuple[UUID, str, str], int], names: Mapping[str, str]
) -> list[AgentRow]:
    return [
        AgentRow(
            agent_id=agent.agent_id,
            shown=plain(agent.agent_id),
            project_id=agent.project_id,
            project_name=agent.project_name,
            version=plain(agent.pinned or agent.latest),
            is_pinned=bool(agent.pinned),
            owner=names.get(agent.owner_id) or plain(agent.owner_id),
            open=_counted(standing[agent.project_id, agent.agent_id, Status.OPEN]),
            being_fixed=_counted(standing[agent.project_id, agent.agent_id, Status.BEING_FIXED]),
            with_owner=_counted(standing[agent.project_id, agent.agent_id, Status.WITH_OWNER]),
            fixed=_counted(standing[agent.project_id, agent.agent_id, Status.FIXED]),
        )
        for agent in agents
    ]


def _counted(count: int) -> str:
    return counted(count, MOST_COUNTED) if count else ""
