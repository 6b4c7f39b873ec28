"""`GET /v1/runs`: order, pages, every filter with a hit and a miss, and the order of its checks (contract 5, 11.3)."""

from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode
from uuid import uuid4

import pytest

from corrections.models import Run
from kindgi_site.clock import wire_time
from kindgi_site.workspaces.services.keys import store_key
from tests.api.expect import assert_refused
from tests.factories import OUTPUT, FlowRunFactory, ProjectFactory, RunFactory, person_with
from tests.wire import WireClient

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
PARENT = "5f0f1f8a-52a5-4a3c-9d0c-0c7e9a3d1b11"


def listed(client, *pairs, **query):
    """The ids of a page, and the page."""
    response = client.get("/v1/runs?" + urlencode([*pairs, *query.items()], doseq=True))
    assert response.status_code == 200, response.content
    page = response.json()
    return [run["id"] for run in page["data"]], page


def ids(*runs):
    return [str(run.run_id) for run in runs]


def test_a_page_is_whole(api_client, project):
    run = RunFactory(project=project)

    assert api_client.get("/v1/runs").json() == {
        "data": [
            {
                "id": str(run.run_id),
                "tenantId": str(run.workspace_id),
                "projectId": str(project.id),
                "flowId": "agent.turn",
                "flowVersion": "1.2.0",
                "status": "completed",
                "dryRun": False,
                "createdAt": wire_time(run.created_at),
                "updatedAt": wire_time(run.updated_at),
                "completedAt": wire_time(run.completed_at),
                "agent": {"id": "support", "version": "1.2.0", "conversationId": str(run.run_id)},
            }
        ],
        "hasMore": False,
    }


def test_output_is_there_on_request_only(api_client, project):
    RunFactory(project=project)

    plain, told = api_client.get("/v1/runs").json(), api_client.get("/v1/runs?include=output").json()

    assert told == {"data": [plain["data"][0] | {"output": OUTPUT}], "hasMore": False}


@pytest.mark.parametrize("include", ["input", "output,calls", "everything"])
def test_a_list_includes_nothing_but_output(api_client, project, include):
    assert_refused(api_client.get(f"/v1/runs?include={include}"), 400, "bad-input", field="include")


def test_an_empty_list_is_a_page(api_client):
    assert api_client.get("/v1/runs").json() == {"data": [], "hasMore": False}


# Pages.


def test_120_runs_come_in_full_pages_newest_first(api_client, project, workspace):
    """Many of one moment, and runs between them that the caller may not see."""
    hidden = ProjectFactory(workspace=workspace)
    for number in range(120):
        RunFactory(project=project, created_at=NOON + timedelta(seconds=number // 50))
        RunFactory(project=hidden, created_at=NOON + timedelta(seconds=number // 50))

    seen, sizes, cursor = [], [], None
    while cursor is not None or not sizes:
        found, page = listed(api_client, limit=50, **({"cursor": cursor} if cursor else {}))
        seen += found
        sizes.append(len(found))
        assert ("nextCursor" in page) is page["hasMore"]
        cursor = page.get("nextCursor")

    assert (sizes, len(set(seen))) == ([50, 50, 20], 120)
    assert seen == ids(*Run.objects.filter(project=project).order_by("-created_at", "-id"))


def test_a_full_last_page_is_the_last(api_client, project):
    RunFactory.create_batch(2, project=project)

    assert (listed(api_client, limit=2)[1]["hasMore"], listed(api_client, limit=1)[1]["hasMore"]) == (False, True)


def test_runs_that_arrive_or_go_do_not_shift_the_next_page(api_client, project):
    runs = [RunFactory(project=project, created_at=NOON + timedelta(seconds=number)) for number in range(4)]
    _first, page = listed(api_client, limit=2)
    RunFactory(project=project, created_at=NOON + timedelta(days=1))
    runs[2].content.delete()
    runs[2].delete()

    assert listed(api_client, limit=2, cursor=page["nextCursor"])[0] == ids(runs[1], runs[0])


@pytest.mark.parametrize(
    ("limit", "size"), [("", 25), ("0", 25), ("-3", 25), ("x", 25), ("10abc", 10), ("100", 100), ("101", 100), ("1", 1)]
)
def test_the_limit_is_clamped(api_client, project, limit, size):
    RunFactory.create_batch(101, project=project)

    assert len(listed(api_client, limit=limit)[0]) == size


def test_the_pages_stay_inside_the_filter(api_client, project):
    for number in range(6):
        RunFactory(
            project=project,
            created_at=NOON + timedelta(seconds=number),
            subject_id="sales" if number % 2 else "support",
        )
    first, page = listed(api_client, agentId="sales", limit=2)
    rest, last = listed(api_client, agentId="sales", limit=2, cursor=page["nextCursor"])

    sales = Run.objects.filter(subject_id="sales").order_by("-created_at")
    assert (first + rest, last["hasMore"]) == (ids(*sales), False)


# Filters: what each finds among the same runs, and what it does not.


@pytest.fixture
def cast(project, workspace):
    """One run for each thing a filter can ask, an hour apart; the newest is listed first."""

    def at(hours):
        return NOON - timedelta(hours=hours)

    return {
        "plain": RunFactory(project=project, created_at=at(0)),
        "sales": RunFactory(project=project, created_at=at(1), subject_id="sales", subject_version="2.0.0"),
        "running": RunFactory(project=project, created_at=at(2), status="running", completed_at=None),
        "flow": FlowRunFactory(project=project, created_at=at(3)),
        "failed": FlowRunFactory(project=project, created_at=at(4), subject_version="2.0.0", status="failed"),
        "child": RunFactory(project=project, created_at=at(5), parent_run_id=PARENT),
        "tested": RunFactory(project=project, created_at=at(6), test_run_id="tr-1"),
        "replay": RunFactory(project=project, created_at=at(7), replay_of=PARENT),
        "tested replay": RunFactory(project=project, created_at=at(8), replay_of=PARENT, test_run_id="tr-1"),
    }


ALL = ["plain", "sales", "running", "flow", "failed", "child", "tested", "replay", "tested replay"]
DEFAULT = ALL[:7]
FOUND = {
    "": DEFAULT,
    "agentId=sales": ["sales"],
    "agentId=ranking": [],
    "agentId=SALES": [],
    "agentId=sales&agentVersion=2.0.0": ["sales"],
    "agentId=sales&agentVersion=1.2.0": [],
    "flowId=ranking": ["flow", "failed"],
    "flowId=support": [],
    "flowId=agent.turn": ["plain", "sales", "running", "child", "tested"],
    "flowId=ranking&flowVersion=2.0.0": ["failed"],
    "flowId=ranking&flowVersion=9.0.0": [],
    "status=failed": ["failed"],
    "status=cancelled": [],
    "status=failed,running": ["running", "failed"],
    "status=failed&status=running": ["running", "failed"],
    "status=failed,&status=running,failed": ["running", "failed"],
    "createdAfter=2026-03-01T11:00:00Z": ["plain"],
    "createdAfter=2026-03-01T10:59:59.999Z": ["plain", "sales"],
    "createdAfter=2026-03-01T12:00:00Z": [],
    "createdBefore=2026-03-01T06:00:00Z": [],
    "createdBefore=2026-03-01T06:00:00.001Z": ["tested"],
    "createdBefore=2026-03-01T10:00:00%2B02:00": ["child", "tested"],
    "createdAfter=2026-03-01T08:00:00Z&createdBefore=2026-03-01T10:00:00Z": ["flow"],
    f"parentRunId={PARENT}": ["child"],
    f"parentRunId={PARENT.upper()}": ["child"],
    "parentRunId=0f8fad5b-d9cb-469f-a165-70867728950e": [],
    f"parentRunId={PARENT}&topLevel=false": ["child"],
    "topLevel=true": [name for name in DEFAULT if name != "child"],
    "topLevel=false": DEFAULT,
    "replays=exclude": DEFAULT,
    "replays=include": ALL,
    "replays=only": ["replay", "tested replay"],
    "testRunId=tr-1": ["tested", "tested replay"],
    "testRunId=tr-1&replays=include": ["tested", "tested replay"],
    "testRunId=tr-1&replays=only": ["tested replay"],
    "testRunId=tr-2": [],
    "scopeKind=tenant": DEFAULT,
    "scopeKind=org": [],
    "scopeKind=org&scopeId=acme": [],
    "agentId=&agentVersion=&flowId=&flowVersion=&status=&createdAfter=&createdBefore=&parentRunId=&topLevel=": DEFAULT,
    "replays=&testRunId=&include=&scopeKind=&scopeId=&cursor=&limit=": DEFAULT,
    "status=,": DEFAULT,
    "agentVersion=&agentId=sales": ["sales"],
    "unknown=7": DEFAULT,
}


@pytest.mark.parametrize(("query", "names"), FOUND.items())
def test_a_filter_finds_what_it_says(api_client, cast, query, names):
    response = api_client.get(f"/v1/runs?{query}")

    found = [run["id"] for run in response.json()["data"]]
    assert (response.status_code, found) == (200, ids(*(cast[name] for name in names)))


def test_a_scope_narrows_to_one_project(workspace, project):
    admin = WireClient(store_key(workspace=workspace, principal=person_with(project, None, is_admin=True))[1])
    mine, other = RunFactory(project=project), RunFactory(project=ProjectFactory(workspace=workspace))
    nothing = ProjectFactory(workspace=workspace)

    assert listed(admin)[0] == ids(other, mine)
    assert listed(admin, scopeKind="project", scopeId=str(other.project_id))[0] == ids(other)
    assert listed(admin, scopeKind="project", scopeId=str(nothing.id))[0] == []
    assert listed(admin, scopeKind="project", scopeId=str(uuid4()))[0] == []


def test_another_workspace_is_never_seen(api_client):
    theirs = RunFactory()

    assert listed(api_client)[0] == []
    assert listed(api_client, scopeKind="project", scopeId=str(theirs.project_id))[0] == []


def test_a_key_limited_to_a_project_lists_that_one(reviewer, workspace, project):
    other = ProjectFactory(workspace=workspace)
    RunFactory(project=other)
    run = RunFactory(project=project)
    limited = WireClient(store_key(workspace=workspace, principal=reviewer, project=project)[1])

    assert listed(limited)[0] == ids(run)


REFUSED = {
    "status=done": "status",
    "status=failed,done": "status",
    "agentVersion=1.2.0": "agentVersion",
    "agentVersion=1.2.0&flowId=ranking": "agentVersion",
    "flowVersion=1.2.0": "flowVersion",
    "createdAfter=yesterday": "createdAfter",
    "createdAfter=2026-03-01": "createdAfter",
    "createdBefore=2026-03-01T10:00:00": "createdBefore",
    "parentRunId=run-7": "parentRunId",
    "topLevel=yes": "topLevel",
    "topLevel=True": "topLevel",
    f"topLevel=true&parentRunId={PARENT}": "topLevel",
    "replays=all": "replays",
    "replays=exclude&testRunId=tr-1": "replays",
    "agentId=%00": "agentId",
}


@pytest.mark.parametrize(("query", "field"), REFUSED.items())
def test_a_value_that_means_nothing_is_refused(api_client, cast, query, field):
    assert_refused(api_client.get(f"/v1/runs?{query}"), 400, "bad-input", field=field)


@pytest.mark.parametrize(
    "query",
    [
        "scopeKind=project",
        "scopeKind=project&scopeId=default",
        "scopeKind=tenant&scopeId=7c9e6679-7425-40de-944b-e07fc1f90ae7",
        "scopeId=7c9e6679-7425-40de-944b-e07fc1f90ae7",
        "scopeKind=agent",
        "scopeKind=Tenant",
    ],
)
def test_a_scope_that_means_nothing_beats_the_filters(api_client, query):
    assert_refused(api_client.get(f"/v1/runs?status=done&{query}"), 400, "scope-invalid", field="scopeKind")


def test_the_cursor_beats_the_scope(api_client):
    response = api_client.get("/v1/runs?cursor=x&scopeKind=project&status=done")

    assert_refused(response, 400, "bad-input", field="cursor")


def test_a_cursor_is_for_its_filters_only(api_client, project):
    RunFactory.create_batch(3, project=project)
    _found, page = listed(api_client, limit=1, replays="include")

    assert len(listed(api_client, limit=2, replays="include", cursor=page["nextCursor"])[0]) == 2
    response = api_client.get("/v1/runs?" + urlencode({"cursor": page["nextCursor"]}))
    assert_refused(response, 400, "bad-input", field="cursor")


@pytest.mark.parametrize("query", ["", "?include=output&status=completed,failed"])
def test_the_number_of_statements_does_not_grow(api_client, project, query, django_assert_num_queries):
    RunFactory(project=project)
    api_client.get("/v1/runs")

    for more in (0, 1, 300):
        RunFactory.create_batch(more, project=project)
        with django_assert_num_queries(3):
            api_client.get(f"/v1/runs{query}")
