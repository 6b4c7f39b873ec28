"""The list of runs."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from corrections.models import Run
from kindgi_site.callers import Role
from kindgi_site.exact_json import JsonText
from kindgi_site.workspaces.models import Person, Project
from tests.factories import (
    CorrectionFactory,
    FlowRunFactory,
    ProjectFactory,
    ProjectRoleFactory,
    RunCopyFactory,
    RunFactory,
    RunToolFactory,
    person_with,
)
from tests.pages.conftest import HTMX, VARY, root_of, text_of

FIRST = datetime(2026, 11, 2, 9, tzinfo=UTC)


def words(run_words: str) -> JsonText:
    return JsonText.of({"message": run_words})


def shown(client: Client, query: str = "") -> str:
    response = client.get(f"/runs/{query}")
    assert response.status_code == 200
    return text_of(response.content.decode())


def test_page_and_fragment(reviewer_client: Client, run: Run):
    page = reviewer_client.get("/runs/")
    fragment = reviewer_client.get("/runs/", headers=HTMX)

    assert page.templates[0].name == "corrections/run_list.html"
    assert fragment.templates[0].name == "corrections/_run_table.html"
    assert root_of(fragment.content.decode()) == "run-table"
    assert set(page["Vary"].split(", ")) >= VARY
    assert set(fragment["Vary"].split(", ")) >= VARY


def test_history_restore_is_a_whole_page(reviewer_client: Client, run: Run):
    restored = reviewer_client.get("/runs/", headers=HTMX | {"HX-History-Restore-Request": "true"})

    assert restored.templates[0].name == "corrections/run_list.html"


def test_home_is_the_list(reviewer_client: Client):
    assert reviewer_client.get("/").headers["Location"] == "/runs/"


def test_a_row_says_what_came_in_and_what_was_said_of_it(reviewer_client: Client, project: Project):
    run = RunFactory(
        project=project,
        content__input=words("Where is\nmy order?"),
        segments=JsonText.of([{"key": "desk", "value": "west"}]),
    )
    copy = RunCopyFactory(project=project, run_id=run.run_id)
    CorrectionFactory(copy=copy)
    CorrectionFactory(copy=copy, answer="right", has_right=True, has_wrong=False, expert=True)
    CorrectionFactory(copy=copy, removed=True)

    page = shown(reviewer_client)

    assert "Where is my order? support 1.2.0 desk west ● completed ✗ wrong ✓ right expert by 2 people just now" in page


def test_newest_come_first_and_pages_are_cut_by_key(reviewer_client: Client, project: Project):
    for number in range(53):
        RunFactory(
            project=project, content__input=words(f"run-{number:02}."), created_at=FIRST + timedelta(hours=number)
        )

    first = reviewer_client.get("/runs/")
    numbers = [row.words for row in first.context["rows"]]
    older = reviewer_client.get(f"/runs/?before={first.context['older']}")
    newer = reviewer_client.get(f"/runs/?after={older.context['newer']}")

    assert numbers == [f"run-{number:02}." for number in range(52, 2, -1)]
    assert first.context["newer"] is None
    assert [row.words for row in older.context["rows"]] == ["run-02.", "run-01.", "run-00."]
    assert older.context["older"] is None
    assert [row.words for row in newer.context["rows"]] == numbers
    assert newer.context["newer"] is None


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["refund", "search", "claim"]),
        ("?subject=support", ["refund"]),
        ("?subject=ranking", ["search"]),
        ("?version=2.0.0", ["claim"]),
        ("?status=failed", ["claim"]),
        ("?tool=refund_order", ["refund"]),
        ("?text=HW-48213", ["refund"]),
        ("?text=M%C3%BCnchen", ["search"]),
        ("?corrected=yes", ["refund", "search"]),
        ("?corrected=no", ["claim"]),
        ("?corrected=wrong", ["refund"]),
        ("?corrected=mine", ["search"]),
        ("?corrected=not-mine", ["refund", "claim"]),
        ("?since=2026-11-03", ["refund", "search"]),
        ("?until=2026-11-03", ["search", "claim"]),
        ("?subject=support&status=failed", []),
        ("?status=nonsense", ["refund", "search", "claim"]),
        ("?since=nonsense&before=nonsense", ["refund", "search", "claim"]),
    ],
)
def test_filters(reviewer_client: Client, reviewer: Person, project: Project, query: str, found: list[str]):
    claim = RunFactory(
        project=project,
        content__input=words("claim"),
        subject_id="claims",
        subject_version="2.0.0",
        status="failed",
        created_at=FIRST,
    )
    search = FlowRunFactory(
        project=project,
        content__input=words("search"),
        content__output=JsonText('{"city": "M\\u00fcnchen"}'),
        created_at=FIRST + timedelta(days=1),
    )
    refund = RunFactory(
        project=project,
        content__input=JsonText.of({"message": "refund", "order": "HW-48213"}),
        created_at=FIRST + timedelta(days=2),
    )
    RunToolFactory(run=refund, tool="refund_order")
    CorrectionFactory(copy=RunCopyFactory(project=project, run_id=refund.run_id))
    CorrectionFactory(
        copy=RunCopyFactory(project=project, run_id=search.run_id),
        answer="right",
        has_right=True,
        has_wrong=False,
        made_by_kind="user",
        made_by_id=str(reviewer.id),
    )
    CorrectionFactory(copy=RunCopyFactory(project=project, run_id=claim.run_id), removed=True)

    rows = reviewer_client.get(f"/runs/{query}").context["rows"]

    assert [row.words for row in rows] == found


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("?since=2026-11-03", ["first", "last"]),
        ("?since=2026-11-04", []),
        ("?until=2026-11-03", ["first", "last"]),
        ("?until=2026-11-02", []),
        ("?since=2026-11-03&until=2026-11-03", ["first", "last"]),
        ("?since=0001-01-02&until=9999-12-30", ["first", "last"]),
    ],
)
def test_a_day_is_one_of_the_sites_time_zone(
    settings, reviewer_client: Client, project: Project, query: str, found: list[str]
):
    settings.TIME_ZONE = "Pacific/Auckland"  # thirteen hours ahead in November
    RunFactory(project=project, content__input=words("first"), created_at=datetime(2026, 11, 2, 11, tzinfo=UTC))
    last = datetime(2026, 11, 3, 10, 59, 59, tzinfo=UTC)
    RunFactory(project=project, content__input=words("last"), created_at=last)

    rows = reviewer_client.get(f"/runs/{query}").context["rows"]

    assert sorted(row.words for row in rows) == found


def test_days_are_those_on_which_a_run_was_received_and_the_filter_says_so(reviewer_client: Client, project: Project):
    RunFactory(project=project, completed_at=FIRST, created_at=FIRST + timedelta(days=9))

    page = reviewer_client.get("/runs/?since=2026-11-11&until=2026-11-11")

    assert len(page.context["rows"]) == 1
    assert "Received from" in text_of(page.content.decode())
    assert "Received until" in text_of(page.content.decode())


def test_filter_by_project_offers_only_projects_one_may_read(
    reviewer_client: Client, reviewer: Person, project: Project
):
    beside = ProjectFactory(workspace=project.workspace, name="Beside")
    ProjectRoleFactory(project=beside, person=reviewer, role=Role.VIEWER)
    other = ProjectFactory(workspace=project.workspace, name="Secret project")
    runs = {where: RunFactory(project=where) for where in (project, beside, other)}

    page = reviewer_client.get(f"/runs/?project={beside.id}")
    foreign = reviewer_client.get(f"/runs/?project={other.id}")

    assert [row.run_id for row in page.context["rows"]] == [str(runs[beside].run_id)]
    assert not page.context["filter"].errors
    assert f'<option value="{beside.id}" selected>Beside</option>' in page.content.decode()
    assert "Secret project" not in page.content.decode()
    assert foreign.context["filter"].errors
    assert str(runs[other].run_id) not in foreign.content.decode()


@pytest.mark.parametrize("htmx", [False, True], ids=["page", "htmx"])
@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("since=soon", "Enter a valid date."),
        ("until=2026-13-01", "Enter a valid date."),
        ("since=0001-01-01", "Ensure this value is greater than or equal to 0001-01-02."),
        ("until=9999-12-31", "Ensure this value is less than or equal to 9999-12-30."),
        ("status=lost", "Select a valid choice. lost is not one of the available choices."),
        ("corrected=maybe", "Select a valid choice. maybe is not one of the available choices."),
        ("tool=%00", "Null characters are not allowed."),
    ],
)
def test_what_no_filter_takes_is_told(reviewer_client: Client, run: Run, query: str, words: str, htmx: bool):
    page = reviewer_client.get(f"/runs/?{query}", headers=HTMX if htmx else {})

    assert text_of(page.content.decode()).count(words) == 1


def test_rows_and_pager_keep_the_filter(reviewer_client: Client, project: Project):
    for _ in range(51):
        RunFactory(project=project)

    html = reviewer_client.get("/runs/?subject=support&version=&status=completed").content.decode()

    assert '/?subject=support&amp;status=completed"' in html
    assert 'href="?subject=support&amp;status=completed&amp;before=' in html


def test_htmx_puts_only_what_is_said_into_the_address(reviewer_client: Client, run: Run):
    narrowed = reviewer_client.get("/runs/?subject=support&version=&text=", headers=HTMX)
    cleared = reviewer_client.get("/runs/?subject=&version=", headers=HTMX)

    assert narrowed["HX-Push-Url"] == "/runs/?subject=support"
    assert cleared["HX-Push-Url"] == "/runs/"


def test_empty_lists_say_why(reviewer_client: Client, project: Project):
    assert "No runs yet." in shown(reviewer_client)
    run = RunFactory(project=project, created_at=FIRST)
    assert "No run matches these filters." in shown(reviewer_client, "?subject=nobody")
    assert "No more runs in this direction." in shown(reviewer_client, f"?before=1_{run.id}")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"erased_at": FIRST, "content__input": None, "content__output": None}, "(erased)"),
        ({"purged_at": FIRST, "content": None}, "(dropped for its age)"),
        ({"content__input": JsonText('""')}, "(nothing came in)"),
    ],
)
def test_a_run_without_words_says_why(reviewer_client: Client, project: Project, given: dict, words: str):
    RunFactory(project=project, **given)

    assert [row.words for row in reviewer_client.get("/runs/").context["rows"]] == [words]


def test_only_runs_of_projects_one_may_read(client: Client, run: Run):
    stranger = person_with(ProjectFactory(workspace=run.workspace))
    client.force_login(stranger)

    assert client.get("/runs/").context["rows"] == []
    assert "support" not in shown(client)


def test_runs_of_other_workspaces_are_not_there(client: Client, run: Run):
    client.force_login(person_with(ProjectFactory(), is_admin=True))

    assert client.get("/runs/").context["rows"] == []


def test_hostile_words_stay_words(reviewer_client: Client, project: Project):
    RunFactory(
        project=project,
        subject_id="<b>agent</b>",
        content__input=JsonText('{"message": "<script>alert(1)</script>\\u0000\\ud800"}'),
    )

    html = reviewer_client.get("/runs/?text=%22%3E%3Cscript%3E").content.decode()
    html += reviewer_client.get("/runs/").content.decode()

    assert "<script>alert" not in html
    assert "<b>agent" not in html
    assert '"><script>' not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;␀\ufffd" in html


@pytest.mark.parametrize("query", ["", "?corrected=wrong&tool=find_order&text=order"])
def test_number_of_statements_does_not_grow(reviewer_client: Client, project: Project, query: str):
    counts = []
    for more in (1, 60):
        for _ in range(more):
            run = RunFactory(project=project)
            RunToolFactory(run=run)
            CorrectionFactory(copy=RunCopyFactory(project=project, run_id=run.run_id))
        with CaptureQueriesContext(connection) as statements:
            reviewer_client.get(f"/runs/{query}")
        counts.append(len(statements))

    assert counts == [12, 12]
