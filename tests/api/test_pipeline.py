"""Contract, section 1: the order of the stages, and what every answer of /v1 has."""

import io
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any
from uuid import uuid4

import pytest
from django.http import HttpResponse
from django.test import Client
from pytest_django import Settings

from corrections.models import Run
from kindgi_site.callers import Role
from kindgi_site.workspaces.models import ApiKey, Project, ProjectRole, Workspace
from kindgi_site.wsgi import application
from tests.factories import ProjectFactory, RunFactory
from tests.wire import WireClient

Refusal = Callable[..., dict[str, Any]]
LIMIT = 5000


# ---- the order ----


@dataclass
class Attempt:
    """A PUT that would be accepted, had nobody put faults into it."""

    path: str
    body: dict[str, Any]
    key: str | None
    method: str = "PUT"
    padding: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


def too_large(attempt: Attempt) -> None:
    attempt.padding = b" " * LIMIT


def without_token(attempt: Attempt) -> None:
    attempt.key = None


def too_deep(attempt: Attempt) -> None:
    attempt.body["input"] = nested(129)


def with_key_of_another_project(attempt: Attempt) -> None:
    ApiKey.objects.update(project=ProjectFactory(workspace=Workspace.objects.get()))
    attempt.path += "&projectId=" + str(Project.objects.get(is_default=True).id)


def with_bad_cursor(attempt: Attempt) -> None:
    attempt.method = "GET"
    attempt.path += "&cursor=k1.junk"


def over_the_rate_limit(attempt: Attempt) -> None:
    Workspace.objects.update(requests_per_minute=0)


def with_used_idempotency_key(attempt: Attempt) -> None:
    attempt.headers["idempotency_key"] = "used"


def with_unknown_project(attempt: Attempt) -> None:
    attempt.body["projectId"] = str(uuid4())


def with_bad_body(attempt: Attempt) -> None:
    attempt.body["status"] = "asleep"


def without_permission(attempt: Attempt) -> None:
    ProjectRole.objects.update(role=Role.VIEWER)


STAGES = {  # in the contract's order: what the refusal of each says; its further details are other tests' business
    too_large: (413, "request-too-large", {"maxBytes": LIMIT}),
    without_token: (401, "auth-missing", {}),
    too_deep: (400, "bad-input", {"maxDepth": 128}),
    with_key_of_another_project: (403, "key-project-mismatch", {}),
    with_bad_cursor: (400, "bad-input", {"field": "cursor"}),
    over_the_rate_limit: (429, "rate-limit-exceeded", {"limit": "api-requests"}),
    with_used_idempotency_key: (409, "idempotency-key-body-mismatch", {}),
    with_unknown_project: (404, "project-not-found", {}),
    with_bad_body: (400, "bad-input", {"field": "status"}),
    without_permission: (403, "permission-denied", {}),
}
# A cursor is opened for GET; these stages are those of a PUT.
OF_WRITES = {with_used_idempotency_key, with_unknown_project, with_bad_body, without_permission}
PAIRS = [pair for pair in combinations(STAGES, 2) if with_bad_cursor not in pair or not OF_WRITES & {*pair}]


@pytest.mark.parametrize(("first", "second"), PAIRS, ids=lambda fault: fault.__name__)
def test_the_earlier_stage_answers(
    first: Callable[[Attempt], None],
    second: Callable[[Attempt], None],
    api_client: WireClient,
    run_path: str,
    run_body: dict[str, Any],
    settings: Settings,
) -> None:
    settings.MAX_BODY_BYTES = LIMIT
    assert api_client.put(run_path, run_body, idempotency_key="used").status_code == 201
    attempt = Attempt(f"{run_path}?", run_body | {"status": "suspended"}, api_client.key)
    first(attempt)
    second(attempt)

    body = json.dumps(attempt.body).encode() + attempt.padding
    response = WireClient(attempt.key).request(attempt.method, attempt.path, body, **attempt.headers)

    status, code, details = STAGES[first]
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (status, code)
    assert details.items() <= error.get("details", {}).items()
    assert Run.objects.get().status == "running"


def nested(levels: int) -> list[Any]:
    """A list that makes a body of that many levels when it is a member of it."""
    value: list[Any] = []
    for _level in range(levels - 2):
        value = [value]
    return value


# ---- 1: the request's id ----


@pytest.mark.parametrize("sent", ["a", "x" * 200, "!~", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"])
def test_a_request_id_is_used_as_it_came(sent: str, refusal: Refusal) -> None:
    response = WireClient(None).get("/v1/runs", x_request_id=sent)

    assert response["X-Request-Id"] == sent
    assert response.json() == refusal(response, "auth-missing")


@pytest.mark.parametrize("sent", [None, "", "x" * 201, "a b", "a\tb", "caf\xe9", "a\x7f"])
def test_a_request_id_out_of_bounds_is_treated_as_absent(sent: str | None) -> None:
    headers = {} if sent is None else {"x_request_id": sent}
    client = WireClient(None)

    ids = [client.get("/v1/runs", **headers)["X-Request-Id"] for _ in range(2)]

    assert all(re.fullmatch(r"req-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", minted) for minted in ids)
    assert ids[0] != ids[1]


# ---- 2: the body's size ----


def test_a_body_of_exactly_the_limit_is_taken(
    api_client: WireClient, run_path: str, run_body: dict[str, Any], settings: Settings
) -> None:
    settings.MAX_BODY_BYTES = LIMIT

    response = api_client.put(run_path, json.dumps(run_body).encode().ljust(LIMIT))

    assert response.status_code == 201


def test_one_byte_more_is_refused(
    api_client: WireClient, run_path: str, run_body: dict[str, Any], settings: Settings, refusal: Refusal
) -> None:
    settings.MAX_BODY_BYTES = LIMIT

    response = api_client.put(run_path, json.dumps(run_body).encode().ljust(LIMIT + 1))

    assert response.status_code == 413
    assert response.json() == refusal(response, "request-too-large", {"maxBytes": LIMIT})
    assert not Run.objects.exists()


def test_the_limit_is_ten_mebibytes_unless_set(settings: Settings) -> None:
    assert settings.MAX_BODY_BYTES == 10 * 1024 * 1024


class Unlimited(io.RawIOBase):
    """A stream that never ends, and knows how much of it was read."""

    taken = 0

    def read(self, size: int = -1) -> bytes:
        assert size >= 0
        self.taken += size
        return b"x" * size


def chunked(path: str, stream: Any, **environ: Any) -> tuple[int, dict[str, str], bytes]:
    """The answer of the server's entry to a PUT whose body has no declared length."""
    said: list[Any] = []
    environ = {
        "REQUEST_METHOD": "PUT",
        "PATH_INFO": path,
        "SERVER_NAME": "testserver",
        "SERVER_PORT": "80",
        "HTTP_HOST": "testserver",
        "HTTP_TRANSFER_ENCODING": "chunked",
        "wsgi.input": stream,
        "wsgi.url_scheme": "http",
        **environ,
    }
    body = b"".join(application(environ, lambda status, headers: said.extend([int(status[:3]), dict(headers)])))
    return said[0], said[1], body


@pytest.mark.django_db  # the end of a request looks after its connection
def test_a_body_without_a_length_is_refused_as_soon_as_it_passes_the_limit(settings: Settings) -> None:
    settings.MAX_BODY_BYTES = LIMIT
    stream = Unlimited()

    status, headers, body = chunked("/v1/runs", stream)

    assert status == 413
    assert json.loads(body)["error"]["details"] == {"maxBytes": LIMIT}
    assert headers["Cache-Control"] == "no-store"
    assert json.loads(body)["error"]["requestId"] == headers["X-Request-Id"]
    assert stream.taken == LIMIT + 1


@pytest.mark.django_db(transaction=True)
def test_a_body_without_a_length_within_the_limit_is_taken(
    api_key: str, run_path: str, run_body: dict[str, Any], settings: Settings
) -> None:
    settings.MAX_BODY_BYTES = LIMIT
    stream = io.BytesIO(json.dumps(run_body).encode().ljust(LIMIT))

    status, _headers, _body = chunked(run_path, stream, HTTP_AUTHORIZATION=f"Bearer {api_key}")

    assert status == 201
    assert Run.objects.get().status == "running"


# ---- 3: no answer is stored, each has the request's id ----


@pytest.fixture
def answers(
    api_client: WireClient, viewer_client: WireClient, run_path: str, run_body: dict[str, Any], settings: Settings
) -> dict[int, HttpResponse]:
    """One answer of each status that the real routes and the probes give."""
    settings.ROOT_URLCONF = "tests.api.probes"
    answers = [
        api_client.get("/v1/openapi.json"),
        api_client.put(run_path, run_body),
        api_client.delete("/v1/probe/work"),
        api_client.get("/v1/runs/"),
        api_client.get("/v1/runs/not-a-uuid"),
        WireClient(None).get("/v1/runs"),
        viewer_client.put(run_path, run_body),
        api_client.get("/v1/nowhere"),
        api_client.put(run_path, run_body | {"status": "cancelled", "completedAt": "2026-03-01T09:30:00Z"}),
        api_client.put(run_path, run_body),
        api_client.post("/v1/probe/refuse"),
        api_client.get("/v1/probe/fail"),
    ]
    Workspace.objects.update(requests_per_minute=0)
    answers.append(api_client.get("/v1/runs"))
    settings.MAX_BODY_BYTES = 1
    answers.append(api_client.put(run_path, run_body))
    return {answer.status_code: answer for answer in answers}


def test_every_answer_is_not_to_be_stored_and_has_the_requests_id(answers: dict[int, HttpResponse]) -> None:
    assert set(answers) == {200, 201, 204, 301, 400, 401, 403, 404, 409, 413, 418, 429, 500}
    assert {answer["Cache-Control"] for answer in answers.values()} == {"no-store"}
    assert len({answer["X-Request-Id"] for answer in answers.values()}) == len(answers)


def test_every_refusal_is_the_envelope(answers: dict[int, HttpResponse]) -> None:
    for status, answer in answers.items():
        if status >= 400 and status != 418:
            assert answer["Content-Type"] == "application/json"
            error = answer.json()["error"]
            assert answer.json() == {"error": error}
            assert set(error) - {"details"} == {"code", "message", "requestId"}
            assert error["requestId"] == answer["X-Request-Id"]
            assert error.get("details", True)


# ---- 1.1: paths and methods ----


@pytest.mark.parametrize("path", ["/v1/nowhere", "/v1", "/v1/runs/a/b", "/v1/a%0Ab", "/v1/%ff", "/v1//runs"])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "WHATEVER"])
def test_an_unknown_route_is_told_to_known_callers_only(
    method: str, path: str, api_client: WireClient, refusal: Refusal
) -> None:
    unknown, known = WireClient(None).request(method, path), api_client.request(method, path)

    assert (unknown.status_code, known.status_code) == (401, 404)
    if method != "HEAD":
        assert unknown.json() == refusal(unknown, "auth-missing")
        assert known.json() == refusal(known, "route-not-found")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/runs"),
        ("OPTIONS", "/v1/runs"),
        ("TRACE", "/v1/runs"),
        ("DELETE", "/v1/runs/00000000-0000-0000-0000-000000000000"),
        ("POST", "/v1/runs/00000000-0000-0000-0000-000000000000"),
        ("PATCH", "/v1/corrections/x"),
        ("OPTIONS", "/v1/openapi.json"),
        ("POST", "/v1/openapi.json"),
    ],
)
def test_a_method_the_path_has_not_is_an_unknown_route(
    method: str, path: str, api_client: WireClient, refusal: Refusal
) -> None:
    unknown = WireClient(None).request(method, path)
    known = api_client.request(method, path, {"projectId": str(uuid4())})

    assert (unknown.status_code, known.status_code) == (401, 404)
    assert known.json() == refusal(known, "route-not-found")
    assert not known.has_header("Allow")
    assert not any(name.lower().startswith("access-control") for name in known.headers)


@pytest.mark.parametrize(
    "path",
    [
        "/v1/runs",
        "/v1/runs?limit=1",
        "/v1/runs?cursor=junk",
        "/v1/runs/{run}",
        "/v1/runs/00000000-0000-0000-0000-000000000000",
        "/v1/corrections/none",
        "/v1/openapi.json",
        "/v1/runs/",
        "/v1/nowhere",
        "/health",
    ],
)
@pytest.mark.parametrize("has_token", [True, False])
def test_head_is_get_without_the_body(path: str, has_token: bool, api_client: WireClient, run: Run) -> None:
    RunFactory(project=run.project)
    client = api_client if has_token else WireClient(None)
    path = path.replace("{run}", str(run.run_id))

    got, head = client.get(path, x_request_id="same"), client.head(path, x_request_id="same")

    assert head.status_code == got.status_code
    assert dict(head.items()) == dict(got.items())
    assert head.content == b""


@pytest.mark.parametrize(
    ("path", "location"),
    [
        ("/v1/runs/", "/v1/runs"),
        ("/v1/runs/?limit=5&status=a%2Fb", "/v1/runs?limit=5&status=a%2Fb"),
        ("/v1/nowhere/at/all/", "/v1/nowhere/at/all"),
        ("/v1/runs//", "/v1/runs/"),
        ("/v1/a%3Fb/", "/v1/a%3Fb"),
        ("/v1/openapi.json/", "/v1/openapi.json"),
        ("/v1/", "/v1"),
        ("/v1//elsewhere.example/", "/v1//elsewhere.example"),
    ],
)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_stray_slash_sends_readers_on_before_they_are_known(method: str, path: str, location: str) -> None:
    response = WireClient(None).request(method, path)

    assert response.status_code == 301
    assert response["Location"] == location
    assert response["Cache-Control"] == "no-store"


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_a_stray_slash_makes_a_write_an_unknown_route(
    method: str, api_client: WireClient, run_path: str, run_body: dict[str, Any], refusal: Refusal
) -> None:
    unknown = WireClient(None).request(method, f"{run_path}/", run_body)
    known = api_client.request(method, f"{run_path}/", run_body)

    assert (unknown.status_code, known.status_code) == (401, 404)
    assert known.json() == refusal(known, "route-not-found")
    assert not Run.objects.exists()


def test_a_cookie_is_no_token(reviewer_client: Client) -> None:
    assert reviewer_client.get("/v1/runs").status_code == 401
