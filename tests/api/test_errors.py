"""Contract, section 3 and stage 13: one shape for every refusal, nothing of a failure told, a busy database."""

import ast
import json
import logging
import re
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from django.db import OperationalError, connection
from django.test import Client, RequestFactory
from psycopg_pool import PoolTimeout, TooManyRequests

from corrections.models import Run
from kindgi_site import errors
from kindgi_site.api.errors import HttpRefusal, is_database_busy, response_to
from kindgi_site.errors import Code, DomainError
from kindgi_site.http_status import STATUS_OF_FAMILY
from kindgi_site.workspaces.models import Project
from tests.api.probes import SECRET
from tests.wire import WireClient

Refusal = Callable[..., dict[str, Any]]
PROJECT = Path(__file__).resolve().parents[2]
CONTRACT = PROJECT.parent / "shared" / "contract" / "behaviour.md"
FAMILIES = {family.__name__: status for family, status in STATUS_OF_FAMILY.items()}

# ---- the table of codes ----


def table() -> dict[str, int]:
    """The status of each code, from the contract's table (3.1)."""
    if not CONTRACT.exists():
        pytest.skip("the contract is not beside the project")
    section = CONTRACT.read_text().partition("### 3.1 Every code")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ((?:`[a-z-]+`(?:, )?)+) \| (\d{3}) \|", section, re.MULTILINE)
    return {code: int(status) for codes, status in rows for code in re.findall(r"`([a-z-]+)`", codes)}


def test_there_are_exactly_the_contracts_codes() -> None:
    assert {str(code) for code in Code} == set(table())


def test_raised_as_its_family_each_code_has_its_status() -> None:
    request = RequestFactory().get("/v1/runs")
    families = {status: family for family, status in STATUS_OF_FAMILY.items()}
    for code, status in table().items():
        family = families.get(status)
        problem = family(Code(code), "No.") if family else HttpRefusal(status, Code(code), "No.")

        response = response_to(request, problem)

        assert response.status_code == status
        assert json.loads(response.content)["error"]["code"] == code


def test_our_own_code_raises_every_code_as_its_family() -> None:
    statuses = table()
    wrong = [
        f"{path.relative_to(PROJECT)}:{call.lineno}: {code} as {status}"
        for path in sorted(PROJECT.glob("*/**/*.py"))
        if path.relative_to(PROJECT).parts[0] in ("kindgi_site", "corrections", "testsets")
        if "management" not in path.parts  # a command has no status
        for call, code, status in refusals_in(path)
        if statuses[code] != status
    ]

    assert wrong == []


def refusals_in(path: Path) -> Iterator[tuple[ast.Call, str, int]]:
    """Each refusal that a file makes with a literal code: the call, the code, its status."""
    for call in ast.walk(ast.parse(path.read_text())):
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
            continue
        code = next((argument for argument in call.args if is_code(argument)), None)
        status = FAMILIES.get(call.func.id)
        if call.func.id in ("HttpRefusal", "error_response"):
            numbers = [part.value for part in call.args if isinstance(part, ast.Constant)]
            status = next((number for number in numbers if isinstance(number, int)), None)
        if code is not None and status is not None:
            yield call, str(Code[code.attr]), status


def is_code(argument: ast.expr) -> bool:
    return isinstance(argument, ast.Attribute) and isinstance(argument.value, ast.Name) and argument.value.id == "Code"


def test_every_family_has_a_status() -> None:
    families = {made for made in vars(errors).values() if isinstance(made, type) and issubclass(made, DomainError)}

    assert set(STATUS_OF_FAMILY) == families - {DomainError}


def test_details_that_say_nothing_are_left_out() -> None:
    request = RequestFactory().get("/v1/runs")

    response = response_to(request, errors.InvalidError(Code.BAD_INPUT, "No.", field=None))

    assert json.loads(response.content) == {"error": {"code": "bad-input", "message": "No.", "requestId": ""}}


# ---- failures ----


@pytest.mark.usefixtures("probes")
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_failure_tells_nothing_and_is_logged_with_the_requests_id(
    method: str, api_client: WireClient, refusal: Refusal, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR, logger="kindgi_site.api.errors"):
        response = api_client.request(method, "/v1/probe/fail", x_request_id="find-me")

    assert response.status_code == 500
    assert response.json() == refusal(response, "internal-server-error")
    assert SECRET not in response.content.decode()
    assert not response.has_header("Retry-After")
    logged = [record for record in caplog.records if "find-me" in record.getMessage()]
    assert [str(record.exc_info[1]) for record in logged if record.exc_info] == [SECRET]


@pytest.mark.usefixtures("probes")
def test_a_failure_of_head_is_the_failure_of_get(api_client: WireClient) -> None:
    response = api_client.head("/v1/probe/fail")

    assert (response.status_code, response.content) == (500, b"")


@pytest.mark.usefixtures("probes", "db")
@pytest.mark.parametrize(
    ("what", "status", "code"),
    [
        ("denied", 403, "permission-denied"),
        ("suspicious", 400, "bad-input"),
        ("failing", 500, "internal-server-error"),
    ],
)
class TestDjangosOwnRefusals:
    """What is raised where no V1View is."""

    @pytest.mark.parametrize(
        ("path", "headers"),
        [("/v1/plain/", {}), ("/v1/plain/", {"accept": "text/html"}), ("/plain/", {"accept": "application/json"})],
    )
    def test_are_the_envelope_for_programs(
        self, path: str, headers: dict[str, str], what: str, status: int, code: str, refusal: Refusal
    ) -> None:
        response = WireClient(None, raises=False).get(path + what, **headers)

        assert response.status_code == status
        assert response.json() == refusal(response, code)
        assert SECRET not in response.content.decode()

    @pytest.mark.parametrize("accept", ["", "text/html", "text/html,application/json", "*/*"])
    def test_are_a_page_for_people(self, accept: str, what: str, status: int, code: str) -> None:
        response = WireClient(None, raises=False).get(f"/plain/{what}", accept=accept)

        assert response.status_code == status
        assert response["Content-Type"].startswith("text/html")
        assert response["X-Request-Id"]
        assert SECRET not in response.content.decode()


@pytest.mark.django_db
def test_a_host_that_is_not_ours_is_refused_in_the_envelope(refusal: Refusal) -> None:
    response = WireClient(None).get("/v1/runs", host="evil.example")

    assert response.status_code == 400
    assert response.json() == refusal(response, "bad-input")
    assert response["Cache-Control"] == "no-store"


@pytest.mark.django_db
def test_a_form_from_elsewhere_is_refused_as_a_page_or_in_the_envelope(refusal: Refusal) -> None:
    browser = Client(enforce_csrf_checks=True)

    page = browser.post("/login/", {"username": "ana"})
    told = browser.post("/login/", {"username": "ana"}, headers={"accept": "application/json"})

    assert (page.status_code, told.status_code) == (403, 403)
    assert page["Content-Type"].startswith("text/html")
    assert told.json() == refusal(told, "permission-denied")


def test_no_csrf_token_is_asked_of_programs(api_key: str, run_path: str, run_body: dict[str, Any]) -> None:
    program = Client(enforce_csrf_checks=True)
    headers = {"authorization": f"Bearer {api_key}"}

    answers = [
        program.put(run_path, run_body, content_type="application/json", headers=headers),
        program.post("/v1/nowhere", headers=headers),
        program.post("/v1/nowhere/", headers=headers),
        program.post("/v1/openapi.json", headers=headers),
        program.post("/health", headers=headers),
    ]

    assert [answer.status_code for answer in answers] == [201, 404, 404, 404, 404]


@pytest.mark.django_db
def test_an_unknown_address_outside_v1_is_a_page_or_the_envelope(refusal: Refusal) -> None:
    for path in ("/nowhere", "/v2/runs", "/v1x", "/runs/none/"):
        page = WireClient(None).get(path)
        told = WireClient(None).get(path, accept="application/json")

        assert (page.status_code, told.status_code) == (404, 404)
        assert page["Content-Type"].startswith("text/html")
        assert told.json() == refusal(told, "route-not-found")


def test_more_query_parameters_than_are_read_are_bad_input(api_client: WireClient, refusal: Refusal) -> None:
    response = api_client.get("/v1/runs?" + "&".join(["a=1"] * 5001))

    assert response.status_code == 400
    assert response.json() == refusal(response, "bad-input")


# ---- a busy database ----


@pytest.fixture
def timeouts(transactional_db: None) -> Iterator[None]:
    """This connection waits for a lock, or works on a statement, a tenth of a second and no longer."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA busy_timeout = 100")
        else:
            cursor.execute("SET lock_timeout = '100ms'; SET statement_timeout = '200ms'")
    try:
        yield
    finally:
        if connection.vendor == "postgresql":  # a pool keeps the connection as it is
            with connection.cursor() as cursor:
                cursor.execute("RESET lock_timeout; RESET statement_timeout")
        connection.close()


@pytest.fixture
def locked(transactional_db: None, project: Project, timeouts: None) -> Iterator[None]:
    """Another connection keeps everybody from the runs."""
    other = locking_connection()
    try:
        yield
    finally:
        other.close()
        if connection.vendor == "sqlite":
            with connection.cursor() as cursor:
                cursor.execute("PRAGMA journal_mode = WAL")


def locking_connection() -> Any:
    options = connection.get_connection_params()
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:  # beside a write-ahead log, reading never waits
            cursor.execute("PRAGMA journal_mode = DELETE")
        other = sqlite3.connect(options["database"], isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        return other
    known = {name: options[name] for name in ("dbname", "user", "password", "host", "port") if name in options}
    postgres = psycopg.connect(**known)
    postgres.execute(f"LOCK TABLE {Run._meta.db_table} IN ACCESS EXCLUSIVE MODE")
    return postgres


@pytest.fixture
def known_client(api_client: WireClient, project: Project) -> WireClient:
    """A client who was here a moment ago."""
    assert api_client.get("/v1/runs").status_code == 200
    return api_client


def test_reading_a_locked_database_is_to_be_tried_again(
    known_client: WireClient, locked: None, refusal: Refusal
) -> None:
    response, head = known_client.get("/v1/runs"), known_client.head("/v1/runs")

    assert (response.status_code, head.status_code) == (503, 503)
    assert response.json() == refusal(response, "database-busy")
    assert response["Retry-After"] == head["Retry-After"] == "5"
    assert response["Cache-Control"] == "no-store"


def test_writing_to_a_locked_database_is_a_failure(
    run_body: dict[str, Any], known_client: WireClient, locked: None, refusal: Refusal
) -> None:
    response = known_client.put(f"/v1/runs/{uuid4()}", run_body)

    assert response.status_code == 500
    assert response.json() == refusal(response, "internal-server-error")
    assert not response.has_header("Retry-After")


@pytest.mark.postgres
@pytest.mark.usefixtures("probes", "timeouts")
def test_a_statement_that_takes_too_long_is_busy_for_readers_only(api_client: WireClient, refusal: Refusal) -> None:
    read, written = api_client.get("/v1/probe/wait"), api_client.put("/v1/probe/wait")

    assert (read.status_code, written.status_code) == (503, 500)
    assert read.json() == refusal(read, "database-busy")
    assert written.json() == refusal(written, "internal-server-error")


@pytest.mark.postgres
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("problem", "is_busy"),
    [
        (PoolTimeout("no connection in 10 s"), True),
        (TooManyRequests("too many wait"), True),
        (psycopg.errors.LockNotAvailable("lock"), True),
        (psycopg.errors.QueryCanceled("statement"), True),
        (psycopg.errors.DeadlockDetected("deadlock"), False),
        (psycopg.errors.UndefinedTable("gone"), False),
        (psycopg.OperationalError("connection refused"), False),
    ],
)
def test_only_waiting_too_long_is_busy(problem: Exception, is_busy: bool) -> None:
    with pytest.raises(Exception) as caught, connection.wrap_database_errors:  # noqa: PT011 - any, as Django makes it
        raise problem

    assert is_database_busy(caught.value) is is_busy


def test_a_missing_table_is_a_failure_for_readers_too(
    transactional_db: None, api_client: WireClient, project: Project
) -> None:
    table = Run._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} RENAME TO {table}_away")
    try:
        assert api_client.get("/v1/runs").status_code == 500
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"ALTER TABLE {table}_away RENAME TO {table}")


def test_another_operational_error_is_not_busy() -> None:
    assert not is_database_busy(OperationalError("no such table: runs"))
