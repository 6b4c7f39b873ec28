"""Starting a test run on a page: the form, what it starts, and what is refused."""

from uuid import UUID

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from kindgi_site.callers import Role
from kindgi_site.workspaces.models import Person, Project
from tests.api.expect import nothing_stored
from tests.api.set_bodies import publish
from tests.factories import ProjectFactory, crowd, person_with
from tests.loop import Loop
from tests.pages.conftest import HTMX, VARY, root_of, text_of
from testsets.models import TestRun

VERSION = "/test-sets/support.corrections/1.0.0/"
GRADE = f"{VERSION}grade/"


@pytest.fixture
def editor(project: Project) -> Person:
    """To write and to execute is enough."""
    return person_with(project, Role.EDITOR)


@pytest.fixture
def editor_client(editor: Person, client: Client) -> Client:
    client.force_login(editor)
    return client


@pytest.fixture
def viewer_client(project: Project) -> Client:
    client = Client()
    client.force_login(person_with(project, Role.VIEWER))
    return client


@pytest.fixture
def cases(loop: Loop) -> list[str]:
    """Three frozen cases."""
    made = [loop.correct() for _ in range(3)]
    loop.freeze()
    return made


def said(project: Project, /, **more: object) -> dict[str, object]:
    plain = {"project": project.id, "kind": "agent", "subject": "support", "subject_version": "1.1.0"}
    return plain | {"repetitions": 1, "k": 10, "group_weights": "as-recorded", "part": ""} | more


def test_the_form_names_what_the_set_was_frozen_from(editor_client: Client, project: Project, cases: list[str]):
    page = editor_client.get(GRADE)
    form = page.context["form"]

    assert (page.status_code, page.templates[0].name) == (200, "testsets/test_run_form.html")
    assert {name: form[name].value() for name in form.fields} == {
        "project": project.id,
        "kind": "agent",
        "subject": "support",
        "subject_version": None,
        "repetitions": 1,
        "k": 10,
        "group_weights": "as-recorded",
        "part": "",
        "seed": None,
        "hold_out_share": 0.3,
    }
    assert "It waits for the outputs of 3 cases." in text_of(page.content.decode())


def test_of_a_set_that_was_built_it_names_what_it_was_built_from(editor_client: Client, loop: Loop, cases: list[str]):
    loop.build()

    assert editor_client.get("/test-sets/built/1.0.0/grade/").context["form"]["subject"].value() == "support"


def test_by_htmx_it_is_the_form_alone(editor_client: Client, cases: list[str]):
    response = editor_client.get(GRADE, headers=HTMX)

    assert root_of(response.content.decode()) == "test-run-form"
    assert set(response["Vary"].split(", ")) >= VARY


def test_a_run_is_started_as_it_was_said(
    editor_client: Client, editor: Person, project: Project, cases: list[str], loop: Loop
):
    sample = {"part": "search", "seed": "spring", "hold_out_share": "0.34"}
    asked = said(project, repetitions=2, k=5, group_weights="experts-only", **sample)

    response = editor_client.post(GRADE, asked)

    run = TestRun.objects.get()
    assert (response.status_code, response["Location"]) == (302, f"/test-runs/{run.id}/")
    record = loop.ask("GET", f"/v1/test-runs/{run.id}")
    assert record == {
        "runId": str(run.id),
        "tenantId": str(project.workspace_id),
        "projectId": str(project.id),
        "testSetId": "support.corrections",
        "testSetVersion": "1.0.0",
        "kind": "corrections",
        "agentRef": {"agentId": "support", "version": "1.1.0"},
        "status": "running",
        "dryRun": False,
        "startedAt": record["startedAt"],
        "comparison": {
            "baseline": "recorded",
            "reads": "recorded",
            "repetitions": 2,
            "k": 5,
            "groupWeights": "experts-only",
            "sample": {"part": "search", "seed": "spring", "holdOutShare": 0.34},
        },
    }
    assert (run.remaining, run.requested_by_id) == (4, str(editor.id)), "two of three cases, twice each"


def test_a_flow_is_graded_with_all_cases_unless_a_part_is_chosen(
    editor_client: Client, project: Project, cases: list[str]
):
    editor_client.post(GRADE, said(project, kind="flow", subject="search", seed="unused"))

    run = TestRun.objects.get()
    assert (run.subject_kind, run.subject_id, run.sample, run.remaining) == ("flow", "search", None, 3)


def test_it_may_run_in_another_project_that_one_may_write(
    editor_client: Client, editor: Person, project: Project, cases: list[str]
):
    other = ProjectFactory(workspace=project.workspace, name="Other")
    unwritable = ProjectFactory(workspace=project.workspace, name="Unwritable")
    editor.project_roles.create(project=other, role=Role.EDITOR)
    editor.project_roles.create(project=unwritable, role=Role.VIEWER)

    offered = [str(choice) for _value, choice in editor_client.get(GRADE).context["form"].fields["project"].choices]
    editor_client.post(GRADE, said(project, project=other.id))

    assert offered == [project.name, "Other"]
    assert TestRun.objects.get().project == other


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"subject": ""}, "This field is required."),
        ({"subject": "x" * 201}, "at most 200 characters"),
        ({"subject_version": ""}, "This field is required."),
        ({"subject_version": "next"}, "Name a version such as 1.4.0."),
        ({"kind": "tool"}, "Select a valid choice."),
        ({"repetitions": 0}, "greater than or equal to 1"),
        ({"repetitions": 11}, "less than or equal to 10"),
        ({"k": 0}, "greater than or equal to 1"),
        ({"k": 101}, "less than or equal to 100"),
        ({"group_weights": "mine"}, "Select a valid choice."),
        ({"project": UUID(int=0)}, "Select a valid choice."),
        ({"part": "search", "hold_out_share": 0.3}, "A part needs a seed"),
        ({"part": "search", "seed": "s"}, "A part needs the share that is held out"),
        ({"part": "search", "seed": "s" * 201, "hold_out_share": 0.3}, "at most 200 characters"),
        ({"part": "search", "seed": "s", "hold_out_share": 0.05}, "greater than or equal to 0.1"),
        ({"part": "search", "seed": "s", "hold_out_share": 0.95}, "less than or equal to 0.9"),
        ({"part": "search", "seed": "s", "hold_out_share": "nan"}, "Enter a number."),
    ],
)
def test_what_is_wrong_stands_beside_the_form(
    editor_client: Client, project: Project, cases: list[str], more: dict[str, object], words: str
):
    with nothing_stored():
        refused = editor_client.post(GRADE, said(project, **more))

    assert (refused.status_code, refused.templates[0].name) == (422, "testsets/test_run_form.html")
    assert words in text_of(refused.content.decode())


def test_a_part_that_is_refused_is_not_folded_away(editor_client: Client, project: Project, cases: list[str]):
    refused = editor_client.post(GRADE, said(project, part="search")).content.decode()

    assert '<details class="fold">' in editor_client.get(GRADE).content.decode()
    assert '<details class="fold" open>' in refused


def test_what_the_service_refuses_stands_there_too(
    editor_client: Client, project: Project, loop: Loop, root_client, cases: list[str]
):
    """No case left, and a kind that is not graded here."""
    publish(loop)
    run_id = loop.run(calls=[])
    loop.correct(run_id)
    loop.build("1.0.0", "single")
    for corrected in {case["runId"] for case in loop.cases("1.0.0", "single")}:
        loop.erase(corrected, root_client)

    with nothing_stored():
        empty = editor_client.post("/test-sets/single/1.0.0/grade/", said(project))
        other_kind = editor_client.post("/test-sets/basics/1.0.0/grade/", said(project))

    assert (empty.status_code, other_kind.status_code) == (422, 422)
    assert "There is no case in this version to grade." in text_of(empty.content.decode())
    assert "This server cannot grade test sets of kind custom." in text_of(other_kind.content.decode())


def test_who_only_reads_is_told_so_and_may_not_start(viewer_client: Client, project: Project, cases: list[str]):
    page = text_of(viewer_client.get(GRADE).content.decode())

    with nothing_stored():
        refused = viewer_client.post(GRADE, said(project))

    assert "You cannot start test runs here." in page
    assert refused.status_code == 403
    assert "You need the execute permission on this project." in text_of(refused.content.decode())


def test_sets_of_other_workspaces_are_not_there(client: Client, project: Project, cases: list[str]):
    client.force_login(person_with(ProjectFactory(), Role.ADMIN))

    with nothing_stored():
        assert client.get(GRADE).status_code == 404
        assert client.post(GRADE, said(project)).status_code == 404


def test_the_way_there_is_shown_to_those_who_may(
    editor_client: Client, viewer_client: Client, project: Project, loop: Loop, cases: list[str]
):
    publish(loop)
    agent = f"/agents/{project.id}/support/"
    link = f'href="{GRADE}"'

    assert [link in editor_client.get(path).content.decode() for path in (VERSION, agent)] == [True, True]
    assert [link in viewer_client.get(path).content.decode() for path in (VERSION, agent)] == [False, False]
    assert "/grade/" not in editor_client.get("/test-sets/basics/1.0.0/").content.decode()


def test_an_agent_s_page_leads_to_its_newest_version_in_use(
    editor_client: Client, project: Project, loop: Loop, cases: list[str]
):
    agent = f"/agents/{project.id}/support/"
    for version in ("1.1.0", "1.2.0"):
        loop.freeze(version)
    loop.ask("POST", "/v1/test-sets/support.corrections/versions/1.2.0/unregister")

    assert 'href="/test-sets/support.corrections/1.1.0/grade/"' in editor_client.get(agent).content.decode()
    assert "/grade/" not in editor_client.get(f"/agents/{project.id}/nobody/").content.decode()


def test_names_are_text(editor_client: Client, project: Project, cases: list[str]):
    hostile = "<script>alert(1)</script>"

    page = editor_client.post(GRADE, said(project, subject=hostile, subject_version=hostile)).content.decode()

    assert "<script>alert" not in page


def test_statements_do_not_grow(editor_client: Client, project: Project, loop: Loop):
    counts = []
    for more, version in ((1, "1.0.0"), (99, "1.1.0")):
        crowd(project, more)
        loop.freeze(version)
        with CaptureQueriesContext(connection) as asked:
            editor_client.get(f"/test-sets/support.corrections/{version}/grade/")
        counts.append(len(asked))

    assert counts == [11, 11]
