"""The owner's desks: what waits where, and what was called beside what should have been."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from corrections.models import Correction
from corrections.vocabulary import SortedTo, Status
from kindgi_site.callers import Role
from kindgi_site.exact_json import JsonText
from kindgi_site.workspaces.models import Person, Project
from tests.factories import ProjectFactory, ProjectRoleFactory, RunCopyFactory, person_with
from tests.life import correction_in
from tests.pages.conftest import HTMX, VARY, root_of, text_of

FIRST = datetime(2026, 11, 2, 9, tzinfo=UTC)
HOSTILE = "<script>alert('x')</script>"


def shown(client: Client, query: str = "") -> str:
    response = client.get(f"/corrections/{query}")
    assert response.status_code == 200
    return text_of(response.content.decode())


def wrong_call(project: Project, **more: object) -> Correction:
    """The run asked for order 7; it should have asked for order 8, and never for its weather."""
    calls = [
        {"toolId": "find_order", "arguments": {"order": 7, "limit": 1}},
        {"toolId": "get_weather", "arguments": {"city": "Ghent"}},
    ]
    return correction_in(
        project,
        Status.WITH_OWNER,
        copy=RunCopyFactory(project=project, calls=JsonText.of(calls)),
        answer="",
        decisions="wrong",
        should_call=JsonText.of(
            [{"tool": "find_order", "args": {"order": 8}}, {"tool": "say_sorry", "args": {"to": "Ana"}}]
        ),
        must_not_call=JsonText.of(["get_weather"]),
        **more,
    )


def test_page_and_fragment(reviewer_client: Client, project: Project):
    wrong_call(project)

    page = reviewer_client.get("/corrections/")
    fragment = reviewer_client.get("/corrections/", headers=HTMX)

    assert page.templates[0].name == "corrections/correction_list.html"
    assert fragment.templates[0].name == "corrections/_correction_table.html"
    assert root_of(fragment.content.decode()) == "correction-table"
    assert set(page["Vary"].split(", ")) >= VARY
    assert fragment["HX-Push-Url"] == "/corrections/?desk=with-owner"


def test_a_row_shows_what_was_called_beside_what_should_have_been(reviewer_client: Client, project: Project):
    wrong_call(project)

    said = shown(reviewer_client)

    assert (
        "find_order ≠ called with other arguments Argument Was called with Should have been order 7 ≠ differs: 8"
        in said
    )
    assert "limit 1 any value" in said
    assert "say_sorry + should have been called" in said
    assert "to not called" in said
    assert "get_weather ✗ should not have been called" in said
    assert "city Ghent no call at all" in said
    assert "A run passes when it calls find_order with order = 8 and say_sorry with to = Ana" in said
    assert "● With the owner" in said


def test_it_says_what_came_in(reviewer_client: Client, project: Project):
    asked = RunCopyFactory(project=project, input=JsonText.of({"message": "Where is <b>my</b> pot?"}))
    erased = RunCopyFactory(project=project, input=None)
    correction = correction_in(project, Status.WITH_OWNER, copy=asked)
    correction_in(project, Status.WITH_OWNER, copy=erased)
    words = '<p class="desk-words" dir="auto">Where is &lt;b&gt;my&lt;/b&gt; pot?</p>'

    pages = [reviewer_client.get(path).content.decode() for path in ("/corrections/", f"/corrections/{correction.id}/")]

    assert [(words in page, page.count("desk-words")) for page in pages] == [(True, 1), (True, 1)]


def test_answers_are_read_without_the_marks_of_markdown(reviewer_client: Client, project: Project):
    answer = "**Done.** It arrives on `Monday`.\n\n- *Seat* 12A"
    copy = RunCopyFactory(project=project, output=JsonText.of({"content": answer}))
    correction = correction_in(project, Status.WITH_OWNER, copy=copy, should_say="On **Tuesday**, seat `12B`.")

    row = shown(reviewer_client)
    page = reviewer_client.get(f"/corrections/{correction.id}/").content.decode()

    assert "It said ✗ wrong Done. It arrives on Monday. Seat 12A It should have said On Tuesday, seat 12B." in row
    assert "Its answer should say “On Tuesday, seat 12B.”" in row
    assert "<p><strong>Done.</strong> It arrives on <code>Monday</code>.</p>" in page
    assert "<p>On <strong>Tuesday</strong>, seat <code>12B</code>.</p>" in page


def test_an_answer_that_goes_on_says_so_however_few_words_its_start_has(reviewer_client: Client, project: Project):
    answer = "[a](https://a.example/aaaaaaaaaaaaaaaa) " * 20  # of forty characters one is read
    copy = RunCopyFactory(project=project, output=JsonText.of({"content": answer}))
    correction_in(project, Status.WITH_OWNER, copy=copy, should_say=answer)

    row = shown(reviewer_client)

    start = " ".join("a" * 14) + "…"
    assert f"It said ✗ wrong {start} It should have said {start} " in row
    assert f"Its answer should say “{' '.join('a' * 12)}…”" in row


def test_a_correction_says_whether_it_is_of_an_agent_or_a_flow(reviewer_client: Client, project: Project):
    of_agent = wrong_call(project)
    copy = RunCopyFactory(project=project, subject_kind="flow", subject_id="support")
    of_flow = correction_in(project, Status.WITH_OWNER, copy=copy)

    said = shown(reviewer_client)

    assert "support 1.2.0 agent" in said
    assert "support 1.2.0 flow" in said
    for correction, words in ((of_agent, "support 1.2.0 agent"), (of_flow, "support 1.2.0 flow")):
        page = text_of(reviewer_client.get(f"/corrections/{correction.id}/").content.decode())
        assert f"Correction of {words}" in page


def test_hostile_words_are_only_words(reviewer_client: Client, project: Project):
    correction_in(
        project,
        Status.WITH_OWNER,
        why=HOSTILE,
        should_say=HOSTILE,
        subject_id=HOSTILE,
        link_kind="suggested-change",
        link_target=HOSTILE,
        note_text=HOSTILE,
    )

    page = reviewer_client.get("/corrections/").content.decode()

    assert HOSTILE not in page
    assert "&lt;script&gt;" in page


@pytest.mark.parametrize(
    ("desk", "expected"),
    [
        ("", {"owner"}),
        ("?desk=with-owner", {"owner"}),
        ("?desk=improve", {"improve"}),
        ("?desk=developer", {"developer"}),
        ("?desk=fixed", {"fixed"}),
        ("?desk=all", {"owner", "improve", "developer", "fixed", "gaveup"}),
        ("?desk=nonsense", {"owner"}),
    ],
)
def test_each_desk_shows_its_own(reviewer_client: Client, project: Project, desk: str, expected: set[str]):
    correction_in(project, Status.WITH_OWNER, subject_id="owner")
    correction_in(project, Status.OPEN, SortedTo.IMPROVE, subject_id="improve")
    correction_in(project, Status.BEING_FIXED, SortedTo.DEVELOPER, subject_id="developer")
    correction_in(project, Status.FIXED, subject_id="fixed")
    correction_in(project, Status.WONT_FIX, subject_id="gaveup")
    correction_in(project, Status.REMOVED, subject_id="removed")

    response = reviewer_client.get(f"/corrections/{desk}")

    assert {row.correction.subject_id for row in response.context["rows"]} == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [("subject=billing", {"billing"}), ("version=9", {"nine"}), ("expert=true", {"expert"}), ("status=open", {"open"})],
)
def test_filters_narrow_a_desk(reviewer_client: Client, project: Project, query: str, expected: set[str]):
    correction_in(project, Status.WITH_OWNER, subject_id="billing")
    correction_in(project, Status.WITH_OWNER, subject_id="nine", subject_version="9")
    correction_in(project, Status.WITH_OWNER, subject_id="expert", expert=True)
    correction_in(project, Status.OPEN, subject_id="open")

    response = reviewer_client.get(f"/corrections/?desk=all&{query}")

    assert {row.correction.subject_id for row in response.context["rows"]} == expected


def test_a_desk_is_narrowed_to_a_project_that_one_may_read(client: Client, project: Project):
    beside, foreign = ProjectFactory(workspace=project.workspace), ProjectFactory(workspace=project.workspace)
    person = person_with(project)
    ProjectRoleFactory(project=beside, person=person, role=Role.VIEWER)
    for where, name in ((project, "here"), (beside, "beside"), (foreign, "foreign")):
        correction_in(where, Status.WITH_OWNER, subject_id=name)
    client.force_login(person)

    def subjects(query: str) -> set[str]:
        return {row.correction.subject_id for row in client.get(f"/corrections/?{query}").context["rows"]}

    assert subjects("") == {"here", "beside"}
    assert subjects(f"project={beside.id}") == {"beside"}
    assert subjects(f"project={foreign.id}") == {"here", "beside"}
    offered = client.get("/corrections/").context["filter"].form.fields["project"].queryset
    assert set(offered) == {project, beside}


@pytest.mark.parametrize("htmx", [False, True], ids=["page", "htmx"])
@pytest.mark.parametrize("query", ["status=lost", "expert=lost"])
def test_what_no_filter_takes_is_told(reviewer_client: Client, project: Project, query: str, htmx: bool):
    page = reviewer_client.get(f"/corrections/?desk=all&{query}", headers=HTMX if htmx else {})

    words = "Select a valid choice. lost is not one of the available choices."
    assert text_of(page.content.decode()).count(words) == 1


def test_tabs_keep_the_filters(reviewer_client: Client, project: Project):
    response = reviewer_client.get("/corrections/?desk=improve&subject=billing&status=open&before=1")

    assert response.context["desks"][0][2] == "/corrections/?desk=with-owner&subject=billing"


@pytest.mark.parametrize(
    ("desk", "words"),
    [
        ("with-owner", "Nothing waits for an owner."),
        ("improve", "Nothing is sorted to Improve."),
        ("developer", "Nothing is sorted to a developer."),
        ("fixed", "Nothing was found fixed yet."),
        ("all", "No corrections yet."),
    ],
)
def test_empty_desks_say_what_comes_there(reviewer_client: Client, desk: str, words: str):
    assert words in shown(reviewer_client, f"?desk={desk}")


def test_an_empty_desk_behind_a_filter_says_so(reviewer_client: Client, project: Project):
    correction_in(project, Status.WITH_OWNER)

    assert "No correction at this desk matches these filters." in shown(reviewer_client, "?subject=nobody")


def test_pages_go_by_key_in_both_directions(reviewer_client: Client, project: Project):
    for number in range(65):
        correction_in(
            project, Status.WITH_OWNER, subject_id=f"a{number:02}", created_at=FIRST + timedelta(minutes=number)
        )

    first = reviewer_client.get("/corrections/").context
    second = reviewer_client.get(f"/corrections/?before={first['older']}").context
    third = reviewer_client.get(f"/corrections/?before={second['older']}").context
    back = reviewer_client.get(f"/corrections/?after={third['newer']}").context

    names = [[row.correction.subject_id for row in page["rows"]] for page in (first, second, third, back)]
    assert names[0] == [f"a{number:02}" for number in range(64, 34, -1)]
    assert names[1] == [f"a{number:02}" for number in range(34, 4, -1)]
    assert names[2] == [f"a{number:02}" for number in range(4, -1, -1)]
    assert names[3] == names[1]
    assert (first["newer"], third["older"]) == (None, None)


def test_nothing_of_elsewhere_is_shown(reviewer_client: Client, project: Project):
    correction_in(ProjectFactory(), Status.WITH_OWNER, subject_id="foreign-workspace")
    correction_in(ProjectFactory(workspace=project.workspace), Status.WITH_OWNER, subject_id="foreign-project")

    assert reviewer_client.get("/corrections/?desk=all").context["rows"] == []


@pytest.mark.parametrize(
    ("desk", "status", "sorted_to", "offered"),
    [
        ("with-owner", Status.WITH_OWNER, None, "link being-fixed wont-fix sort-developer sort-improve"),
        ("improve", Status.OPEN, SortedTo.IMPROVE, "link being-fixed wont-fix sort-owner sort-developer"),
        ("developer", Status.OPEN, SortedTo.DEVELOPER, "link being-fixed wont-fix sort-owner sort-improve"),
        ("fixed", Status.FIXED, None, "open"),
    ],
)
def test_each_desk_offers_what_makes_sense_there(
    reviewer_client: Client, project: Project, desk: str, status: Status, sorted_to: SortedTo | None, offered: str
):
    correction_in(project, status, sorted_to)

    page = reviewer_client.get(f"/corrections/?desk={desk}").content.decode()

    assert re.findall(r'name="step"\s+id="[^"]*"\s+value="([^"]*)"', page) == offered.split()


def test_who_only_reads_is_offered_no_step(client: Client, project: Project):
    correction_in(project, Status.WITH_OWNER)
    client.force_login(person_with(project, Role.VIEWER))

    page = client.get("/corrections/").content.decode()

    assert 'type="checkbox" name="correction"' not in page
    assert 'name="step"' not in page


@pytest.mark.parametrize("desk", ["with-owner", "all"])
def test_statements_do_not_grow_with_the_rows(reviewer_client: Client, project: Project, desk: str):
    def statements() -> int:
        with CaptureQueriesContext(
            connection,
        ) as seen:
            assert reviewer_client.get(f"/corrections/?desk={desk}").status_code == 200
        return len(seen)

    wrong_call(project)
    for_one = statements()
    for _number in range(29):
        wrong_call(project)

    assert statements() == for_one <= 10


def test_somebody_signed_out_is_asked_to_sign_in(client: Client, project: Project):
    assert client.get("/corrections/")["Location"] == "/login/?next=/corrections/"


def test_names_of_those_who_said_it(reviewer_client: Client, reviewer: Person, project: Project):
    correction_in(project, Status.WITH_OWNER, made_by_kind="user", made_by_id=str(reviewer.id), expert=True)

    said = shown(reviewer_client)

    assert f"{reviewer.username} you" in said
    assert "expert" in said
