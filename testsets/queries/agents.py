"""The agents of a workspace: each that ran, or was set up, in a project."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import Any
from uuid import UUID

from django.db import connection

from corrections.vocabulary import RECORDED_RIGHT, Status
from kindgi_site.callers import Caller
from kindgi_site.keyset import Page, Place, by_name, cut
from kindgi_site.workspaces.models import Project
from kindgi_site.workspaces.queries.projects import projects_readable_by

PAGE_SIZE = 50
MOST_COUNTED = 1000
BY_AGENT = by_name("agent_id")
SHOWN = (Status.OPEN, Status.BEING_FIXED, Status.WITH_OWNER, Status.FIXED)


@dataclass(frozen=True, slots=True)
class AgentHere:
    """An agent in a project; '' for a version or an owner that nobody named."""

    agent_id: str
    project_id: UUID
    project_name: str
    pinned: str
    latest: str
    owner_id: str


def agents_page(caller: Caller, *, before: Place | None = None, after: Place | None = None) -> Page[AgentHere]:
    """Agents by id, and of one id by project; one statement."""
    return cut(
        lambda place, is_backwards: _agents(caller, place, is_backwards=is_backwards),
        size=PAGE_SIZE,
        ahead=after,
        behind=before,
        place_of=lambda agent: Place(agent.agent_id, agent.project_id),
    )


# Each count walks its own stretch of an index and stops at the most: what was right from the start, which may be nearly
# all there is, lies between two stretches. The order keeps PostgreSQL on the index where it expects many rows.
_STANDING = """
WITH asked(project_id, agent_id, status) AS (VALUES {asked})
SELECT project_id, agent_id, status, ({before}) + ({behind}) FROM asked
"""
_STRETCH = """
SELECT count(*) FROM (
  SELECT 1 FROM corrections_correction c
  WHERE c.project_id = asked.project_id AND c.subject_kind = 'agent' AND c.subject_id = asked.agent_id
  AND c.status = asked.status AND c.unregistered_at IS NULL AND c.fixed_how {side} %s
  ORDER BY c.fixed_how LIMIT %s
) few
"""


def standing_of_agents(agents: Iterable[AgentHere]) -> Counter[tuple[UUID, str, str]]:
    """How many live corrections of some agents stand where, by (project, agent, status).

    What was right from the start counts as nothing fixed. Above MOST_COUNTED it only says that there are more.
    """
    asked = [(_stored(agent.project_id), agent.agent_id, status) for agent in agents for status in SHOWN]
    if not asked:
        return Counter()
    sql = _STANDING.format(
        asked=", ".join(["(%s, %s, %s)"] * len(asked)),
        before=_STRETCH.format(side="<"),
        behind=_STRETCH.format(side=">"),
    )
    most = MOST_COUNTED + 1
    with connection.cursor() as cursor:
        cursor.execute(sql, [*chain.from_iterable(asked), RECORDED_RIGHT, most, RECORDED_RIGHT, most])
        rows = cursor.fetchall()
    return Counter({(_read(project), agent, status): count for project, agent, status, count in rows})


# Runs are many and agents few, so the ids are walked from one to the next by index, in each project by itself,
# where DISTINCT would read every run.
_WALK = """
{name}(project_id, agent_id, step) AS (
  SELECT id, (SELECT {column} FROM {table} WHERE project_id = here.id {only} {start} ORDER BY {column} {way} LIMIT 1), 1
  FROM here
  UNION ALL
  SELECT project_id, (SELECT t.{column} FROM {table} t WHERE t.project_id = {name}.project_id {only}
                      AND t.{column} {side} {name}.agent_id ORDER BY t.{column} {way} LIMIT 1), step + 1
  FROM {name} WHERE agent_id IS NOT NULL AND step <= %s
)"""
_AGENTS = """
WITH RECURSIVE here(id) AS ({here}), {runs}, {cases}
SELECT known.agent_id, p.id, p.name, coalesce(l.pinned, ''), coalesce(l.latest, ''), coalesce(o.owner_id, '')
FROM (
  SELECT project_id, agent_id FROM ran WHERE agent_id IS NOT NULL
  UNION SELECT project_id, agent_id FROM tested WHERE agent_id IS NOT NULL
  UNION SELECT project_id, agent_id FROM testsets_liveversion WHERE project_id IN (SELECT id FROM here)
  UNION SELECT project_id, agent_id FROM corrections_agentowner WHERE project_id IN (SELECT id FROM here)
) known
JOIN workspaces_project p ON p.id = known.project_id
LEFT JOIN testsets_liveversion l ON l.project_id = known.project_id AND l.agent_id = known.agent_id
LEFT JOIN corrections_agentowner o ON o.project_id = known.project_id AND o.agent_id = known.agent_id
{beyond}
ORDER BY known.agent_id {way}, known.project_id {way} LIMIT %s
"""


def _agents(caller: Caller, place: Place | None, *, is_backwards: bool) -> list[AgentHere]:
    """One more than a page, beyond a place."""
    if caller.readable_project_ids == frozenset():
        return []
    way, side = ("DESC", "<") if is_backwards else ("ASC", ">")
    here, here_params = projects_readable_by(caller).order_by().values("id").query.sql_with_params()
    start_params: list[Any] = [] if place is None else [place.key]
    # The walk begins at the id of the place: the same agent may be in a project that comes after.
    most = PAGE_SIZE + 2
    walk = {"way": way, "side": side}
    sql = _AGENTS.format(
        here=here,
        runs=_WALK.format(
            name="ran",
            column="subject_id",
            table="corrections_run",
            only="AND subject_kind = 'agent'",
            start=f"AND subject_id {side}= %s" if place else "",
            **walk,
        ),
        cases=_WALK.format(
            name="tested",
            column="agent_id",
            table="testsets_handcase",
            only="",
            start=f"AND agent_id {side}= %s" if place else "",
            **walk,
        ),
        beyond=f"WHERE (known.agent_id, known.project_id) {side} (%s, %s)" if place else "",
        way=way,
    )
    beyond = [] if place is None else [place.key, _stored(place.id)]
    with connection.cursor() as cursor:
        cursor.execute(sql, [*here_params, *start_params, most, *start_params, most, *beyond, PAGE_SIZE + 1])
        rows = cursor.fetchall()
    return [AgentHere(agent_id, _read(project_id), *rest) for agent_id, project_id, *rest in rows]


def _stored(key: UUID) -> Any:
    return Project._meta.pk.get_db_prep_value(key, connection)  # noqa: SLF001 - documented


def _read(key: Any) -> UUID:
    read: UUID = Project._meta.pk.to_python(key)  # noqa: SLF001 - documented
    return read
