"""Contract, section 6: one key's work is done once, and a retry gets the same answer."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import OperationalError, connection

from corrections.models import Correction, Run
from kindgi_site import clock
from kindgi_site.api import idempotency
from kindgi_site.callers import Role
from kindgi_site.clock import wire_time
from kindgi_site.workspaces.models import IdempotencyRecord, Person, Project, ProjectRole, Workspace
from kindgi_site.workspaces.services import idempotency as services
from kindgi_site.workspaces.services.keys import store_key
from tests.api.probes import SECRET
from tests.at_once import at_once
from tests.factories import ProjectFactory
from tests.wire import WireClient

Refusal = Callable[..., dict[str, Any]]
WORK = "/v1/probe/work"

pytestmark = pytest.mark.usefixtures("probes", "project")


def made() -> int:
    """How often work was done and kept."""
    return Project.objects.filter(slug__startswith="made-").count()


def assert_replayed(first: Any, second: Any) -> None:
    assert (second.status_code, second.content) == (first.status_code, first.content)
    assert second.headers.get("Content-Type") == first.headers.get("Content-Type")
    assert (first.headers.get("X-Idempotent-Replay"), second["X-Idempotent-Replay"]) == (None, "true")
    assert second["X-Request-Id"] != first["X-Request-Id"]
    assert second["Cache-Control"] == "no-store"


# ---- replays ----


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_a_retry_gets_the_first_answer_and_does_nothing(method: str, api_client: WireClient) -> None:
    first, second, third = (api_client.request(method, WORK, {"a": 1}, idempotency_key="k") for _ in range(3))

    assert first.status_code == 201
    assert_replayed(first, second)
    assert third.content == first.content
    assert made() == 1


def test_an_answer_without_a_body_is_replayed_without_one(api_client: WireClient) -> None:
    first, second = (api_client.delete(WORK, idempotency_key="k") for _ in range(2))

    assert (first.status_code, second.status_code) == (204, 204)
    assert second.content == b""
    assert not second.has_header("Content-Type")
    assert second["X-Idempotent-Replay"] == "true"
    assert made() == 1


def test_a_correction_is_recorded_once(api_client: WireClient, run: Run) -> None:
    body = {"runId": str(run.run_id), "answer": "right"}

    first, second = (api_client.post("/v1/corrections", body, idempotency_key="k") for _ in range(2))

    assert first.status_code == 201
    assert_replayed(first, second)
    assert Correction.objects.count() == 1


def test_a_run_handed_in_twice_is_new_both_times(
    api_client: WireClient, run_path: str, run_body: dict[str, Any]
) -> None:
    first, second = (api_client.put(run_path, run_body, idempotency_key="k") for _ in range(2))
    without_key = api_client.put(run_path, run_body)

    assert_replayed(first, second)
    assert (first.status_code, without_key.status_code) == (201, 200)


def test_a_replay_is_served_to_who_has_lost_the_permission(
    api_client: WireClient, run_path: str, run_body: dict[str, Any]
) -> None:
    first = api_client.put(run_path, run_body, idempotency_key="k")
    ProjectRole.objects.update(role=Role.VIEWER)

    assert_replayed(first, api_client.put(run_path, run_body, idempotency_key="k"))
    assert api_client.put(run_path, run_body).status_code == 403


# ---- which requests ----


@pytest.mark.parametrize("headers", [{}, {"idempotency_key": ""}])
def test_without_a_key_every_request_is_worked_on(headers: dict[str, str], api_client: WireClient) -> None:
    answers = [api_client.post(WORK, **headers) for _ in range(2)]

    assert not any(answer.has_header("X-Idempotent-Replay") for answer in answers)
    assert made() == 2
    assert not IdempotencyRecord.objects.exists()


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
def test_reading_ignores_a_key(method: str, api_client: WireClient) -> None:
    for _ in range(2):
        response = api_client.request(method, "/v1/runs", idempotency_key="k" * 300)
        assert not response.has_header("X-Idempotent-Replay")
        assert response.status_code != 400
    assert not IdempotencyRecord.objects.exists()


def test_a_key_has_at_most_255_characters(api_client: WireClient, refusal: Refusal) -> None:
    longest, longer = (api_client.post(WORK, idempotency_key="k" * length) for length in (255, 256))

    assert (longest.status_code, longer.status_code) == (201, 400)
    assert longer.json() == refusal(longer, "bad-input")
    assert made() == 1
    assert IdempotencyRecord.objects.count() == 1


@pytest.mark.parametrize("body", [b'{"a":1, "b":2}', b'{"b":2,"a":1}', b'{"a":1,"b":2} ', b'{"a":1,"b":3}', b""])
def test_another_body_is_refused(body: bytes, api_client: WireClient, refusal: Refusal) -> None:
    first = api_client.post(WORK, b'{"a":1,"b":2}', idempotency_key="k")

    response = api_client.post(WORK, body, idempotency_key="k")

    assert response.status_code == 409
    assert response.json() == refusal(response, "idempotency-key-body-mismatch")
    assert_replayed(first, api_client.post(WORK, b'{"a":1,"b":2}', idempotency_key="k"))
    assert made() == 1


def test_a_key_is_its_callers_alone(
    api_client: WireClient, stranger_client: WireClient, foreign_client: WireClient
) -> None:
    answers = [client.post(WORK, idempotency_key="k") for client in (api_client, stranger_client, foreign_client)]

    assert [answer.status_code for answer in answers] == [201, 201, 201]
    assert made() == 3


def test_two_keys_of_one_person_are_one_caller(api_client: WireClient, reviewer: Person, workspace: Workspace) -> None:
    other_key = WireClient(store_key(workspace=workspace, principal=reviewer)[1])

    assert_replayed(*(client.post(WORK, idempotency_key="k") for client in (api_client, other_key)))
    assert made() == 1


@pytest.mark.parametrize(
    ("method", "path", "key"), [("PUT", WORK, "k"), ("POST", "/v1/probe/elsewhere", "k"), ("POST", WORK, "K")]
)
def test_another_method_path_or_key_is_unrelated(method: str, path: str, key: str, api_client: WireClient) -> None:
    api_client.post(WORK, {"a": 1}, idempotency_key="k")

    response = api_client.request(method, path, {"a": 2}, idempotency_key=key)

    assert response.status_code == 201
    assert made() == 2


def test_the_query_is_no_part_of_the_path(api_client: WireClient) -> None:
    assert_replayed(*(api_client.post(WORK + query, idempotency_key="k") for query in ("?a=1", "?a=2")))


# ---- what is not stored ----


def test_a_refusal_is_not_stored(api_client: WireClient, run_path: str, run_body: dict[str, Any]) -> None:
    body = run_body | {"projectId": str(uuid4())}
    refused = api_client.put(run_path, body, idempotency_key="k")
    assert not IdempotencyRecord.objects.exists()
    ProjectFactory(workspace=Workspace.objects.get(), id=body["projectId"])

    retried = api_client.put(run_path, body, idempotency_key="k")

    assert (refused.status_code, retried.status_code) == (404, 403)
    assert not retried.has_header("X-Idempotent-Replay")
    assert not IdempotencyRecord.objects.exists()


def test_a_refusal_with_a_key_leaves_the_key_for_another_body(
    api_client: WireClient, run_path: str, run_body: dict[str, Any]
) -> None:
    refused = api_client.put(run_path, run_body | {"status": "asleep"}, idempotency_key="k")

    retried = api_client.put(run_path, run_body, idempotency_key="k")

    assert (refused.status_code, retried.status_code) == (400, 201)


def test_work_that_answers_a_refusal_is_undone(api_client: WireClient) -> None:
    answers = [api_client.post("/v1/probe/refuse", idempotency_key="k") for _ in range(2)]

    assert [answer.status_code for answer in answers] == [418, 418]
    assert made() == 0
    assert not IdempotencyRecord.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_work_that_fails_is_undone_and_may_be_tried_again(api_client: WireClient, refusal: Refusal) -> None:
    failed = api_client.post("/v1/probe/fail", idempotency_key="k")

    assert failed.status_code == 500
    assert failed.json() == refusal(failed, "internal-server-error")
    assert made() == 0
    assert not IdempotencyRecord.objects.exists()

    ProjectFactory(workspace=Workspace.objects.get(), slug="healed")
    assert api_client.post("/v1/probe/fail", idempotency_key="k").status_code == 200
    assert made() == 1


# ---- what a route prepares ----


@pytest.mark.django_db(transaction=True)
def test_what_a_route_prepares_is_under_the_hold_but_in_no_transaction(api_client: WireClient) -> None:
    keyed = api_client.post("/v1/probe/prepared", idempotency_key="k")
    plain = api_client.post("/v1/probe/prepared")

    assert keyed.json() == {"prepared": False, "worked": True, "held": [True]}
    assert plain.json()["prepared"] is False
    assert_replayed(keyed, api_client.post("/v1/probe/prepared", idempotency_key="k"))
    assert made() == 2


def test_only_its_own_method_is_prepared_for(api_client: WireClient, refusal: Refusal) -> None:
    response = api_client.put("/v1/probe/prepared", idempotency_key="k")

    assert (response.status_code, response.json()) == (404, refusal(response, "route-not-found"))


def test_a_preparation_that_fails_releases_the_key(api_client: WireClient, refusal: Refusal) -> None:
    failed = api_client.post("/v1/probe/prepared", idempotency_key="k", x_prepare="fail")

    assert (failed.status_code, failed.json()) == (500, refusal(failed, "internal-server-error"))
    assert made() == 0
    assert not IdempotencyRecord.objects.exists()


def test_a_hold_that_a_retry_took_over_is_not_kept_up(api_client: WireClient, refusal: Refusal) -> None:
    lost = api_client.post("/v1/probe/prepared", idempotency_key="k", x_prepare="lose")

    assert (lost.status_code, lost.json()) == (409, refusal(lost, "idempotency-key-in-flight"))
    assert made() == 0
    assert IdempotencyRecord.objects.get().status is None


# ---- time ----


def test_an_answer_is_kept_for_a_day(api_client: WireClient) -> None:
    before = clock.now()
    first = api_client.post(WORK, {"a": 1}, idempotency_key="k")
    record = IdempotencyRecord.objects.get()
    assert record.expires_at - record.created_at == timedelta(hours=24)
    assert before <= record.created_at <= clock.now()

    lapse()
    second = api_client.post(WORK, {"a": 2}, idempotency_key="k")

    assert (first.status_code, second.status_code) == (201, 201)
    assert first.content != second.content
    assert made() == 2
    assert_replayed(second, api_client.post(WORK, {"a": 2}, idempotency_key="k"))


def test_a_hold_is_for_thirty_seconds(api_client: WireClient) -> None:
    response = api_client.post("/v1/probe/hold", idempotency_key="k")

    assert response.json() == {"status": None, "held": 30.0}


def lapse() -> None:
    IdempotencyRecord.objects.update(expires_at=clock.now())


@pytest.fixture
def at_work(probes: None, api_client: WireClient) -> None:
    """A request with key `k` and body `{"a": 1}` is being worked on: there is its hold, and no answer."""
    api_client.post(WORK, {"a": 1}, idempotency_key="k")
    Project.objects.filter(slug__startswith="made-").delete()
    IdempotencyRecord.objects.update(
        status=None, content_type="", body=None, expires_at=clock.now() + timedelta(seconds=30)
    )


@pytest.mark.usefixtures("at_work")
def test_a_request_at_work_is_waited_for(api_client: WireClient, refusal: Refusal) -> None:
    same = api_client.post(WORK, {"a": 1}, idempotency_key="k")
    other = api_client.post(WORK, {"a": 2}, idempotency_key="k")

    assert (same.status_code, other.status_code) == (409, 409)
    assert same.json() == refusal(same, "idempotency-key-in-flight")
    assert same["Retry-After"] == "5"
    assert other.json() == refusal(other, "idempotency-key-body-mismatch")
    assert not other.has_header("Retry-After")
    assert made() == 0
    assert IdempotencyRecord.objects.get().status is None


@pytest.mark.usefixtures("at_work")
@pytest.mark.parametrize("body", [{"a": 1}, {"a": 2}])
def test_the_hold_of_a_request_that_crashed_lapses(body: dict[str, int], api_client: WireClient) -> None:
    lapse()

    first, second = (api_client.post(WORK, body, idempotency_key="k") for _ in range(2))

    assert first.status_code == 201
    assert_replayed(first, second)
    assert made() == 1


def answered(number: int, **expired: float) -> None:
    """So many stored answers to keys of their own, expired so long ago."""
    workspace = Workspace.objects.get()
    at = clock.now() - timedelta(**expired)
    IdempotencyRecord.objects.bulk_create(
        IdempotencyRecord(
            scope=uuid4().hex,
            workspace=workspace,
            fingerprint="f",
            holder=uuid4(),
            status=201,
            body=b"{}",
            expires_at=at + timedelta(milliseconds=place),
        )
        for place in range(number)
    )


def test_what_expired_an_hour_ago_is_forgotten_once_in_a_quarter_of_an_hour(
    api_client: WireClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idempotency, "_forgot_at", clock.now() - timedelta(minutes=16))
    answered(2, hours=2)
    answered(1, minutes=59)
    answered(1, hours=-1)
    kept = list(IdempotencyRecord.objects.filter(expires_at__gt=clock.now() - timedelta(hours=1)).order_by("scope"))

    assert api_client.post(WORK).status_code == 201
    assert IdempotencyRecord.objects.count() == 4
    api_client.post(WORK, idempotency_key="k")
    assert list(IdempotencyRecord.objects.filter(fingerprint="f").order_by("scope")) == kept

    answered(1, hours=2)
    api_client.post(WORK, idempotency_key="other")
    assert IdempotencyRecord.objects.filter(expires_at__lt=clock.now() - timedelta(hours=2)).count() == 1


def test_a_request_forgets_a_part_of_what_there_is_and_the_next_one_goes_on(
    api_client: WireClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idempotency, "_forgot_at", clock.now() - timedelta(minutes=16))
    answered(services.FORGOTTEN_AT_ONCE + 3, hours=2)
    newest = list(IdempotencyRecord.objects.order_by("-expires_at")[:3])

    api_client.post(WORK, idempotency_key="1")
    assert list(IdempotencyRecord.objects.filter(fingerprint="f").order_by("-expires_at")) == newest
    api_client.post(WORK, idempotency_key="2")
    assert not IdempotencyRecord.objects.filter(fingerprint="f").exists()


def test_a_request_whose_work_is_done_does_not_fail_for_what_cannot_be_forgotten(
    api_client: WireClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(idempotency, "_forgot_at", clock.now() - timedelta(minutes=16))
    answered(1, hours=2)

    with connection.execute_wrapper(no_deleting):
        first, second = (api_client.post(WORK, idempotency_key="k") for _ in range(2))

    assert_replayed(first, second)
    assert made() == 1
    assert IdempotencyRecord.objects.count() == 2
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def no_deleting(execute: Any, sql: str, *rest: Any) -> Any:
    if sql.startswith("DELETE"):
        raise OperationalError("busy")
    return execute(sql, *rest)


# ---- secrets ----


def test_a_secret_answer_is_not_stored_and_not_shown_again(api_client: WireClient, refusal: Refusal) -> None:
    first, second = (api_client.post("/v1/probe/secret", idempotency_key="k") for _ in range(2))

    record = IdempotencyRecord.objects.get()
    assert (first.status_code, first.json()["key"]) == (201, SECRET)
    assert second.status_code == 409
    details = {"status": 201, "at": wire_time(record.created_at)}
    assert second.json() == refusal(second, "idempotency-key-replay-withheld", details)
    assert (record.body, record.status, record.withheld) == (None, 201, True)
    assert made() == 1


def test_another_body_for_a_secret_answer_is_told_of_the_body(api_client: WireClient, refusal: Refusal) -> None:
    api_client.post("/v1/probe/secret", idempotency_key="k")

    response = api_client.post("/v1/probe/secret", {"a": 1}, idempotency_key="k")

    assert response.json() == refusal(response, "idempotency-key-body-mismatch")


# ---- the store ----


@pytest.fixture
def store_down(transactional_db: None) -> Iterator[None]:
    table = IdempotencyRecord._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} RENAME TO {table}_away")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"ALTER TABLE {table}_away RENAME TO {table}")


@pytest.mark.usefixtures("store_down")
def test_nothing_runs_when_the_store_is_down(api_client: WireClient, refusal: Refusal) -> None:
    response = api_client.post(WORK, idempotency_key="k")

    assert response.status_code == 503
    assert response.json() == refusal(response, "idempotency-store-unavailable")
    assert response["Retry-After"] == "5"
    assert made() == 0


@pytest.mark.usefixtures("store_down")
def test_requests_without_a_key_need_no_store(api_client: WireClient) -> None:
    assert api_client.post(WORK).status_code == 201
    assert api_client.get("/v1/runs", idempotency_key="k").status_code == 200
    assert made() == 1


# ---- at the same moment ----


@pytest.mark.django_db(transaction=True)
def test_of_requests_at_the_same_moment_one_does_the_work(api_key: str) -> None:
    def send() -> Any:
        return WireClient(api_key).post(WORK, {"a": 1}, idempotency_key="k")

    answers = at_once([send] * 6)

    done = [answer for answer in answers if answer.status_code == 201]
    waiting = [answer.json()["error"]["code"] for answer in answers if answer.status_code == 409]
    assert len(done) + len(waiting) == 6
    assert set(waiting) <= {"idempotency-key-in-flight"}
    assert len({answer.content for answer in done}) == 1
    assert [answer.has_header("X-Idempotent-Replay") for answer in done].count(False) == 1
    assert made() == 1
    assert send().content == done[0].content


@pytest.mark.django_db(transaction=True)
def test_of_other_bodies_at_the_same_moment_one_is_accepted(api_key: str) -> None:
    bodies = [{"a": number} for number in range(4)]

    answers = at_once([
        lambda body=body: WireClient(api_key).post(WORK, body, idempotency_key="k") for body in bodies
    ])  # fmt: skip

    assert sorted(answer.status_code for answer in answers) == [201, 409, 409, 409]
    codes = {answer.json()["error"]["code"] for answer in answers if answer.status_code == 409}
    assert codes == {"idempotency-key-body-mismatch"}
    assert made() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.postgres
def test_work_whose_hold_went_to_a_retry_is_undone(api_client: WireClient, refusal: Refusal) -> None:
    """On SQLite the retry waits for the work, as there is one writer at a time."""
    response = api_client.post("/v1/probe/overtaken", idempotency_key="k", x_first="yes")

    assert response.status_code == 409
    assert response.json() == refusal(response, "idempotency-key-in-flight")
    assert made() == 1
    kept = Project.objects.get(slug__startswith="made-").slug
    assert api_client.post("/v1/probe/overtaken", idempotency_key="k").json() == {"made": kept}


@pytest.mark.django_db(transaction=True)
@pytest.mark.postgres
def test_a_connection_that_breaks_before_the_commit_leaves_nothing(api_client: WireClient) -> None:
    broken = api_client.post("/v1/probe/cut-off", idempotency_key="k", x_first="yes")
    connection.close()
    assert broken.status_code == 500
    assert made() == 0

    lapse()
    retried = api_client.post("/v1/probe/cut-off", idempotency_key="k")

    assert retried.status_code == 201
    assert made() == 1
