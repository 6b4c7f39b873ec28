"""Stories told by the links of the served OpenAPI document: each request takes its names out of an earlier answer.

Each story is walked once as it stands, and every link of the document belongs to one. Then it is walked again and
again with detours over other links, with made-up bodies: SCHEMATHESIS_EXAMPLES says how often, four to a journey.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
import schemathesis
from django.db import transaction
from hypothesis import given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.core import NOT_SET
from schemathesis.core.transforms import UNRESOLVABLE
from schemathesis.generation.stateful.state_machine import StepOutput
from schemathesis.specs.openapi.stateful.links import OpenApiLink

from tests.api.access import ROUTES, shape_of
from tests.api.test_access_matrix import World, finished_run, undone
from tests.api.test_schemathesis import ATTEMPTS, CHECKS, EXAMPLES, app, known_names
from tests.wire import WireClient

JOURNEYS = max(3, EXAMPLES // 4)
SENSIBLE = {shape_of(name): route.body for name, route in ROUTES.items()} | {
    "POST /v1/corrections": {"runId": "{run}", "answer": "wrong", "why": "No."},
    "POST /v1/projects/{}/correcting-rules": {"name": "new"},
}


class Step(NamedTuple):
    """An operation by its id, and what is said there besides, or instead, of what the matrix of access says."""

    operation: str
    body: dict[str, Any] | None = None
    query: dict[str, str] | None = None


def steps(*names: str | Step) -> list[Step]:
    return [name if isinstance(name, Step) else Step(name) for name in names]


def under(prefix: str, *names: str | Step) -> list[Step]:
    return [step._replace(operation=f"{prefix}.{step.operation}") for step in steps(*names)]


BUILD, START, RULES, QUEUE = (
    "testSets.versions.fromCorrections", "testSets.runs.start", "projects.correctingRules", "projects.correctingQueue",
)  # fmt: skip
IN_PROJECT = steps("projects.get", f"{RULES}.list", f"{QUEUE}.list", f"{RULES}.create")
BEING_FIXED, WONT_FIX = (Step("setStatus", {"status": status}) for status in ("being-fixed", "wont-fix"))
STORIES: dict[str, list[Step]] = {
    "a project": [*steps("projects.create"), *IN_PROJECT],
    "the Default project": [*steps("projects.getDefault"), *IN_PROJECT],
    "a key": under("tokens", "mint", "get", "revoke"),
    "a reviewer": under("reviewers", "register", "get", "unregister"),
    "a run": steps("runs.put", "runs.get", "corrections.create", "corrections.list", "runs.get",
                   "agentTestSet.cases.fromRun", "agentTestSet.cases.change", "agentTestSet.cases.unregister",
                   "runs.erase", "runs.get"),
    "a run that is not worth correcting": [
        *steps("runs.put"), *under(QUEUE, "dismiss", "reopen", "dismiss")],
    "the queue": [Step(f"{QUEUE}.list", query={"state": "open"}), *steps("runs.get", f"{QUEUE}.dismiss")],
    "an erasure": under("erasures", "create", "get"),
    "a correction": under("corrections", "create", "get", "history", BEING_FIXED, "get", "history", "unlink", "sort",
                          BEING_FIXED, "link", "link", "unlink", WONT_FIX, "unregister", "get", "history"),
    "a group": steps("correctorGroups.create", "correctorGroups.get", "correctorGroups.update", "corrections.list",
                     "corrections.create", "correctorGroups.unregister"),
    "a rule": [*under(RULES, "create", "get", "preview"), *steps(f"{QUEUE}.list"),
               *under(RULES, "update", "versions", "versions", "results", "results", "unregister")],
    "an agent": [
        *steps("corrections.create"), *under("agentTestSet", "get", "cases.list", "freeze", "cases.add"),
        Step("agentTestSet.freeze", {"version": "3.0.1"}),
        *under("agentTestSet.cases", "change", "unregister", "fromDraft", "change", "unregister"),
        *under("agents", "liveChanges.create", "get", "live", "liveChanges.list", "setOwner", "get")],
    "a set by hand": under("testSets", "publish", "get", *under("versions", "list", "get", "cases", "unregister", "get",
                           "reinstate", "get", "cases")),
    "a set built": [*steps(BUILD), *under("testSets", "get", *under("versions", "get", "cases", "unregister"))],
    "a set frozen": [*steps("agentTestSet.freeze"), *under("testSets.versions", "get", "cases", "unregister")],
    "a test run": [
        *steps(BUILD), Step(START, {"repetitions": 3}),
        *under("testRuns", "get", "outputs.submit", "cases",
               Step("outputs.submit", {"outputs": [{"repetition": 1, "output": "Well"}]}), "get", "complete", "get",
               "rescore", "rescore", "get")],
    "a test run as it stands": [*steps("agentTestSet.freeze", START), *under("testRuns", "complete")],
    "a test run nobody wants": [*steps(BUILD, START), *under("testRuns", "cancel")],
}  # fmt: skip


class Planned(NamedTuple):
    """A step and the earlier one (by its number) whose answer leads to it; None where it stands by itself."""

    step: Step
    after: int | None


def planned(story: list[Step], links: set[tuple[str, str]]) -> list[Planned]:
    """Each step after the nearest one that leads to it, by a link that the story has not followed before."""
    plan: list[Planned] = []
    used: set[tuple[str, str]] = set()
    for number, step in enumerate(story):
        leading = [n for n in reversed(range(number)) if (story[n].operation, step.operation) in links]
        fresh = [n for n in leading if (story[n].operation, step.operation) not in used]
        assert fresh or not leading, f"{step.operation} (step {number}) follows a link for the second time"
        after = next(iter(fresh), None)
        used |= {(story[after].operation, step.operation)} if after is not None else set()
        plan.append(Planned(step, after))
    return plan


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: Any) -> Iterator[World]:
    with django_db_blocker.unblock(), transaction.atomic():
        yield World()
        transaction.set_rollback(True)


@pytest.fixture(scope="module")
def operations() -> dict[str, Any]:
    """Every operation of the served document by its id."""
    schema = schemathesis.openapi.from_dict(WireClient(None).get("/v1/openapi.json").json())
    return {each.ok().definition.raw["operationId"]: each.ok() for each in schema.get_all_operations()}


@pytest.fixture(scope="module")
def links(operations: dict[str, Any]) -> dict[tuple[str, str], dict[str, OpenApiLink]]:
    """Every link by where it leads from and to, at each status that has it."""
    found: dict[tuple[str, str], dict[str, OpenApiLink]] = {}
    for name, operation in operations.items():
        for status, response in operation.responses.items():
            for called, said in response.iter_links():
                found.setdefault((name, said["operationId"]), {})[status] = OpenApiLink(called, status, said, operation)
    return found


class Brought(NamedTuple):
    """What a link brings to the next request."""

    path: dict[str, Any] = {}
    query: dict[str, Any] = {}
    body: Any = None


class Answer(NamedTuple):
    operation: str
    status: int
    output: StepOutput


class Journey:
    """Requests one after the other; every answer must be in the document."""

    def __init__(self, world: World, operations: dict[str, Any], links: Any) -> None:
        self.world, self.operations, self.links = world, operations, links
        self.told: list[Answer] = []
        self.answers: list[Answer] = []
        self.followed: Counter[tuple[str, str]] = Counter()

    def go(self, planned: Planned) -> Answer:
        """The planned step, with names and a body that are true of the world where no link brings others."""
        name = planned.step.operation
        source = None if planned.after is None else self.told[planned.after]
        brought, operation = self.brought(source, name) or Brought(), self.operations[name]
        known = known_names(operation.path, self.world) | brought.path
        known |= {"runId": self.world.names.values["newrun"]} if name == "runs.put" else {}
        body = merged(sensible_body(operation, self.world), planned.step.body)
        case = operation.Case(
            path_parameters={each.name: known[each.name] for each in operation.path_parameters},
            query=(planned.step.query or {}) | brought.query,
            body=NOT_SET if body == b"" else merged(body, brought.body),
            media_type="application/json",
        )
        self.told.append(self.answered(name, case))
        if source is not None and self.brought(source, name) and self.told[-1].status < 300:
            self.followed[source.operation, name] += 1
        return self.told[-1]

    def stray(self, draw: Any) -> None:
        """Over a link from any answer so far, with the rest of the request made up."""
        leading = [(each, target) for each in self.answers for start, target in self.links
                   if start == each.operation and self.brought(each, target)]  # fmt: skip
        if not leading:
            return
        source, target = draw(st.sampled_from(leading))
        brought, operation = self.brought(source, target), self.operations[target]
        assert brought
        case = draw(operation.as_strategy(generation_mode=GenerationMode.POSITIVE, path_parameters=brought.path))
        case.query = (case.query or {}) | brought.query
        if isinstance(case.body, dict):
            case.body = merged(case.body, brought.body)
        self.answered(target, case)

    def brought(self, source: Answer | None, target: str) -> Brought | None:
        """What an earlier answer brings to an operation; None for a refusal, or one without what the link names."""
        link = self.links[source.operation, target].get(str(source.status)) if source is not None else None
        if source is None or link is None:
            return None
        transition = link.extract(source.output)
        given = {place: {name: each.value.ok() for name, each in named.items()}
                 for place, named in transition.parameters.items()}  # fmt: skip
        body = transition.request_body and transition.request_body.value.ok()
        if not is_there([given, body]):
            return None
        return Brought(given.get("path_parameters", {}), given.get("query", {}), body)

    def answered(self, name: str, case: Any) -> Answer:
        headers = {"Authorization": f"Bearer {self.world.keys['root']}"}
        response = case.call(app=app, base_url="http://localhost", headers=headers)
        case.validate_response(response, checks=CHECKS)
        answer = Answer(name, response.status_code, StepOutput(response, case))
        self.answers.append(answer)
        return answer


def is_there(part: Any) -> bool:
    """Whether an answer had all that a link names in it."""
    if isinstance(part, dict | list):
        return all(map(is_there, part.values() if isinstance(part, dict) else part))
    return part is not UNRESOLVABLE


def merged(said: Any, more: Any) -> Any:
    """What is said with what more is said, field by field and entry by entry."""
    if isinstance(said, dict) and isinstance(more, dict):
        return said | {name: merged(said.get(name), part) for name, part in more.items()}
    if isinstance(said, list) and isinstance(more, list):
        return [merged(*both) for both in zip(said, more, strict=False)] + said[len(more) :] + more[len(said) :]
    return said if more is None else more


def sensible_body(operation: Any, world: World) -> Any:
    """The body that the matrix of access sends there; a run handed in is finished, so that it can be corrected."""
    shape = shape_of(f"{operation.method.upper()} {operation.path}")
    return finished_run(str(world.project.id)) if shape == "PUT /v1/runs/{}" else world.names.fill(SENSIBLE[shape])


def test_every_link_belongs_to_a_story(links):
    told = {
        (story[step.after].operation, step.step.operation)
        for story in STORIES.values()
        for step in planned(story, set(links))
        if step.after is not None
    }

    assert told == set(links)


@pytest.mark.parametrize("title", STORIES)
def test_a_story_goes_from_link_to_link(world, operations, links, title, db):
    plan = planned(STORIES[title], set(links))
    with undone():
        journey = Journey(world, operations, links)
        for step in plan:
            answer = journey.go(step)
            assert answer.status < 300, (step, answer.output.response.text)

    expected = Counter(
        (plan[step.after].step.operation, step.step.operation) for step in plan if step.after is not None
    )
    assert journey.followed == expected
    assert expected


@pytest.mark.parametrize("title", STORIES)
def test_a_story_with_detours(world, operations, links, title, db):
    plan = planned(STORIES[title], set(links))
    strayed: list[int] = []

    @settings(ATTEMPTS, max_examples=JOURNEYS)
    @given(data=st.data())
    def walk(data: Any) -> None:
        with undone():
            journey = Journey(world, operations, links)
            for step in plan:
                journey.go(step)
                for _time in range(data.draw(st.integers(1, 2))):
                    journey.stray(data.draw)
            strayed.append(len(journey.answers) - len(plan))

    walk()
    assert min(strayed) >= len(plan)
