"""Every route × every caller: who may, and that nothing of another workspace is told from what does not exist."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from itertools import count
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import transaction
from django.http import HttpResponse

from corrections.models import CorrectorGroup
from kindgi_site import clock
from kindgi_site.callers import ReviewerRole, Role
from kindgi_site.workspaces.models import Project, ProjectRole
from kindgi_site.workspaces.services.keys import revoke_key, store_key
from tests.api.access import ADMIN, EXECUTE, READ, ROOT, ROSTER, ROUTES, SELF, WRITE, Names, Route, served, shape_of
from tests.factories import ProjectFactory, ReviewerFactory, WorkspaceFactory, person_with
from tests.wire import WireClient

ACTIONS = {
    "viewer": {READ},
    "editor": {READ, WRITE, EXECUTE},
    "admin": {READ, WRITE, EXECUTE, ADMIN},
    "limited": {READ, WRITE, EXECUTE},
    "reviewer": {READ, ROSTER},
    "root": {READ, WRITE, EXECUTE, ADMIN, ROOT, ROSTER},
}
INSIDERS = tuple(ACTIONS)
OUTSIDERS = ("elsewhere", "limited elsewhere")
_numbers = count(1)


class World:
    """A workspace with one of everything, made through /v1 by its administrator, and keys of every kind of caller."""

    def __init__(self) -> None:
        self.project: Project = ProjectFactory(workspace=WorkspaceFactory(), default=True)
        self.workspace = self.project.workspace
        self.other = ProjectFactory(workspace=self.workspace)
        root = person_with(self.project, None, is_admin=True)
        editor = person_with(self.project)
        ProjectRole.objects.create(project=self.other, person=editor, role=Role.EDITOR)
        watching = ReviewerFactory(workspace=self.workspace, person=person_with(self.project, Role.VIEWER))
        self.keys = {
            "root": self.key(root, role="admin"),
            "editor": self.key(editor),
            "limited": self.key(editor, project=self.project),
            "limited elsewhere": self.key(editor, project=self.other),
            "viewer": self.key(person_with(self.project, Role.VIEWER)),
            "admin": self.key(person_with(self.project, Role.ADMIN)),
            "reviewer": self.key(watching.person),
            "elsewhere": self.key(person_with(self.other)),
            "expired": self.key(root, role="admin", expires_at=clock.now() - timedelta(seconds=1)),
        }
        revoked, self.keys["revoked"] = store_key(workspace=self.workspace, principal=root, role="admin")
        revoke_key(key=revoked)
        self.names = Names(self._things(root, str(revoked.id), str(watching.id)))

    def key(self, person: Any, **said: Any) -> str:
        return store_key(workspace=self.workspace, principal=person, **said)[1]

    def client(self, who: str) -> WireClient:
        return WireClient(self.keys.get(who))

    def _things(self, root: Any, key_id: str, reviewer_id: str) -> dict[str, str]:
        """Ids and names of one of everything; the run's id is its case's in the built set."""
        client, project = self.client("root"), str(self.project.id)
        names = {"project": project, "person": str(root.id), "key": key_id, "reviewer": reviewer_id}
        names |= {"newrun": str(uuid4()), "set": f"set-{next(_numbers)}"}

        def made(method: str, path: str, body: Any = b"") -> Any:
            response = client.request(method, path, body)
            assert response.status_code < 300, response.content
            return response.json()

        rules = f"/v1/projects/{project}"
        names["rule"] = made("POST", f"{rules}/correcting-rules", {"name": "all"})["ruleId"]
        for word in ("run", "item", "dismissed"):
            names[word] = str(uuid4())
            made("PUT", f"/v1/runs/{names[word]}", finished_run(project))
        made("POST", f"{rules}/correcting-queue/{names['dismissed']}/dismiss")
        scope = {"kind": "project", "projectId": project}
        names["group"] = made("POST", "/v1/corrector-groups", {"name": "g", "weight": 1, "scope": scope})["id"]
        said = {"runId": names["run"], "answer": "wrong", "why": "No."}
        names["correction"] = made("POST", "/v1/corrections", said)["id"]
        nobody = {"subject": {"kind": "participant", "id": "nobody"}}
        names["erasure"] = made("POST", "/v1/memory/erasures", nobody)["id"]
        agent = f"{rules}/agents/support"
        made("POST", f"{agent}/live-changes", {"action": "latest", "version": "1.1.0"})
        case = {"input": 1, "agentVersion": "1.2.0", "expect": {"answer": {"verdict": "wrong", "why": "No."}}}
        names["case"] = made("POST", f"{agent}/test-set/cases", case)["caseId"]
        test_set = f"/v1/test-sets/{names['set']}"
        build = {"version": "1.0.0", "projectId": project, "agentId": "support"}
        made("POST", f"{test_set}/versions/from-corrections", build)
        start = {"projectId": project, "agentRef": {"agentId": "support", "version": "1.3.0"}}
        names["testrun"] = made("POST", f"{test_set}/runs", start)["runId"]
        return names

    def nowhere(self) -> Names:
        """Names of the same kinds of which there is nothing."""
        return Names({word: value if word == "person" else unknown_like(value) for word, value in
                      self.names.values.items()} | {"person": str(uuid4())})  # fmt: skip


def finished_run(project_id: str) -> dict[str, Any]:
    return {
        "projectId": project_id,
        "agent": {"id": "support", "version": "1.2.0"},
        "status": "completed",
        "completedAt": "2026-03-01T09:30:00Z",
        "input": {"message": "Hello"},
        "output": {"content": "Hi"},
    }


def unknown_like(value: str) -> str:
    if value.startswith("case-"):
        return f"case-{uuid4()}"
    try:
        UUID(value)
    except ValueError:
        return f"unknown-{next(_numbers)}"
    return str(uuid4())


@pytest.fixture(scope="module")
def worlds(django_db_setup: None, django_db_blocker: Any) -> Iterator[tuple[World, World]]:
    """Two workspaces, made once for all tests here and rolled back after them."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield World(), World()
        transaction.set_rollback(True)


@pytest.fixture
def world(worlds: tuple[World, World], db: None) -> World:
    return worlds[0]


@contextmanager
def undone() -> Iterator[None]:
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def ask(client: WireClient, name: str, names: Names) -> HttpResponse:
    method, path = name.split(" ")
    route = ROUTES[name]
    body = json.dumps(names.fill(route.body)) if isinstance(route.body, dict) else route.body
    with undone():
        return client.request(method, names.fill(path + route.query), body)


_VARYING = re.compile(
    r'req-[0-9a-f-]{36}|\d{4}-\d\d-\d\dT[\d:.]+Z|[0-9a-f]{8}-[0-9a-f-]{27}|kgi_[\w-]+|"(?:etag|updatedAt)":"[^"]*"'
)


def told(response: HttpResponse, names: Names) -> tuple[int, str]:
    """Status and body; what was asked for, and what is new in every answer, made alike."""
    return response.status_code, _VARYING.sub("<new>", names.unfill(response.content.decode()))


def test_the_table_has_every_route():
    assert {shape_of(name) for name in ROUTES} == served()


@pytest.mark.parametrize("name", ROUTES)
def test_without_a_usable_key_there_is_nothing(world, name):
    for who, code in (("nobody", "auth-missing"), ("expired", "auth-expired"), ("revoked", "auth-revoked")):
        for names in (world.names, world.nowhere()):
            response = ask(world.client(who), name, names)
            assert (response.status_code, response.json()["error"]["code"]) == (401, code)
    assert ask(WireClient("kgi_unknown"), name, world.names).json()["error"]["code"] == "auth-missing"


@pytest.mark.parametrize("name", ROUTES)
def test_another_workspace_is_not_told_from_nothing(world, worlds, name):
    """All names of the other workspace at once, and each alone among one's own."""
    foreign, nowhere = worlds[1].names, world.nowhere()
    words = re.findall(r"\{(\w+)\}", name + ROUTES[name].query + json.dumps(ROUTES[name].body, default=str))
    choices = [set(words), *({word} for word in words)]
    for who in (*INSIDERS, *OUTSIDERS):
        client = world.client(who)
        for chosen in choices:
            theirs, nothing = (
                Names({word: (other if word in chosen else world.names).values[word] for word in other.values})
                for other in (foreign, nowhere)
            )
            answers = [told(ask(client, name, names), names) for names in (theirs, nothing)]
            assert answers[0] == answers[1], (who, chosen)


@pytest.mark.parametrize("name", [name for name, route in ROUTES.items() if route.needs == SELF])
def test_lists_hold_nothing_of_another_workspace(world, worlds, name):
    foreign = {value for word, value in worlds[1].names.values.items()}
    for who in (*INSIDERS, *OUTSIDERS):
        text = ask(world.client(who), name, world.names).content.decode()
        assert not [value for value in foreign if value in text], who


@pytest.mark.parametrize("name", ROUTES)
def test_who_may_and_who_may_not(world, name):
    needs = ROUTES[name].needs
    for who in INSIDERS:
        response = ask(world.client(who), name, world.names)
        if may(who, needs):
            # What is then in the way is the state of things.
            assert response.status_code < 300 or response.status_code == 409, (who, response.content)
        else:
            code = 404 if name.split(" ")[1].startswith("/v1/tokens/") else 403  # nobody else's key is there (19)
            assert response.status_code == code, (who, response.content)


def may(who: str, needs: str) -> bool:
    return needs == SELF or needs in ACTIONS[who]


@pytest.mark.parametrize("name", ROUTES)
def test_from_another_project_of_the_workspace(world, name):
    """What is hidden is answered as what is not there, the rest is forbidden; nothing is done either way."""
    route: Route = ROUTES[name]
    # That a project named in a body exists is no secret within its workspace (stage 11).
    in_path = re.findall(r"\{(\w+)\}", name)
    nowhere = Names(world.names.values | {word: world.nowhere().values[word] for word in in_path})
    for who in OUTSIDERS:
        client = world.client(who)
        response = ask(client, name, world.names)
        if response.status_code == 403 and response.json()["error"]["code"] == "key-project-mismatch":
            assert who == "limited elsewhere"
            continue
        if route.needs == SELF and response.status_code < 300:
            assert not [value for word, value in world.names.values.items() if value in response.content.decode()
                        and word not in {"project", "key", "person"}], who  # fmt: skip
            continue
        if route.hidden:
            assert response.status_code == 404, (who, response.content)
            assert told(response, world.names) == told(ask(client, name, nowhere), nowhere), who
        else:
            assert response.status_code == 403, (who, response.content)


RESTRICTIONS = {
    "minReviewerRole": {"minReviewerRole": "senior"},
    "principalKinds": {"principalKinds": ["service"]},
    "principalIds": {"principalIds": ["somebody else"]},
}


@pytest.mark.parametrize("part", RESTRICTIONS)
def test_a_restricted_group_takes_only_those_who_meet_it(world, part):
    with undone():
        root = world.client("root")
        path = f"/v1/corrector-groups/{world.names.values['group']}"
        assert root.patch(path, {"assertableBy": RESTRICTIONS[part]}).status_code == 200
        for who in ("editor", "admin", "root", "limited"):
            response = ask(world.client(who), "POST /v1/corrections", world.names)
            error = response.json()["error"]
            assert (response.status_code, error["code"]) == (403, "corrector-group-not-allowed"), who
        senior = person_with(world.project)
        ReviewerFactory(workspace=world.workspace, person=senior, role=ReviewerRole.SENIOR)
        CorrectorGroup.objects.filter(principal_kinds=["service"]).update(principal_kinds=["user"])
        CorrectorGroup.objects.filter(principal_ids=["somebody else"]).update(principal_ids=[str(senior.id)])
        response = ask(WireClient(world.key(senior)), "POST /v1/corrections", world.names)
        assert (response.status_code, response.json()["expert"]) == (201, True)
