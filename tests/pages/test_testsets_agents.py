"""An agent's page: what is live, shipping, its live set, freezing it, and cases added by people."""

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from corrections.models import AgentOwner, Correction
from kindgi_site.callers import Role
from kindgi_site.workspaces.models import Person, Project
from tests.factories import FlowRunFactory, ProjectFactory, RunFactory, crowd, person_with
from tests.loop import RIGHT_CALL, WRONG_CALL, Loop
from tests.pages.conftest import HTMX, root_of, text_of
from testsets.models import HandCase, LiveChange, TestSetVersion

RIGHT, WRONG = [RIGHT_CALL], [WRONG_CALL]


@pytest.fixture
def admin_client(admin: Person, client: Client) -> Client:
    client.force_login(admin)
    return client


@pytest.fixture
def editor_client(project: Project) -> Client:
    editor = Client()
    editor.force_login(person_with(project, Role.EDITOR))
    return editor


@pytest.fixture
def viewer_client(project: Project) -> Client:
    viewer = Client()
    viewer.force_login(person_with(project, Role.VIEWER))
    return viewer


@pytest.fixture
def agent(project: Project) -> str:
    """The address of the agent's page."""
    return f"/agents/{project.id}/support/"


def text(client: Client, path: str) -> str:
    response = client.get(path)
    assert response.status_code == 200, path
    return text_of(response.content.decode())


def test_an_agent_nobody_has_heard_of_is_empty(admin_client: Client, project: Project):
    page = text(admin_client, f"/agents/{project.id}/any/thing%20<b>/")

    assert "any/thing <b> Default" in page
    for words in ("nobody has said", "nobody yet", "Its set is empty.", "Nothing is waiting to be fixed."):
        assert words in page


def test_page_shows_owner_live_version_changes_and_cases(
    admin_client: Client, admin: Person, loop: Loop, agent: str, project: Project
):
    AgentOwner.objects.create(project=project, agent_id="support", owner_kind="user", owner_id=str(admin.id))
    loop.correct()
    loop.freeze()
    loop.change("pin", "1.1.0", reason="Better")
    loop.change("latest", "1.2.0")

    page = text(admin_client, agent)

    assert "Live 1.1.0 pinned, just now" in page
    assert f"Owner {admin.username}" in page
    assert "1 case 1 from corrections, 0 by hand" in page
    assert "none → 1.1.0" in page
    assert "“Better”" in page or "Better" in page
    assert "still 1.1.0" in page
    assert "1.0.0 support.corrections" in page
    assert "A run passes when it calls find_order with order = 7." in page


def test_shipping_fixes_what_was_ticked_and_shows_it(admin_client: Client, loop: Loop, agent: str):
    ticked, other = loop.correct(), loop.correct()

    response = admin_client.post(
        f"{agent}live/", {"action": "pin", "version": "1.1.0", "reason": "Looks first", "fixes": [ticked]}
    )

    change = LiveChange.objects.get()
    assert (response.status_code, response["Location"]) == (302, f"{agent}changes/{change.id}/")
    assert Correction.objects.get(id=ticked).status == "fixed"
    assert Correction.objects.get(id=other).status == "with-owner"
    page = admin_client.get(response["Location"])
    assert [row.id for row in page.context["fixed"]] == [ticked]
    assert page.context["came_back"] == []
    assert "none → 1.1.0 live" in text_of(page.content.decode())
    assert "Looks first" in text_of(page.content.decode())


def test_a_mistake_of_an_erased_run_says_so(admin_client: Client, loop: Loop, agent: str, root_client):
    run_id = loop.run()
    loop.correct(run_id, answer="wrong", why="It never looked.")
    loop.erase(run_id, root_client)

    assert [row.words for row in admin_client.get(agent).context["to_fix"]] == ["(erased)"]


def test_what_came_back_stands_with_the_change_that_was_live_then(admin_client: Client, loop: Loop, agent: str):
    correction = loop.correct()
    loop.freeze()
    loop.grade("1.1.0", {correction: RIGHT})
    first = loop.change("pin", "1.1.0")["id"]
    loop.grade("1.2.0", {correction: WRONG})
    second = loop.change("pin", "1.2.0")["id"]

    one, two = (admin_client.get(f"{agent}changes/{change}/").context for change in (first, second))

    assert [row.id for row in one["fixed"]] == [correction]
    assert [row.id for row in two["came_back"]] == [correction]
    assert (one["came_back"], two["fixed"]) == ([], [])


@pytest.mark.parametrize("typed", ["", "1.2", "1.2.0"])
def test_unpin_needs_no_version_and_latest_needs_no_admin(
    admin_client: Client, editor_client: Client, loop: Loop, agent: str, typed: str
):
    loop.change("pin", "1.1.0")

    assert admin_client.post(f"{agent}live/", {"action": "unpin", "version": typed}).status_code == 302
    assert editor_client.post(f"{agent}live/", {"action": "latest", "version": "1.3.0"}).status_code == 302
    assert "Live 1.3.0 follows Latest" in text(admin_client, agent)
    assert "Take the pin away" not in text(admin_client, agent)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"action": "pin", "version": ""}, "This field is required."),
        ({"action": "pin", "version": "next"}, "Name a version such as 1.4.0."),
        ({"action": "unpin"}, "No version of this agent is pinned here."),
        ({"action": "pin", "version": "1.1.0", "fixes": ["nobody"]}, "which is no live correction of this agent"),
    ],
)
def test_a_refused_change_stands_beside_the_form_and_keeps_the_ticks(
    admin_client: Client, loop: Loop, agent: str, said: dict[str, object], words: str
):
    ticked = loop.correct()
    fixes = [*said.get("fixes", []), ticked]

    refused = admin_client.post(f"{agent}live/", said | {"fixes": fixes})

    html = refused.content.decode()
    assert refused.status_code == 422
    assert words in text_of(html)
    assert f'id="fix-{ticked}" checked' in html
    assert LiveChange.objects.count() == 0
    assert Correction.objects.get().status == "with-owner"


def test_an_editor_cannot_pin_nor_fix_what_is_with_the_owner(editor_client: Client, loop: Loop, agent: str):
    correction = loop.correct()

    pinned = editor_client.post(f"{agent}live/", {"action": "pin", "version": "1.1.0"})
    fixed = editor_client.post(f"{agent}live/", {"action": "latest", "version": "1.1.0", "fixes": [correction]})

    assert "Pin this version" not in text(editor_client, agent)
    assert (pinned.status_code, fixed.status_code) == (422, 422)
    assert "Only the agent&#x27;s owner" in fixed.content.decode()
    assert LiveChange.objects.count() == 0


def test_exactly_what_is_shown_is_frozen(admin_client: Client, loop: Loop, agent: str):
    shown = [loop.correct() for _ in range(3)][::-1]
    loop.ask("POST", f"{loop.base}/test-set/cases/from-run", {"runId": loop.run()}, status=201)
    preview = admin_client.get(f"{agent}freeze/")

    response = admin_client.post(
        f"{agent}freeze/", {"set_name": "support.corrections", "version": "1.0.0", "description": ""}
    )

    version = TestSetVersion.objects.get()
    frozen = list(version.cases.order_by("position").values_list("case_id", flat=True))
    assert "Exactly these 4 cases will be frozen, in this order." in text_of(preview.content.decode())
    assert [row.case_id for row in preview.context["cases"]] == frozen
    assert frozen[1:] == shown
    assert response["Location"] == "/test-sets/support.corrections/1.0.0/"
    assert 'value="1.1.0"' in admin_client.get(f"{agent}freeze/").content.decode()


def test_freezing_the_same_version_again_is_refused_beside_the_form(admin_client: Client, loop: Loop, agent: str):
    loop.correct()
    loop.freeze()

    refused = admin_client.post(f"{agent}freeze/", {"set_name": "support.corrections", "version": "1.0.0"})
    nonsense = admin_client.post(f"{agent}freeze/", {"set_name": "support.corrections", "version": "one"})

    assert (refused.status_code, nonsense.status_code) == (422, 422)
    assert "This version exists already." in text_of(refused.content.decode())
    assert "A version is three numbers" in text_of(nonsense.content.decode())
    assert TestSetVersion.objects.count() == 1


def test_cases_that_say_nothing_are_left_out_and_counted(
    admin_client: Client, loop: Loop, agent: str, project: Project
):
    loop.correct()
    failed = RunFactory(project=project, status="failed")
    loop.ask("POST", f"{loop.base}/test-set/cases/from-run", {"runId": str(failed.run_id)}, status=201)

    page = text(admin_client, f"{agent}freeze/")

    assert "Exactly this 1 case will be frozen, in this order. 1 that says nothing yet is left out." in page
    assert "says nothing yet, not frozen" in text(admin_client, agent)


def test_nothing_to_freeze(admin_client: Client, agent: str):
    assert "There is nothing to freeze." in text(admin_client, f"{agent}freeze/")


def test_a_run_becomes_a_case_once(admin_client: Client, loop: Loop, agent: str):
    run_id = loop.run()

    first = admin_client.post(f"{agent}cases/from-run/", {"run_id": run_id})
    told = text(admin_client, agent)
    again = admin_client.post(f"{agent}cases/from-run/", {"run_id": run_id})

    assert (first["Location"], again["Location"]) == (agent, agent)
    assert "The run is a case now." in told
    assert "The run was a case already." in text(admin_client, agent)
    assert HandCase.objects.count() == 1


def test_pages_under_an_agent_are_among_the_agents(admin_client: Client, agent: str, loop: Loop):
    loop.correct()
    change = loop.change("pin", "1.1.0")["id"]

    pages = [admin_client.get(path) for path in (agent, f"{agent}freeze/", f"{agent}changes/{change}/")]

    current = [re.findall(r'aria-current="page">([^<]+)<', page.content.decode()) for page in pages]
    assert current == [["Agents"], ["Agents"], ["Agents"]]


@pytest.mark.parametrize(
    ("run_id", "words"),
    [
        ("nonsense", "Give the id of a run, as the run’s own page shows it."),
        ("00000000-0000-4000-8000-000000000000", "There is no such run."),
    ],
)
def test_a_run_that_is_not_there_is_refused_beside_the_field(admin_client: Client, agent: str, run_id: str, words: str):
    refused = admin_client.post(f"{agent}cases/from-run/", {"run_id": run_id})

    assert refused.status_code == 422
    assert words in text_of(refused.content.decode())
    assert HandCase.objects.count() == 0


def test_a_case_written_by_hand(admin_client: Client, agent: str):
    said = {"query": "Where is it?", "tool": "find_order", "arguments": '{"order": 7.0}', "agent_version": "1.0.0"}

    response = admin_client.post(f"{agent}cases/draft/", said)

    case = HandCase.objects.get()
    assert response["Location"] == agent
    assert case.input.text == '{"query":"Where is it?"}'
    expect = '{"decisions":{"verdict":"wrong","shouldCall":[{"tool":"find_order","args":{"order": 7.0}}]}}'
    assert case.expect.text == expect
    assert "Where is it?" in text(admin_client, agent)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"query": ""}, "This field is required."),
        ({"tool": ""}, "Say what it should answer, or which tool it should call."),
        ({"arguments": "[1]"}, "Arguments are a JSON object"),
        ({"agent_version": "new"}, "Name a version such as 1.4.0."),
        ({"agent_version": ""}, "agentVersion is needed"),
        ({"tool": "", "should_say": "Soon.", "arguments": '{"order": 7}'}, "Say which tool these arguments are for."),
    ],
)
def test_a_draft_that_is_refused_keeps_what_was_typed(
    admin_client: Client, agent: str, said: dict[str, str], words: str
):
    whole = {"query": "Where?", "tool": "find_order", "arguments": "", "agent_version": "1.0.0", "should_say": ""}

    refused = admin_client.post(f"{agent}cases/draft/", whole | said)

    assert refused.status_code == 422
    assert words in text_of(refused.content.decode())
    assert re.search(r'<details[^>]*id="draft"\s+open>', refused.content.decode())
    assert HandCase.objects.count() == 0


def test_a_case_is_offered_the_versions_its_agent_ran_in(admin_client: Client, project: Project, agent: str):
    RunFactory(project=project, subject_version="1.3.0")
    RunFactory(project=project, subject_version="1.2.0")
    RunFactory(project=project, subject_id="other", subject_version="7.0.0")
    FlowRunFactory(project=project, subject_id="support", subject_version="8.0.0")
    RunFactory(project=ProjectFactory(workspace=project.workspace), subject_version="9.0.0")

    html = admin_client.get(agent).content.decode()

    listed = re.search(r'<datalist id="known-version">(.*?)</datalist>', html, re.DOTALL)
    assert listed
    assert re.findall(r'<option value="([^"]*)">', listed[1]) == ["1.2.0", "1.3.0"]


def test_a_case_added_by_hand_can_be_taken_out_again(admin_client: Client, loop: Loop, agent: str):
    correction = loop.correct()
    loop.ask("POST", f"{loop.base}/test-set/cases/from-run", {"runId": loop.run()}, status=201)
    case = HandCase.objects.get()

    assert admin_client.get(agent).content.decode().count("/remove/") == 1
    assert admin_client.post(f"{agent}cases/{case.case_id}/remove/")["Location"] == agent
    assert "The case is out of the set." in text(admin_client, agent)
    assert admin_client.post(f"{agent}cases/{case.case_id}/remove/").status_code == 404
    assert admin_client.post(f"{agent}cases/{correction}/remove/").status_code == 409
    assert HandCase.objects.get().unregistered_at is not None


def test_a_viewer_sees_no_buttons_and_may_do_nothing(viewer_client: Client, loop: Loop, agent: str):
    correction = loop.correct()

    for path in (agent, f"{agent}freeze/"):
        assert "<button" not in viewer_client.get(path).content.decode().partition("<main")[2], path
    for path, said in (
        ("live/", {"action": "latest", "version": "1.1.0", "fixes": [correction]}),
        ("cases/from-run/", {"run_id": loop.run()}),
        ("cases/draft/", {"query": "?", "should_say": "!"}),
        ("freeze/", {"set_name": "mine", "version": "1.0.0"}),
    ):
        assert viewer_client.post(f"{agent}{path}", said).status_code == 403, path
    assert (LiveChange.objects.count(), HandCase.objects.count(), TestSetVersion.objects.count()) == (0, 0, 0)


def test_projects_of_others_are_not_there(client: Client, loop: Loop, agent: str):
    change = loop.change("pin", "1.1.0")["id"]
    client.force_login(person_with(ProjectFactory(), is_admin=True))

    for path in ("", "freeze/", f"changes/{change}/", "corrections.csv"):
        assert client.get(f"{agent}{path}").status_code == 404, path
    assert client.post(f"{agent}live/", {"action": "unpin"}).status_code == 404


def test_an_id_that_no_agent_can_have_is_not_there(admin_client: Client, project: Project):
    for path in ("", "freeze/", "corrections.csv"):
        assert admin_client.get(f"/agents/{project.id}/a%00b/{path}").status_code == 404, path
    assert admin_client.post(f"/agents/{project.id}/a%00b/live/", {"action": "unpin"}).status_code == 404


def test_a_change_of_another_agent_is_not_there(admin_client: Client, loop: Loop, agent: str, project: Project):
    change = loop.change("pin", "1.1.0")["id"]

    assert admin_client.get(f"/agents/{project.id}/other/changes/{change}/").status_code == 404


def test_fragments(admin_client: Client, loop: Loop, agent: str):
    loop.correct()
    change = loop.change("pin", "1.1.0")["id"]

    roots = {path: root_of(admin_client.get(f"{agent}{path}", headers=HTMX).content.decode()) for path in
             ("", "freeze/", f"changes/{change}/")}  # fmt: skip

    assert list(roots.values()) == ["ship", "freeze-cases", "settled"]


def test_hostile_words_stay_words(admin_client: Client, loop: Loop, agent: str):
    bad = "<script>alert(1)</script>"
    loop.correct(loop.run(input={"message": bad}), answer="wrong", why=bad, shouldSay=bad)
    change = loop.change("pin", "1.1.0", reason=bad)["id"]

    for path in ("", "freeze/", f"changes/{change}/"):
        html = admin_client.get(f"{agent}{path}").content.decode()
        assert "<script>alert" not in html, path
        assert "&lt;script&gt;alert(1)" in html, path


@pytest.mark.parametrize("path", ["", "freeze/", "changes/CHANGE/"])
def test_number_of_statements_does_not_grow(admin_client: Client, loop: Loop, project: Project, agent: str, path: str):
    counts = []
    for more in (1, 99):
        made = [str(row.id) for row in crowd(project, more)]
        change = loop.change("pin", f"1.{more}.0", fixes=made[: more // 2 + 1])["id"]
        with CaptureQueriesContext(connection) as asked:
            admin_client.get(f"{agent}{path}".replace("CHANGE", change))
        counts.append(len(asked))
        crowd(project, 1)

    assert counts[0] == counts[1]
