"""The list of test sets, a set's versions, a version's cases and one case."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from kindgi_site.callers import Role
from kindgi_site.exact_json import JsonText
from kindgi_site.workspaces.models import Person, Project
from tests.factories import CorrectorGroupFactory, ProjectFactory, crowd, person_with
from tests.loop import RIGHT_CALL, WRONG_CALL, Loop
from tests.pages.conftest import HTMX, VARY, root_of, text_of
from testsets.models import TestSetVersion

SET = "/test-sets/support.corrections/"
VERSION = f"{SET}1.0.0/"


@pytest.fixture
def admin_client(admin: Person, client: Client) -> Client:
    client.force_login(admin)
    return client


@pytest.fixture
def viewer_client(project: Project) -> Client:
    viewer = Client()
    viewer.force_login(person_with(project, Role.VIEWER))
    return viewer


@pytest.fixture
def frozen(loop: Loop) -> str:
    """The id of the one correction in the agent's frozen set."""
    correction = loop.correct()
    loop.freeze()
    return correction


def text(client: Client, path: str) -> str:
    response = client.get(path)
    assert response.status_code == 200, path
    return text_of(response.content.decode())


def test_empty_list_says_what_to_do(admin_client: Client, viewer_client: Client):
    assert "No test set yet." in text(admin_client, "/test-sets/")
    assert "Build one" in text(admin_client, "/test-sets/")
    assert "Build one" not in text(viewer_client, "/test-sets/")


def test_later_pages_of_the_list_lead_back_to_the_first(admin_client: Client, loop: Loop, frozen: str):
    before = text(admin_client, "/test-sets/?after=a")
    beyond = text(admin_client, "/test-sets/?after=z")

    assert ("← First" in before, "support.corrections" in before) == (True, True)
    assert "No more test sets. To the first" in beyond
    assert "← First" not in text(admin_client, "/test-sets/")


def test_list_shows_the_latest_version_kind_and_cases(admin_client: Client, loop: Loop, frozen: str):
    loop.correct()
    loop.freeze("1.10.0")

    page = text(admin_client, "/test-sets/")

    assert "support.corrections frozen from the set of support 1.10.0 2 versions corrections Default 2 just now" in page


@pytest.mark.parametrize(
    ("path", "page", "fragment", "root"),
    [
        ("/test-sets/", "test_set_list", "_test_set_table", "test-set-table"),
        (SET, "test_set_detail", "_version_table", "version-table"),
        (VERSION, "version_detail", "_case_table", "case-table"),
        (f"{VERSION}cases/FROZEN/", "case_detail", "_case_panel", "case-panel"),
    ],
)
def test_pages_and_fragments(admin_client: Client, frozen: str, path: str, page: str, fragment: str, root: str):
    path = path.replace("FROZEN", frozen)

    whole, part = admin_client.get(path), admin_client.get(path, headers=HTMX)

    assert whole.templates[0].name == f"testsets/{page}.html"
    assert part.templates[0].name == f"testsets/{fragment}.html"
    assert root_of(part.content.decode()) == root
    assert set(whole["Vary"].split(", ")) >= VARY


def test_unregister_and_reinstate(admin_client: Client, frozen: str):
    out = admin_client.post(f"{VERSION}unregister/")
    assert (out.status_code, out["Location"]) == (302, SET)
    assert "1.0.0 out of use" in text(admin_client, SET)
    assert "none in use" in text(admin_client, "/test-sets/")
    assert "out of use since" in text(admin_client, VERSION)

    back = admin_client.post(f"{VERSION}reinstate/", headers=HTMX)

    assert back.status_code == 200
    assert root_of(back.content.decode()) == "version-table"
    assert "1.0.0 latest" in text_of(back.content.decode())
    assert TestSetVersion.objects.get().unregistered_at is None


def test_a_viewer_sees_no_buttons_and_may_do_nothing(viewer_client: Client, frozen: str):
    for path in ("/test-sets/", SET, VERSION, f"{VERSION}cases/{frozen}/"):
        main = viewer_client.get(path).content.decode().partition("<main")[2]
        assert "<button" not in main, path

    assert viewer_client.post(f"{VERSION}unregister/").status_code == 403
    assert TestSetVersion.objects.get().unregistered_at is None


def test_nothing_of_another_workspace_is_there(client: Client, frozen: str):
    client.force_login(person_with(ProjectFactory(), is_admin=True))

    assert "support.corrections" not in text(client, "/test-sets/")
    for path in (SET, VERSION, f"{VERSION}cases/{frozen}/", f"{VERSION}cases/{frozen}/raw/", f"{VERSION}cases.csv"):
        assert client.get(path).status_code == 404, path
    assert client.post(f"{VERSION}unregister/").status_code == 404
    assert TestSetVersion.objects.get().unregistered_at is None


def test_nothing_of_a_project_one_may_not_read(client: Client, project: Project, frozen: str):
    client.force_login(person_with(ProjectFactory(workspace=project.workspace)))

    assert client.get(VERSION).status_code == 404


def test_a_case_says_what_is_expected_and_who_said_so(
    admin_client: Client, loop: Loop, admin: Person, project: Project
):
    group = CorrectorGroupFactory(
        workspace=project.workspace, name="Experts", weight=3, principal_ids=JsonText.of([str(admin.id)]).value
    )
    case = loop.correct(
        decisions="wrong",
        shouldCall=[{"tool": "find_order", "args": {"order": 7}}],
        answer="wrong",
        why="It never looked.",
        correctorGroupId=str(group.id),
    )
    loop.freeze()

    page = text(admin_client, f"{VERSION}cases/{case}/")

    assert "A run passes when it calls find_order with order = 7." in page
    assert "Its answer must be another one." in page
    assert f"{admin.username} Experts" in page
    assert "It never looked." in page
    assert "counts 3" in page
    assert "find_order" in page.partition("Decisions 1 call")[2].partition("Answer")[0]
    assert "order 8" in page.partition("Decisions 1 call")[2]
    assert "It arrives on Monday." in page


def test_with_experts_words_only_what_others_said_is_gone(admin_client: Client, frozen: str):
    everybody = text(admin_client, f"{VERSION}cases/{frozen}/")
    experts = text(admin_client, f"{VERSION}cases/{frozen}/?words=experts")

    assert "A run passes when it calls" in everybody
    assert "A run passes when it calls" not in experts
    assert "No expert spoke of this run" in experts


def test_an_erased_case_says_so_and_shows_nothing(admin_client: Client, loop: Loop, root_client):
    run_id = loop.run(output={"content": "secret"}, calls=[WRONG_CALL])
    case = loop.correct(run_id)
    loop.freeze()
    loop.erase(run_id, root_client)

    listed, page = text(admin_client, VERSION), text(admin_client, f"{VERSION}cases/{case}/")

    assert "Erased" in listed
    assert "1 erased since" in listed
    assert "This case was erased." in page
    for shown in (listed, page):
        assert "secret" not in shown
        assert "Where is my order" not in shown


def test_unknown_cases_and_versions_are_not_there(admin_client: Client, frozen: str):
    for path in (f"{SET}2.0.0/", f"{VERSION}cases/nobody/", "/test-sets/nobody/", f"{VERSION}cases/%00/"):
        assert admin_client.get(path).status_code == 404, path


def test_hostile_words_stay_words(admin_client: Client, loop: Loop):
    bad = "<script>alert(1)</script>"
    run_id = loop.run(
        input={"message": bad}, output={"content": bad, bad: bad}, calls=[{"toolId": bad, "arguments": {bad: bad}}]
    )
    case = loop.correct(run_id, decisions="wrong", shouldCall=[{"tool": bad, "args": {bad: bad}}], why=bad)
    loop.freeze()

    for path in (VERSION, f"{VERSION}cases/{case}/"):
        html = admin_client.get(path).content.decode()
        assert "<script>alert" not in html, path
        assert "&lt;script&gt;alert(1)" in html, path
    raw = admin_client.get(f"{VERSION}cases/{case}/raw/")
    assert raw["Content-Type"] == "text/plain; charset=utf-8"
    assert raw["X-Content-Type-Options"] == "nosniff"


def test_cases_are_paged_and_walked(admin_client: Client, loop: Loop, project: Project):
    crowd(project, 32)
    loop.freeze()
    first = admin_client.get(VERSION)
    second = admin_client.get(f"{VERSION}?from=30")

    ids = [row.case_id for page in (first, second) for row in page.context["rows"]]
    middle = admin_client.get(f"{VERSION}cases/{ids[1]}/").context

    assert [len(page.context["rows"]) for page in (first, second)] == [30, 2]
    assert (middle["before"], middle["after"]) == (ids[0], ids[2])
    assert "No more cases." in text(admin_client, f"{VERSION}?from=99")
    assert admin_client.get(f"{VERSION}?from=nonsense").context["start"] == 0


@pytest.mark.parametrize(("path", "statements"), [("/test-sets/", 6), (SET, 7), (VERSION, 10)])
def test_number_of_statements_does_not_grow(
    admin_client: Client, loop: Loop, project: Project, path: str, statements: int
):
    counts = []
    for more, version in ((1, "1.0.0"), (99, "1.0.1")):
        crowd(project, more)
        loop.freeze(version)
        with CaptureQueriesContext(connection) as asked:
            admin_client.get(path.replace("1.0.0", version))
        counts.append(len(asked))

    assert counts == [statements, statements]


def test_statements_of_one_case_do_not_grow_with_the_words_on_it(admin_client: Client, loop: Loop):
    counts = []
    for items in (1, 100):
        run_id = loop.run(output={"hits": [{"id": str(number)} for number in range(items)]}, calls=[RIGHT_CALL])
        said = [{"key": str(number), "pointer": f"/hits/{number}", "verdict": "wrong"} for number in range(items)]
        case = loop.correct(run_id, items=said)
        loop.freeze(f"1.0.{items}")
        with CaptureQueriesContext(connection) as asked:
            admin_client.get(f"{SET}1.0.{items}/cases/{case}/")
        counts.append(len(asked))

    assert counts[0] == counts[1]
