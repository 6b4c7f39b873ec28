"""Contract 1.2: so many requests of a workspace in a minute."""

import logging
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection

from corrections.models import Run
from kindgi_site import clock
from kindgi_site.api import limits
from kindgi_site.workspaces.models import ApiKey, Project, RateWindow, Workspace
from tests.at_once import at_once
from tests.factories import ProjectFactory
from tests.wire import WireClient

Refusal = Callable[..., dict[str, Any]]


def limit(requests: int | None, workspace: Workspace) -> None:
    Workspace.objects.filter(id=workspace.id).update(requests_per_minute=requests)


def counted() -> int:
    return RateWindow.objects.get().requests


def opened(seconds_ago: float) -> None:
    RateWindow.objects.update(opened_at=clock.now() - timedelta(seconds=seconds_ago))


def statuses(client: WireClient, number: int) -> list[int]:
    return [client.get("/v1/runs").status_code for _ in range(number)]


def test_without_a_limit_nothing_is_counted(api_client: WireClient) -> None:
    assert statuses(api_client, 3) == [200] * 3
    assert not RateWindow.objects.exists()


def test_when_the_minute_is_full_requests_are_refused(
    api_client: WireClient, workspace: Workspace, refusal: Refusal
) -> None:
    limit(3, workspace)
    before = clock.now()
    assert statuses(api_client, 3) == [200] * 3
    assert before <= RateWindow.objects.get().opened_at <= clock.now()

    response = api_client.get("/v1/runs")

    assert response.status_code == 429
    assert response.json() == refusal(response, "rate-limit-exceeded", {"limit": "api-requests"})
    assert response["Retry-After"] in ("59", "60")
    assert counted() == 3


@pytest.mark.parametrize(
    ("seconds_ago", "retry_after"), [(9.5, "51"), (30.3, "30"), (58.5, "2"), (59.1, "1"), (59.8, "1")]
)
def test_retry_after_is_the_rest_of_the_minute_rounded_up(
    seconds_ago: float, retry_after: str, api_client: WireClient, workspace: Workspace
) -> None:
    limit(1, workspace)
    assert statuses(api_client, 1) == [200]
    opened(seconds_ago)

    response = api_client.get("/v1/runs")

    assert (response.status_code, response["Retry-After"]) == (429, retry_after)


def test_the_next_window_opens_at_the_first_request_after_it(api_client: WireClient, workspace: Workspace) -> None:
    limit(2, workspace)
    assert statuses(api_client, 3) == [200, 200, 429]
    opened(60)
    before = clock.now()

    assert statuses(api_client, 3) == [200, 200, 429]
    assert RateWindow.objects.get().opened_at >= before


def test_requests_do_not_move_the_window(api_client: WireClient, workspace: Workspace) -> None:
    limit(9, workspace)
    api_client.get("/v1/runs")
    opened(40)
    at = RateWindow.objects.get().opened_at

    assert statuses(api_client, 2) == [200, 200]
    assert (RateWindow.objects.get().opened_at, counted()) == (at, 3)


def test_a_limit_that_changes_holds_at_once(api_client: WireClient, workspace: Workspace) -> None:
    limit(1, workspace)
    assert statuses(api_client, 2) == [200, 429]
    limit(2, workspace)
    assert statuses(api_client, 2) == [200, 429]
    limit(1, workspace)
    assert statuses(api_client, 1) == [429]
    limit(None, workspace)
    assert statuses(api_client, 1) == [200]


def test_a_limit_of_nothing_lets_nothing_through(api_client: WireClient, workspace: Workspace) -> None:
    limit(0, workspace)

    response = api_client.get("/v1/runs")

    assert (response.status_code, response["Retry-After"]) == (429, "60")


def test_all_callers_of_a_workspace_share_it_and_others_do_not(
    api_client: WireClient, stranger_client: WireClient, foreign_client: WireClient, workspace: Workspace
) -> None:
    limit(2, workspace)

    assert statuses(api_client, 1) + statuses(stranger_client, 2) + statuses(api_client, 1) == [200, 200, 429, 429]
    assert statuses(foreign_client, 3) == [200] * 3


def test_what_the_route_refuses_is_counted(api_client: WireClient, workspace: Workspace) -> None:
    limit(100, workspace)
    requests = [
        ("GET", "/v1/runs/not-a-uuid", 400),
        ("GET", "/v1/nowhere", 404),
        ("HEAD", "/v1/runs", 200),
        ("POST", "/v1/corrections", 400),
        ("OPTIONS", "/v1/runs", 404),
    ]

    for number, (method, path, status) in enumerate(requests, start=1):
        assert api_client.request(method, path).status_code == status
        assert counted() == number


def test_a_replay_is_counted(
    api_client: WireClient, workspace: Workspace, run_path: str, run_body: dict[str, Any]
) -> None:
    limit(2, workspace)

    answers = [api_client.put(run_path, run_body, idempotency_key="k") for _ in range(3)]

    assert [answer.status_code for answer in answers] == [201, 201, 429]
    assert answers[1].has_header("X-Idempotent-Replay")


def test_what_an_earlier_stage_refuses_is_not_counted(
    api_client: WireClient, limited_client: WireClient, workspace: Workspace
) -> None:
    limit(100, workspace)
    other = ProjectFactory(workspace=workspace)

    assert WireClient("kgi_unknown").get("/v1/runs").status_code == 401
    assert api_client.post("/v1/corrections", b"[" * 129 + b"]" * 129).status_code == 400
    assert limited_client.get(f"/v1/runs?projectId={other.id}").status_code == 403
    assert api_client.get("/v1/runs?cursor=junk").status_code == 400
    assert api_client.get("/v1/runs/").status_code == 301
    assert api_client.get("/v1/openapi.json").status_code == 200
    assert api_client.get("/health").status_code == 200
    ApiKey.objects.update(revoked_at=clock.now())
    assert api_client.get("/v1/runs").status_code == 401

    assert not RateWindow.objects.exists()


@pytest.fixture
def counter_down(transactional_db: None) -> Iterator[None]:
    table = RateWindow._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} RENAME TO {table}_away")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"ALTER TABLE {table}_away RENAME TO {table}")


@pytest.mark.usefixtures("counter_down")
def test_when_counting_fails_requests_pass_and_it_is_logged_once_a_minute(
    api_client: WireClient,
    workspace: Workspace,
    run_path: str,
    run_body: dict[str, Any],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limit(1, workspace)
    monkeypatch.setattr(limits, "_last_logged", clock.now() - timedelta(minutes=1))

    with caplog.at_level(logging.WARNING, logger=limits.__name__):
        assert statuses(api_client, 3) == [200] * 3
        assert api_client.put(run_path, run_body).status_code == 201
        assert [record.levelname for record in caplog.records] == ["WARNING"]

        monkeypatch.setattr(limits, "_last_logged", clock.now() - timedelta(minutes=1))
        assert statuses(api_client, 2) == [200] * 2
        assert len(caplog.records) == 2
    assert Run.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_requests_at_the_same_moment_are_all_counted(api_key: str, project: Project) -> None:
    limit(5, project.workspace)

    answers = at_once([lambda: WireClient(api_key).get(f"/v1/runs/{uuid4()}").status_code] * 8)

    assert sorted(answers) == [404] * 5 + [429] * 3
    assert counted() == 5
