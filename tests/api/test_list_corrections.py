"""`GET /v1/corrections` (contract 7.7): order, every filter, what a caller sees, statements."""

from datetime import timedelta
from urllib.parse import urlencode
from uuid import uuid4

import pytest

from corrections.models import Correction
from corrections.vocabulary import LinkKind, ScopeKind, SortedTo, Status, SubjectKind, Verdict
from kindgi_site.workspaces.services.keys import store_key
from tests.api.expect import assert_refused, nothing_stored
from tests.api.records import record
from tests.factories import CorrectionFactory, CorrectorGroupFactory, ProjectFactory, RunCopyFactory, crowd, person_with
from tests.life import FIXED, LONG_AGO, correction_in
from tests.wire import WireClient

PATH = "/v1/corrections"


@pytest.fixture
def make(project):
    """Corrections of the project, each later than the one before."""
    made = []

    def one(copy: dict | None = None, **said) -> Correction:
        at = LONG_AGO + timedelta(minutes=len(made))
        copies = RunCopyFactory(project=project, **copy or {})
        made.append(CorrectionFactory(**{"copy": copies, "created_at": at, "updated_at": at} | said))
        return made[-1]

    return one


def ids(response) -> list[str]:
    assert response.status_code == 200, response.content
    return [row["id"] for row in response.json()["data"]]


def listed(client, **query) -> list[str]:
    return ids(client.get(f"{PATH}?{urlencode(query, doseq=True)}"))


def names(*corrections) -> list[str]:
    return [str(correction.id) for correction in corrections]


def test_live_ones_newest_first_as_records(api_client, project, make):
    first, second = make(), make()
    make(status=Status.REMOVED, unregistered_at=LONG_AGO)

    response = api_client.get(PATH)

    assert response.json() == {"data": [record(second), record(first)], "hasMore": False}
    assert response["Cache-Control"] == "no-store"


def test_ties_of_time_go_by_id(api_client, project):
    made = [correction_in(project, Status.OPEN) for _one in range(5)]

    assert listed(api_client) == sorted(names(*made), reverse=True)


def test_pages_by_cursor_miss_nothing_when_rows_come_in_between(api_client, make):
    made = [make() for _one in range(5)]
    first = api_client.get(f"{PATH}?limit=2").json()
    make()
    second = api_client.get(f"{PATH}?limit=2&cursor={first['nextCursor']}").json()
    third = api_client.get(f"{PATH}?limit=2&cursor={second['nextCursor']}").json()

    pages = [first, second, third]
    assert [row["id"] for page in pages for row in page["data"]] == names(*reversed(made))
    assert [page["hasMore"] for page in pages] == [True, True, False]
    assert "nextCursor" not in third


@pytest.mark.parametrize("other", ["?status=open&limit=1", "?limit=1&answer=wrong", "?limit=1&unheardOf=1"])
def test_a_cursor_is_for_one_list_of_one_caller(api_client, stranger_client, make, other):
    make(), make()
    cursor = api_client.get(f"{PATH}?limit=1").json()["nextCursor"]

    for client, query in ((api_client, other), (stranger_client, "?limit=1")):
        response = client.get(f"{PATH}{query}&cursor={cursor}")
        assert (response.status_code, response.json()["error"]["code"]) == (400, "bad-input")


def test_by_run_group_and_participant(api_client, project, workspace, make):
    group = CorrectorGroupFactory(workspace=workspace)
    mine, grouped, theirs = make(), make(group=group), make(participant_id=" p ")

    assert listed(api_client, runId=str(mine.run_id)) == names(mine)
    assert listed(api_client, runId=str(mine.run_id).upper()) == names(mine)
    assert listed(api_client, correctorGroupId=str(group.id)) == names(grouped)
    assert listed(api_client, participantId=" p ") == names(theirs)
    assert listed(api_client, participantId="p") == []
    for name in ("runId", "correctorGroupId"):
        assert listed(api_client, **{name: "x"}) == listed(api_client, **{name: str(uuid4())}) == []


def test_by_subject(api_client, make):
    one = make()
    newer = make({"subject_version": "1.10.0"})
    flow = make({"subject_kind": SubjectKind.FLOW, "subject_id": "support"})
    other = make({"subject_id": "sales"})

    assert listed(api_client, agentId="support") == names(newer, one)
    assert listed(api_client, agentId="support", agentVersion="1.10.0") == names(newer)
    assert listed(api_client, flowId="support") == names(flow)
    assert listed(api_client, agentId="sales") == names(other)


def test_by_verdict(api_client, make):
    answer = make()
    decisions = make(answer="", why="", decisions=Verdict.RIGHT, has_right=True, has_wrong=False)
    items = make(answer="", why="", has_right=True, has_wrong=True)

    assert listed(api_client, answer="wrong") == names(answer)
    assert listed(api_client, decisions="right") == names(decisions)
    assert listed(api_client, answer="right") == listed(api_client, decisions="wrong") == []
    assert listed(api_client, verdict="right") == names(items, decisions)
    assert listed(api_client, verdict="wrong") == names(items, answer)


def test_by_status(api_client, make):
    is_open = make()
    fixed = make(status=Status.FIXED, **FIXED)
    removed = make(status=Status.REMOVED, unregistered_at=LONG_AGO)
    make(status=Status.WONT_FIX)

    assert listed(api_client, status="open") == names(is_open)
    assert listed(api_client, status="open,fixed") == names(fixed, is_open)
    assert listed(api_client, status=["open", "fixed"]) == names(fixed, is_open)
    assert listed(api_client, status=["open,removed", "fixed"]) == names(removed, fixed, is_open)
    assert listed(api_client, status="removed") == names(removed)


def test_superseded_ones_are_listed_with_the_removed(api_client, make):
    newer = make()
    older = make()
    Correction.objects.filter(id=older.id).update(
        status=Status.REMOVED, unregistered_at=LONG_AGO, superseded_by=newer.id
    )

    rows = api_client.get(f"{PATH}?status=removed").json()["data"]

    assert rows == [
        record(older, status="removed", unregisteredAt="2026-01-02T03:04:05.678Z", supersededBy=str(newer.id))
    ]


def test_by_whom_it_is_sorted_to(api_client, make):
    unsorted = make()
    improve = make(sorted_to=SortedTo.IMPROVE, sorted_by_kind="rule", sorted_at=LONG_AGO)
    owner = make(sorted_to=SortedTo.OWNER, sorted_by_kind="rule", sorted_at=LONG_AGO)

    assert listed(api_client, sortedTo="none") == names(unsorted)
    assert listed(api_client, sortedTo="none,owner") == names(owner, unsorted)
    assert listed(api_client, sortedTo=["improve", "owner"]) == names(owner, improve)
    assert listed(api_client, sortedTo="developer") == []


def test_by_link(api_client, make):
    request = make(link_kind=LinkKind.PULL_REQUEST, link_target="https://example.org/1?a=b:c")
    improve = make(link_kind=LinkKind.IMPROVE_RUN, link_target="1")
    change = make(link_kind=LinkKind.SUGGESTED_CHANGE, link_target="1")

    assert listed(api_client, link="pull-request:https://example.org/1?a=b:c") == names(request)
    assert listed(api_client, link="improve-run:1") == names(improve)
    assert listed(api_client, link="suggested-change:1") == names(change)


def test_by_expertise(api_client, workspace, make):
    expert, other = make(expert=True), make()

    assert listed(api_client, expert="true") == names(expert)
    assert listed(api_client, expert="false") == names(other)


def test_by_scope(project, workspace, make):
    mine = make()
    elsewhere = ProjectFactory(workspace=workspace)
    theirs = correction_in(elsewhere, Status.OPEN)
    admin = WireClient(store_key(workspace=workspace, principal=person_with(project, None, is_admin=True))[1])

    assert set(listed(admin)) == set(listed(admin, scopeKind="tenant")) == set(names(mine, theirs))
    assert listed(admin, scopeKind="project", scopeId=str(elsewhere.id)) == names(theirs)
    assert listed(admin, scopeKind="project", scopeId=str(uuid4())) == []
    assert admin.get(f"{PATH}?scopeKind=org").json() == {"data": [], "hasMore": False}


def test_a_caller_sees_the_projects_they_may_read(api_client, foreign_client, viewer_client, workspace, make):
    mine = make()
    correction_in(ProjectFactory(workspace=workspace), Status.OPEN)

    assert listed(api_client) == listed(viewer_client) == names(mine)
    assert listed(foreign_client) == []


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("agentVersion=1.2.0", "agentVersion"),
        ("decisions=yes", "decisions"),
        ("answer=Wrong", "answer"),
        ("verdict=none", "verdict"),
        ("status=open,closed", "status"),
        ("sortedTo=nobody", "sortedTo"),
        ("expert=1", "expert"),
        ("link=1", "link"),
        ("link=issue:1", "link"),
        ("link=improve-run:", "link"),
        ("participantId=%00", "participantId"),
    ],
)
def test_what_means_nothing_is_refused(api_client, make, query, field):
    make()
    with nothing_stored():
        response = api_client.get(f"{PATH}?{query}")

    assert (response.status_code, response.json()["error"]["details"]) == (400, {"field": field})
    assert response.json()["error"]["code"] == "bad-input"


@pytest.mark.parametrize(
    "query",
    ["scopeKind=project", "scopeKind=project&scopeId=x", "scopeKind=tenant&scopeId=x", "scopeKind=x", "scopeId=x"],
)
def test_a_scope_that_means_nothing_is_refused_before_any_filter(api_client, query):
    response = api_client.get(f"{PATH}?answer=perhaps&{query}")

    assert_refused(response, 400, "scope-invalid", field="scopeKind")


def test_words_are_checked_before_what_needs_what(api_client):
    response = api_client.get(f"{PATH}?agentVersion=1&expert=perhaps")

    assert response.json()["error"]["details"] == {"field": "expert"}


@pytest.mark.parametrize("query", ["runId=&agentVersion=&status=&sortedTo=&link=&expert=&scopeKind=", "unheardOf=1"])
def test_empty_and_unknown_parameters_count_as_left_out(api_client, make, query):
    one = make()

    assert ids(api_client.get(f"{PATH}?{query}")) == names(one)


@pytest.mark.parametrize("count", [1, 3])
def test_statements_do_not_grow_with_the_rows(api_client, project, count, django_assert_num_queries):
    crowd(project, count)
    api_client.get(PATH)  # notes when the key was used
    with django_assert_num_queries(3):
        assert len(listed(api_client)) == count


def test_a_group_of_a_project_filters_too(api_client, workspace, project, make):
    group = CorrectorGroupFactory(workspace=workspace, scope_kind=ScopeKind.PROJECT, project=project)
    one = make(group=group)

    assert listed(api_client, correctorGroupId=str(group.id), agentId="support") == names(one)


def test_head_is_get_without_its_body(api_client, make):
    make()

    assert api_client.head(PATH).content == b""
    assert api_client.head(PATH)["Content-Length"] == str(len(api_client.get(PATH).content))


def test_a_key_limited_to_a_project_lists_only_that(limited_client, project, workspace, make):
    one = make()
    correction_in(ProjectFactory(workspace=workspace), Status.OPEN)

    assert listed(limited_client) == names(one)
    response = limited_client.get(f"{PATH}?scopeKind=project&scopeId={uuid4()}")
    assert response.json()["error"]["code"] == "key-project-mismatch"


def test_a_role_in_no_project_sees_nothing(workspace, project, make):
    make()
    client = WireClient(store_key(workspace=workspace, principal=person_with(project, None))[1])

    assert listed(client) == []
