"""Contract, section 5: pages by key and the sealed cursors between them."""

import base64
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest
from pytest_django import Settings

from corrections.models import Run
from kindgi_site.api.cursors import CursorPlace, limit_of, open_cursor, seal
from kindgi_site.callers import Caller
from kindgi_site.errors import InvalidError
from kindgi_site.workspaces.models import Person, Project, Workspace
from kindgi_site.workspaces.services.keys import store_key
from tests.factories import RunFactory, service_with
from tests.wire import WireClient

Refusal = Callable[..., dict[str, Any]]
DAY = 24 * 60 * 60
START = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def runs(project: Project) -> list[Run]:
    """Seven runs, newest first; the third and fourth were made at the same moment."""
    moments = [6, 5, 4, 4, 2, 1, 0]
    made = [RunFactory(project=project, created_at=START + timedelta(minutes=minute)) for minute in moments]
    return sorted(made, key=lambda run: (run.created_at, run.id), reverse=True)


def ids(rows: list[Any]) -> list[str]:
    return [row["id"] if isinstance(row, dict) else str(row.run_id) for row in rows]


def page(client: WireClient, query: str) -> dict[str, Any]:
    response = client.get(f"/v1/runs?{query}")
    assert response.status_code == 200
    return dict(response.json())


def assert_refused(response: Any, refusal: Refusal) -> None:
    assert response.status_code == 400
    assert response.json() == refusal(response, "bad-input", {"field": "cursor"})
    assert "without a cursor" in response.json()["error"]["message"]


# ---- walking ----


@pytest.mark.parametrize("limit", [1, 2, 3, 6, 7, 8])
def test_pages_together_are_the_list(limit: int, runs: list[Run], api_client: WireClient) -> None:
    seen, query = [], f"limit={limit}"
    while True:
        shown = page(api_client, query)
        assert set(shown) == {"data", "hasMore"} | ({"nextCursor"} if shown["hasMore"] else set())
        assert len(shown["data"]) == min(limit, 7 - len(seen))
        seen += ids(shown["data"])
        if not shown["hasMore"]:
            break
        query = f"limit={limit}&cursor={shown['nextCursor']}"

    assert seen == ids(runs)


def test_an_empty_cursor_is_none(runs: list[Run], api_client: WireClient) -> None:
    assert ids(page(api_client, "cursor=&limit=3")["data"]) == ids(runs[:3])


def test_rows_inserted_at_the_head_do_not_shift_pages(
    runs: list[Run], project: Project, api_client: WireClient
) -> None:
    first = page(api_client, "limit=3")
    RunFactory.create_batch(4, project=project)

    second = page(api_client, f"limit=3&cursor={first['nextCursor']}")

    assert ids(second["data"]) == ids(runs[3:6])


def test_the_row_a_cursor_points_after_may_go_or_change(runs: list[Run], api_client: WireClient) -> None:
    after_second, after_third = (page(api_client, f"limit={limit}")["nextCursor"] for limit in (2, 3))
    runs[1].delete()
    Run.objects.filter(id=runs[2].id).update(created_at=START + timedelta(days=1))

    assert ids(page(api_client, f"limit=2&cursor={after_second}")["data"]) == ids(runs[3:5])
    assert ids(page(api_client, f"limit=2&cursor={after_third}")["data"]) == ids(runs[3:5])


def test_a_changed_limit_is_the_same_list(runs: list[Run], api_client: WireClient) -> None:
    cursor = page(api_client, "limit=2&status=completed")["nextCursor"]

    shown = page(api_client, f"cursor={cursor}&status=completed&limit=4")

    assert ids(shown["data"]) == ids(runs[2:6])


def test_filters_in_another_order_are_the_same_list(runs: list[Run], api_client: WireClient) -> None:
    cursor = page(api_client, "agentId=support&status=completed&limit=2")["nextCursor"]

    shown = page(api_client, f"limit=2&status=%63ompleted&cursor={cursor}&agentId=support")

    assert ids(shown["data"]) == ids(runs[2:4])


@pytest.mark.parametrize(
    ("sent", "limit"),
    [
        (None, 25),
        ("", 25),
        ("x", 25),
        ("true", 25),
        ("0", 25),
        ("-1", 25),
        ("-50", 25),
        ("1", 1),
        ("26", 26),
        ("99", 99),
        ("100", 100),
        ("101", 100),
        ("9" * 5000, 100),
        ("10abc", 10),
        ("10.9", 10),
        ("1e2", 1),
        (" 10", 10),
        ("0" * 20 + "2", 2),
        ("\u0661\u0660", 25),  # ten in Arabic digits
    ],
)
def test_the_limit_is_clamped_and_never_an_error(sent: str | None, limit: int) -> None:
    assert limit_of(sent) == limit


@pytest.mark.parametrize(("query", "rows"), [("", 25), ("limit=nonsense", 25), ("limit=7x", 7), ("limit=101", 100)])
def test_a_page_has_as_many_rows_as_the_limit(query: str, rows: int, project: Project, api_client: WireClient) -> None:
    RunFactory.create_batch(101, project=project)

    shown = page(api_client, query)

    assert len(shown["data"]) == rows
    assert shown["hasMore"]


# ---- what a cursor is bound to ----


@pytest.mark.parametrize(
    "query",
    ["", "status=failed", "status=completed&topLevel=true", "status=completed&status=completed", "status=COMPLETED"],
)
def test_other_filters_refuse_it(query: str, runs: list[Run], api_client: WireClient, refusal: Refusal) -> None:
    cursor = page(api_client, "limit=2&status=completed")["nextCursor"]

    assert_refused(api_client.get(f"/v1/runs?{query}&limit=2&cursor={cursor}"), refusal)


def test_another_path_refuses_it(runs: list[Run], api_client: WireClient, refusal: Refusal) -> None:
    cursor = page(api_client, "limit=2")["nextCursor"]

    assert_refused(api_client.get(f"/v1/corrections/x?cursor={cursor}"), refusal)


def test_it_is_opened_for_head_too(runs: list[Run], api_client: WireClient) -> None:
    cursor = page(api_client, "limit=2")["nextCursor"]

    assert api_client.head(f"/v1/runs?cursor={cursor}").status_code == 200
    assert api_client.head(f"/v1/runs?cursor={cursor[:-1]}").status_code == 400


def test_another_caller_is_refused(
    runs: list[Run], api_client: WireClient, stranger_client: WireClient, foreign_client: WireClient, refusal: Refusal
) -> None:
    cursor = page(api_client, "limit=2")["nextCursor"]

    assert_refused(stranger_client.get(f"/v1/runs?limit=2&cursor={cursor}"), refusal)
    assert_refused(foreign_client.get(f"/v1/runs?limit=2&cursor={cursor}"), refusal)


def test_another_key_of_the_same_person_is_the_same_caller(
    runs: list[Run], api_client: WireClient, reviewer: Person, workspace: Workspace
) -> None:
    cursor = page(api_client, "limit=2")["nextCursor"]
    second = WireClient(store_key(workspace=workspace, principal=reviewer)[1])

    assert ids(page(second, f"limit=2&cursor={cursor}")["data"]) == ids(runs[2:4])


def test_two_keys_of_one_service_are_the_same_caller(runs: list[Run], project: Project) -> None:
    service = service_with(project)
    one, two = (WireClient(store_key(workspace=project.workspace, principal=service)[1]) for _ in range(2))
    cursor = page(one, "limit=2")["nextCursor"]

    assert ids(page(two, f"limit=2&cursor={cursor}")["data"]) == ids(runs[2:4])


def test_the_same_person_in_another_workspace_is_refused(caller: Caller) -> None:
    place = CursorPlace(caller, "/v1/runs", "")
    elsewhere = CursorPlace(Caller(workspace_id=caller.id, kind=caller.kind, id=caller.id), "/v1/runs", "")
    cursor = seal(["x"], place)

    assert open_cursor(cursor, place) == ["x"]
    with pytest.raises(InvalidError, match="another list"):
        open_cursor(cursor, elsewhere)


# ---- tampering ----


def test_no_character_can_be_changed(caller: Caller) -> None:
    """One of every class in every part, the last one included: its low bits carry nothing, and still count."""
    place = CursorPlace(caller, "/v1/runs", "")
    cursor = seal(["2026-03-01T00:04:00+00:00", caller.id], place)
    changed = {
        cursor[:at] + other + cursor[at + 1 :]
        for at, character in enumerate(cursor)
        for other in "A-_9z. =\u00e9"
        if other != character
    }

    opened = {text for text in changed if opens(text, place)}

    assert opens(cursor, place)
    assert not opened


def opens(cursor: str, place: CursorPlace) -> bool:
    try:
        return bool(open_cursor(cursor, place))
    except InvalidError:
        return False


def test_no_second_spelling_of_the_last_character_is_taken(
    runs: list[Run], api_client: WireClient, refusal: Refusal
) -> None:
    cursor = page(api_client, "limit=2")["nextCursor"]
    sealed = cursor.rpartition(".")[2]
    same = [
        sealed[:-1] + last
        for last in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        if base64.urlsafe_b64decode(sealed[:-1] + last + "=" * (-len(sealed) % 4)) == raw(sealed)
    ]

    answers = {
        text: api_client.get(f"/v1/runs?limit=2&cursor={cursor.removesuffix(sealed)}{text}").status_code
        for text in same
    }

    assert answers == {text: 200 if text == sealed else 400 for text in same}


def raw(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


@pytest.mark.parametrize(
    "change",
    [
        lambda cursor: cursor[:-1],
        lambda cursor: cursor + "A",
        lambda cursor: cursor + "=",
        lambda cursor: cursor + ".",
        lambda cursor: " " + cursor,
        lambda cursor: cursor.upper(),
        lambda cursor: "k2" + cursor[2:],
        lambda cursor: ".".join(cursor.split(".")[:3]),
        lambda cursor: ".".join([*cursor.split(".")[:2], cursor.split(".")[3], cursor.split(".")[2]]),
        lambda cursor: ".".join([*cursor.split(".")[:3], ""]),
        lambda cursor: ".".join([*cursor.split(".")[:2], "", cursor.split(".")[3]]),
        lambda cursor: ".".join([*cursor.split(".")[:2], "AAAA", cursor.split(".")[3]]),
    ],
)
def test_no_part_can_be_changed(
    change: Callable[[str], str], runs: list[Run], api_client: WireClient, refusal: Refusal
) -> None:
    cursor = page(api_client, "limit=2")["nextCursor"]

    assert_refused(api_client.get(f"/v1/runs?limit=2&cursor={quote(change(cursor))}"), refusal)


@pytest.mark.parametrize(
    "sent", ["25", "abc", "2026-03-01T00:04:00+00:00", "k1", "k1...", "...", "%00", "%ff", "eyJhIjoxfQ=="]
)
def test_a_raw_position_is_refused(sent: str, api_client: WireClient, refusal: Refusal) -> None:
    assert_refused(api_client.get(f"/v1/runs?cursor={sent}"), refusal)


def test_nothing_of_the_position_can_be_read_in_it(runs: list[Run], api_client: WireClient) -> None:
    sealed = raw(page(api_client, "limit=2")["nextCursor"].rpartition(".")[2])

    assert b"2026" not in sealed
    assert str(runs[1].id).encode() not in sealed


# ---- time ----


@pytest.mark.parametrize(
    ("age", "is_valid"), [(0, True), (DAY - 1, True), (DAY, True), (DAY + 1, False), (-60, True), (-61, False)]
)
def test_a_cursor_is_good_for_a_day(age: int, is_valid: bool, caller: Caller) -> None:
    place, now = CursorPlace(caller, "/v1/runs", ""), 1_767_225_600.9
    cursor = seal(["x"], place, at=now - age)

    if is_valid:
        assert open_cursor(cursor, place, at=now) == ["x"]
    else:
        with pytest.raises(InvalidError, match="expired"):
            open_cursor(cursor, place, at=now)


@pytest.mark.parametrize("age", [DAY + 1, -65])
def test_an_old_cursor_is_refused_on_the_wire(
    age: int, runs: list[Run], caller: Caller, api_client: WireClient, refusal: Refusal
) -> None:
    position = [runs[1].created_at.isoformat(), str(runs[1].id)]
    place = CursorPlace(caller, "/v1/runs", "limit=2")

    good = api_client.get(f"/v1/runs?limit=2&cursor={seal(position, place, at=time.time() - DAY + 60)}")

    assert ids(good.json()["data"]) == ids(runs[2:4])
    assert_refused(api_client.get(f"/v1/runs?limit=2&cursor={seal(position, place, at=time.time() - age)}"), refusal)


# ---- keys ----


def test_the_first_key_seals_and_all_open(
    runs: list[Run], api_client: WireClient, settings: Settings, refusal: Refusal
) -> None:
    settings.CURSOR_KEYS = ["old"]
    by_old = page(api_client, "limit=2")["nextCursor"]
    settings.CURSOR_KEYS = ["new", "old"]
    by_new = page(api_client, "limit=2")["nextCursor"]

    assert ids(page(api_client, f"limit=2&cursor={by_old}")["data"]) == ids(runs[2:4])
    assert ids(page(api_client, f"limit=2&cursor={by_new}")["data"]) == ids(runs[2:4])

    settings.CURSOR_KEYS = ["new"]
    assert ids(page(api_client, f"limit=2&cursor={by_new}")["data"]) == ids(runs[2:4])
    assert_refused(api_client.get(f"/v1/runs?limit=2&cursor={by_old}"), refusal)


def test_a_key_that_is_not_held_is_told_apart(runs: list[Run], api_client: WireClient, settings: Settings) -> None:
    cursor = page(api_client, "limit=2")["nextCursor"]
    settings.CURSOR_KEYS = ["another"]

    response = api_client.get(f"/v1/runs?limit=2&cursor={cursor}")

    assert "key this server no longer holds" in response.json()["error"]["message"]
