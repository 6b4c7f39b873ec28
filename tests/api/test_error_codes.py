"""Each code of contract 3.1 that can occur is produced at least once, with its status; here, or in the test named."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.db import transaction
from django.http import HttpResponse

from kindgi_site import clock
from kindgi_site.errors import Code
from tests.api.test_access_matrix import World, finished_run, undone
from tests.factories import person_with
from tests.wire import WireClient

NOWHERE = str(UUID(int=7))
Ask = Callable[[World], HttpResponse]


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: Any) -> Iterator[World]:
    with django_db_blocker.unblock(), transaction.atomic():
        yield World()
        transaction.set_rollback(True)


def ask(method: str, path: str, body: Any = b"", who: str = "root", **headers: str) -> Ask:
    """One request; `{word}` in its path and body is a name of the world."""

    def asked(world: World) -> HttpResponse:
        return world.client(who).request(method, world.names.fill(path), world.names.fill(body), **headers)

    return asked


def after(*earlier: Ask) -> Callable[[Ask], Ask]:
    """The last request, once the others were answered."""

    def then(last: Ask) -> Ask:
        def asked(world: World) -> HttpResponse:
            for each in earlier:
                response = each(world)
                assert response.status_code < 300, response.content
            return last(world)

        return asked

    return then


def correct(**said: Any) -> Ask:
    return ask("POST", "/v1/corrections", {"runId": "{run}", "answer": "right"} | said)


def without_limit(world: World) -> HttpResponse:
    world.workspace.requests_per_minute = 1
    world.workspace.save()
    responses = [world.client("root").get("/v1/projects") for _time in range(2)]
    assert "Retry-After" in responses[1]
    return responses[1]


def put_run(run_id: str, **said: Any) -> Ask:
    return lambda world: world.client("root").put(
        world.names.fill(f"/v1/runs/{run_id}"), finished_run(str(world.project.id)) | said
    )


_PROJECT, _SET = "/v1/projects/{project}", "/v1/test-sets/{set}"
_AGENT = f"{_PROJECT}/agents/support"
_PUBLISH = {"id": "by-hand", "version": "1.0.0", "kind": "custom", "spec": {}, "projectId": "{project}"}
_PUBLISHED = ask("POST", "/v1/test-sets", _PUBLISH)
_BUILD = {"version": "1.0.0", "projectId": "{project}", "agentId": "support"}
_START = {"projectId": "{project}", "agentRef": {"agentId": "support", "version": "1.3.0"}}
_OUTPUTS = "/v1/test-runs/{testrun}/outputs"
_TAKEN = {"name": "g", "weight": 1, "scope": {"kind": "project", "projectId": "{project}"}}
_RESTRICT = ask("PATCH", "/v1/corrector-groups/{group}", {"assertableBy": {"principalIds": ["nobody"]}})
_RETIRE_SET = ask("POST", f"{_SET}/versions/1.0.0/unregister")
_ADMIN_KEY = {"for": {"kind": "user", "id": "{person}"}}


def submit(content: str, **more: Any) -> Ask:
    said = {"caseId": "{run}", "output": {"content": content}}
    return ask("POST", _OUTPUTS, {"outputs": [said | more]})


def key_for_somebody_else(world: World) -> HttpResponse:
    """An admin key for a person who is no administrator."""
    person = {"kind": "user", "id": str(person_with(world.project).id)}
    return world.client("root").post("/v1/tokens", {"for": person, "role": "admin"})


def outliving_key(world: World) -> HttpResponse:
    key = world.key(person_with(world.project), expires_at=clock.now() + timedelta(hours=1))
    return WireClient(key).post("/v1/tokens")


def another_output(world: World) -> HttpResponse:
    """For a case and a repetition that have one, while the other repetition is still missing."""
    client = world.client("root")
    run_id = client.post(world.names.fill(f"{_SET}/runs"), world.names.fill(_START | {"repetitions": 2})).json()[
        "runId"
    ]
    case = {"caseId": world.names.values["run"]}
    for content in ("One", "Two"):
        response = client.post(f"/v1/test-runs/{run_id}/outputs", {"outputs": [case | {"output": content}]})
    return response


PRODUCED: dict[Code, tuple[int, Ask]] = {
    Code.BAD_INPUT: (400, ask("POST", "/v1/corrections", b"[1")),
    Code.UNKNOWN_FIELD: (400, correct(zz=1)),
    Code.VALIDATION_FAILED: (400, ask("POST", "/v1/test-sets", _PUBLISH | {"version": "1"})),
    Code.SCOPE_INVALID: (400, ask("GET", "/v1/runs?scopeKind=x")),
    Code.ITEM_NOT_FOUND: (400, correct(items=[{"key": "a", "pointer": "/none", "verdict": "right"}])),
    Code.CORRECTOR_GROUP_NOT_APPLICABLE: (400, correct(correctorGroupId=NOWHERE)),
    Code.DISPATCHER_INPUT_INVALID: (400, ask("POST", f"{_SET}/runs", _START | {"baseline": "live"})),
    Code.AUTH_MISSING: (401, ask("GET", "/v1/runs", who="nobody")),
    Code.AUTH_EXPIRED: (401, ask("GET", "/v1/runs", who="expired")),
    Code.AUTH_REVOKED: (401, ask("GET", "/v1/runs", who="revoked")),
    Code.PERMISSION_DENIED: (403, ask("POST", "/v1/projects", {"name": "x", "slug": "x"}, who="editor")),
    Code.CORRECTOR_GROUP_NOT_ALLOWED: (403, after(_RESTRICT)(correct(correctorGroupId="{group}"))),
    Code.KEY_PROJECT_MISMATCH: (403, ask("GET", _PROJECT, who="limited elsewhere")),
    Code.ROLE_EXCEEDS_PRINCIPAL: (403, key_for_somebody_else),
    Code.TOKEN_EXPIRY_EXCEEDS_MINTER: (403, outliving_key),
    Code.NOT_FOUND: (404, ask("GET", f"/v1/tokens/{NOWHERE}")),
    Code.ROUTE_NOT_FOUND: (404, ask("GET", "/v1/nowhere")),
    Code.RUN_NOT_FOUND: (404, ask("GET", f"/v1/runs/{NOWHERE}")),
    Code.CORRECTION_NOT_FOUND: (404, ask("GET", f"/v1/corrections/{NOWHERE}")),
    Code.CORRECTOR_GROUP_NOT_FOUND: (404, ask("GET", f"/v1/corrector-groups/{NOWHERE}")),
    Code.PROJECT_NOT_FOUND: (404, ask("GET", f"/v1/projects/{NOWHERE}")),
    Code.TEST_SET_NOT_FOUND: (404, ask("GET", "/v1/test-sets/none")),
    Code.TEST_CASE_NOT_FOUND: (404, ask("PATCH", f"{_AGENT}/test-set/cases/case-{NOWHERE}", {"note": "x"})),
    Code.TEST_RUN_NOT_FOUND: (404, ask("GET", f"/v1/test-runs/{NOWHERE}")),
    Code.CORRECTING_RULE_NOT_FOUND: (404, ask("GET", f"{_PROJECT}/correcting-rules/{NOWHERE}")),
    Code.CORRECTING_ITEM_NOT_FOUND: (404, ask("POST", f"{_PROJECT}/correcting-queue/{NOWHERE}/dismiss")),
    Code.REVIEWER_NOT_FOUND: (404, ask("GET", f"/v1/approvals/reviewers/{NOWHERE}")),
    Code.PRINCIPAL_NOT_FOUND: (404, ask("POST", "/v1/approvals/reviewers", {"userId": NOWHERE, "role": "senior"})),
    Code.RUN_NOT_FINISHED: (
        409,
        after(
            lambda world: world.client("root").put(
                f"/v1/runs/{NOWHERE}",
                {name: value for name, value in finished_run(str(world.project.id)).items()
                 if name not in {"output", "completedAt"}} | {"status": "running"},
            )
        )(correct(runId=NOWHERE)),
    ),
    Code.RUN_ALREADY_TERMINAL: (409, put_run("{run}", input="other")),
    Code.INVALID_TRANSITION: (409, after(
        ask("POST", "/v1/corrections/{correction}/status", {"status": "wont-fix"})
    )(ask("POST", "/v1/corrections/{correction}/sort", {"to": "owner"}))),
    Code.IDEMPOTENCY_KEY_BODY_MISMATCH: (409, after(
        ask("POST", "/v1/tokens", {}, idempotency_key="k")
    )(ask("POST", "/v1/tokens", {"label": "x"}, idempotency_key="k"))),
    Code.IDEMPOTENCY_KEY_REPLAY_WITHHELD: (409, after(
        ask("POST", "/v1/tokens", {}, idempotency_key="k")
    )(ask("POST", "/v1/tokens", {}, idempotency_key="k"))),
    Code.CORRECTOR_GROUP_NAME_TAKEN: (409, ask("POST", "/v1/corrector-groups", _TAKEN)),
    Code.TEST_SET_ALREADY_REGISTERED: (409, after(_PUBLISHED)(_PUBLISHED)),
    Code.TEST_SET_PROJECT_MISMATCH: (409, lambda world: world.client("root").post(
        "/v1/test-sets", _PUBLISH | {"id": world.names.values["set"], "projectId": str(world.other.id)}
    )),
    Code.TEST_CASE_CORRECTION_OWNED: (409, ask("PATCH", f"{_AGENT}/test-set/cases/{{correction}}", {"note": "x"})),
    Code.TEST_RUN_ALREADY_TERMINAL: (409, after(ask("POST", "/v1/test-runs/{testrun}/cancel"))(submit("Hi"))),
    Code.TEST_RUN_OUTPUT_EXISTS: (409, another_output),
    Code.TEST_RUN_NOT_RESCORABLE: (409, ask("POST", "/v1/test-runs/{testrun}/rescore")),
    Code.CORRECTING_ITEM_NOT_OPEN: (409, ask("POST", f"{_PROJECT}/correcting-queue/{{dismissed}}/dismiss")),
    Code.NOT_PINNED: (409, ask("POST", f"{_AGENT}/live-changes", {"action": "unpin"})),
    Code.SLUG_CONFLICT: (409, ask("POST", "/v1/projects", {"name": "x", "slug": "default"})),
    Code.PROJECT_DEFAULT_ALREADY_EXISTS: (409, ask("POST", "/v1/projects", {"name": "x", "slug": "x",
                                                                           "isDefault": True})),
    Code.RUN_ERASED: (410, after(ask("POST", "/v1/runs/{run}/erase"))(correct())),
    Code.TEST_SET_GONE: (410, after(_RETIRE_SET)(ask("GET", _SET))),
    Code.DISPATCHER_NOT_REGISTERED: (422, after(_PUBLISHED)(ask("POST", "/v1/test-sets/by-hand/runs", _START))),
    Code.RATE_LIMIT_EXCEEDED: (429, without_limit),
}  # fmt: skip
# What takes a server in trouble, or two requests at once.
ELSEWHERE: dict[Code, tuple[str, str]] = {
    Code.REQUEST_TOO_LARGE: ("test_pipeline", "test_one_byte_more_is_refused"),
    Code.INTERNAL_SERVER_ERROR: ("test_errors", "test_a_failure_tells_nothing_and_is_logged_with_the_requests_id"),
    Code.DATABASE_BUSY: ("test_errors", "test_reading_a_locked_database_is_to_be_tried_again"),
    Code.IDEMPOTENCY_KEY_IN_FLIGHT: ("test_killed_worker", "test_the_retry_does_the_work_once_the_hold_has_lapsed"),
    Code.IDEMPOTENCY_STORE_UNAVAILABLE: ("test_idempotency", "test_nothing_runs_when_the_store_is_down"),
}
NEVER = {
    Code.LEGAL_HOLD: "reserved by the contract",
    Code.ERASURE_IN_PROGRESS: "reserved by the contract; an erasure is one transaction here",
    Code.TEST_SETS_NOT_SUPPORTED: "reserved by the contract; they are supported",
}


def test_every_code_has_its_place():
    places = [set(PRODUCED), set(ELSEWHERE), set(NEVER)]
    assert set.union(*places) == set(Code)
    assert sum(map(len, places)) == len(Code)


@pytest.mark.parametrize("code", PRODUCED)
def test_it_is_produced(world, db, code):
    status, asked = PRODUCED[code]
    with undone():
        response = asked(world)
        error = response.json()["error"]

    assert (response.status_code, error["code"]) == (status, code), error
    assert set(error) - {"details"} == {"code", "message", "requestId"}
    assert error.get("details") != {}


@pytest.mark.parametrize("code", ELSEWHERE)
def test_it_is_produced_there(code):
    file, name = ELSEWHERE[code]
    text = (Path(__file__).parent / f"{file}.py").read_text()

    assert f"def {name}(" in text
    assert code in text or code.name in text


@pytest.mark.parametrize("code", NEVER)
def test_what_is_reserved_is_raised_nowhere(code):
    root = Path(__file__).resolve().parents[2]
    sources = [file for folder in ("corrections", "kindgi_site", "testsets") for file in (root / folder).rglob("*.py")]

    assert not [file for file in sources if f"Code.{code.name}" in file.read_text()]
