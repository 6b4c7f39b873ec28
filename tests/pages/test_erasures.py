"""Erasing at a page, and the receipts."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from corrections.models import Erasure, Run
from kindgi_site.callers import Role
from kindgi_site.workspaces.models import Person, Project
from tests.factories import CorrectionFactory, ProjectFactory, RunCopyFactory, RunFactory, person_with
from tests.pages.conftest import HTMX, root_of, text_of

FIRST = datetime(2026, 11, 2, 9, tzinfo=UTC)
MEANT = {"understood": "on"}


@pytest.fixture
def boss(project: Project) -> Person:
    return person_with(project, None, is_admin=True)


@pytest.fixture
def boss_client(boss: Person, client: Client) -> Client:
    client.force_login(boss)
    return client


def receipt(project: Project, **more: object) -> Erasure:
    said = {"selector_kind": "run", "status": "completed", "requested_by_kind": "user", "requested_by_id": "somebody"}
    return Erasure.objects.create(
        workspace=project.workspace, counts={"runs": 1, "copies": 2}, completed_at=FIRST, **said | more
    )


def test_the_runs_page_leads_there_for_an_administrator_only(boss_client: Client, reviewer: Person, run: Run):
    for_boss = boss_client.get(f"/runs/{run.run_id}/").content.decode()
    boss_client.force_login(reviewer)
    for_reviewer = boss_client.get(f"/runs/{run.run_id}/").content.decode()

    address = f'href="/runs/{run.run_id}/erase/"'
    assert address in for_boss
    assert address not in for_reviewer


def test_it_says_what_will_be_cleared(boss_client: Client, project: Project, run: Run):
    copy = RunCopyFactory(project=project, run_id=run.run_id)
    CorrectionFactory(copy=copy)
    RunFactory(project=project, replay_of=str(run.run_id))

    page = boss_client.get(f"/runs/{run.run_id}/erase/")
    fragment = boss_client.get(f"/runs/{run.run_id}/erase/", headers=HTMX)

    said = text_of(page.content.decode())
    assert "the words of 1 correction; its verdicts stay" in said
    assert "1 replay of it" in said
    assert "the copy that is kept with its corrections" in said
    assert root_of(fragment.content.decode()) == "erasure-form"
    assert not Erasure.objects.exists()


@pytest.mark.parametrize("htmx", [False, True], ids=["page", "htmx"])
def test_without_the_tick_nothing_is_erased(boss_client: Client, run: Run, htmx: bool):
    response = boss_client.post(f"/runs/{run.run_id}/erase/", headers=HTMX if htmx else {})

    assert response.status_code == 422
    assert "Tick this first." in text_of(response.content.decode())
    assert not Erasure.objects.exists()
    assert Run.objects.get().erased_at is None


def test_erasing_leads_to_the_receipt(boss_client: Client, boss: Person, run: Run):
    response = boss_client.post(f"/runs/{run.run_id}/erase/", MEANT)

    made = Erasure.objects.get()
    assert response["Location"] == f"/erasures/{made.id}/"
    assert Run.objects.get().erased_at is not None
    said = text_of(boss_client.get(response["Location"]).content.decode())
    assert f"Cleared A run just now asked for by {boss.username}" in said
    assert "what was called and what was answered 1" in said
    assert str(run.run_id) not in said


def test_a_second_time_says_so(boss_client: Client, run: Run):
    boss_client.post(f"/runs/{run.run_id}/erase/", MEANT)

    response = boss_client.post(f"/runs/{run.run_id}/erase/", MEANT, follow=True)

    assert "The run had been erased before." in text_of(response.content.decode())
    assert Erasure.objects.count() == 1


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"kind": "participant", "selector": "end-user-1"}, "Tick this first."),
        ({"kind": "participant", "selector": "", **MEANT}, "This field is required"),
        ({"kind": "conversation", "selector": "end-user-1", **MEANT}, "The id of a conversation is a UUID."),
        ({"kind": "run", "selector": "end-user-1", **MEANT}, "Select a valid choice"),
    ],
)
def test_forgetting_needs_to_be_whole(boss_client: Client, data: dict[str, str], words: str):
    response = boss_client.post("/erasures/new/", data)

    assert response.status_code == 422
    assert words in text_of(response.content.decode())
    assert not Erasure.objects.exists()


@pytest.mark.parametrize("kind", ["participant", "conversation"])
def test_forgetting_an_end_user_or_a_conversation(boss_client: Client, project: Project, kind: str):
    run = RunFactory(project=project, participant_id="end-user-1")
    other = RunFactory(project=project, participant_id="end-user-2")
    selector = "end-user-1" if kind == "participant" else str(run.run_id)

    response = boss_client.post("/erasures/new/", {"kind": kind, "selector": selector, **MEANT})

    assert response["Location"] == f"/erasures/{Erasure.objects.get().id}/"
    erased = {one.run_id: one.erased_at is not None for one in Run.objects.all()}
    assert erased == {run.run_id: True, other.run_id: False}


@pytest.mark.parametrize("htmx", [False, True], ids=["page", "htmx"])
def test_the_list(boss_client: Client, project: Project, htmx: bool):
    receipt(project)
    receipt(ProjectFactory())

    response = boss_client.get("/erasures/", headers=HTMX if htmx else {})

    assert [(row.of, row.who, row.total) for row in response.context["rows"]] == [("A run", "A program", 3)]
    assert response.templates[0].name == f"corrections/{'_erasure_table' if htmx else 'erasure_list'}.html"


def test_pages_of_the_list(boss_client: Client, project: Project):
    for number in range(35):
        receipt(project, created_at=FIRST + timedelta(minutes=number))

    first = boss_client.get("/erasures/").context
    second = boss_client.get(f"/erasures/?before={first['older']}").context
    back = boss_client.get(f"/erasures/?after={second['newer']}").context

    assert [len(page["rows"]) for page in (first, second, back)] == [30, 5, 30]
    assert [row.erasure.id for row in back["rows"]] == [row.erasure.id for row in first["rows"]]


@pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR, Role.ADMIN])
def test_others_are_refused(client: Client, project: Project, run: Run, role: Role):
    made = receipt(project)
    client.force_login(person_with(project, role))

    for address in ("/erasures/", "/erasures/new/", f"/erasures/{made.id}/", f"/runs/{run.run_id}/erase/"):
        assert client.get(address).status_code == 403
    assert client.post(f"/runs/{run.run_id}/erase/", MEANT).status_code == 403
    assert client.post("/erasures/new/", {"kind": "participant", "selector": "x", **MEANT}).status_code == 403
    assert Erasure.objects.count() == 1
    assert Run.objects.get().erased_at is None


def test_another_workspaces_is_not_there(boss_client: Client):
    elsewhere = ProjectFactory()
    run = RunFactory(project=elsewhere)

    assert boss_client.get(f"/erasures/{receipt(elsewhere).id}/").status_code == 404
    assert boss_client.get(f"/runs/{run.run_id}/erase/").status_code == 404
    assert boss_client.post(f"/runs/{run.run_id}/erase/", MEANT).status_code == 404


def test_statements_do_not_grow_with_the_rows(boss_client: Client, project: Project):
    def statements() -> int:
        with CaptureQueriesContext(connection) as seen:
            assert boss_client.get("/erasures/").status_code == 200
        return len(seen)

    receipt(project)
    for_one = statements()
    for _number in range(29):
        receipt(project)

    assert statements() == for_one
