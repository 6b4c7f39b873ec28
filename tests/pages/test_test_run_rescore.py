"""Scoring a test run again on its page, with what people said since."""

import pytest
from django.test import Client

from kindgi_site.callers import Role
from kindgi_site.workspaces.models import Person, Project
from tests.api.expect import nothing_stored
from tests.factories import ProjectFactory, person_with
from tests.loop import Loop, output
from tests.pages.conftest import HTMX, text_of
from testsets.models import TestRun

BUTTON = "Score again with corrections made since"
RANKED = {"content": "?", "output": {"sources": [{"id": "faq-1"}, {"id": "faq-2"}]}}
LONGER = {"content": "?", "output": {"sources": [{"id": "faq-2"}, {"id": "faq-3"}]}}
RIGHT = {"key": "faq-2", "pointer": "/output/sources/1", "rank": 1, "verdict": "right"}
WRONG = {"key": "faq-3", "pointer": "/output/sources/1", "rank": 1, "verdict": "wrong"}


@pytest.fixture
def admin_client(admin: Person, client: Client) -> Client:
    client.force_login(admin)
    return client


@pytest.fixture
def behind(loop: Loop) -> str:
    """The run in which the new version gave its ranked list."""
    return loop.run(output=LONGER, replayOf="x")


@pytest.fixture
def graded(loop: Loop, behind: str) -> str:
    """A completed run of two cases; the output of one came from a run of its own."""
    listed = loop.correct(loop.run(output=RANKED), items=[RIGHT])
    called = loop.correct()
    loop.freeze()
    run_id = loop.start("1.1.0")
    loop.submit(run_id, {"caseId": listed, "output": LONGER, "runId": behind}, output(called))
    return run_id


@pytest.mark.parametrize("is_htmx", [False, True])
def test_it_leads_to_a_new_run_with_what_was_said_since(
    admin_client: Client, loop: Loop, graded: str, behind: str, is_htmx: bool
):
    path = f"/test-runs/{graded}/"
    before = text_of(admin_client.get(path).content.decode())
    record = loop.ask("GET", f"/v1{path[:-1]}")
    loop.correct(behind, items=[WRONG])

    response = admin_client.post(f"{path}rescore/", headers=HTMX if is_htmx else {})

    new = TestRun.objects.get(rescore_of=graded)
    assert (response.status_code, response["Location"]) == (302, f"/test-runs/{new.id}/")
    html = admin_client.get(response["Location"]).content.decode()
    assert BUTTON in before
    assert "Right items of the weight of its corrected items 100 %" in before
    assert "Right items of the weight of its corrected items 50 %" in text_of(html)
    assert f'href="{path}"' in html
    assert "scored again, from this run" in text_of(html)
    assert "cases without newer corrections 1" in text_of(html)
    assert loop.ask("GET", f"/v1{path[:-1]}") == record


def test_it_takes_an_administrator_of_the_set_s_project(loop: Loop, graded: str, project: Project):
    path = f"/test-runs/{graded}/"
    for role in (Role.VIEWER, Role.EDITOR):
        client = Client()
        client.force_login(person_with(project, role))

        with nothing_stored():
            refused = client.post(f"{path}rescore/")

        assert refused.status_code == 403
        assert BUTTON not in client.get(path).content.decode()


def test_it_takes_writing_where_the_run_was_made_too(loop: Loop, graded: str, project: Project):
    """An administrator of the set's project need not be one of the run's."""
    TestRun.objects.filter(id=graded).update(project=ProjectFactory(workspace=project.workspace))
    client = Client()
    client.force_login(person_with(project, Role.ADMIN))

    with nothing_stored():
        refused = client.post(f"/test-runs/{graded}/rescore/")

    assert refused.status_code == 403
    assert BUTTON not in client.get(f"/test-runs/{graded}/").content.decode()


@pytest.mark.parametrize("state", ["running", "cancelled", "failed", "dry"])
def test_only_a_completed_comparison_offers_it(admin_client: Client, loop: Loop, state: str):
    loop.correct()
    loop.freeze()
    run_id = loop.start(dryRun=state == "dry")
    if state in ("cancelled", "failed"):
        loop.ask("POST", f"/v1/test-runs/{run_id}/{'cancel' if state == 'cancelled' else 'complete'}")

    with nothing_stored():
        refused = admin_client.post(f"/test-runs/{run_id}/rescore/")

    assert refused.status_code == 409
    assert "Only a completed comparison can be scored again." in text_of(refused.content.decode())
    assert BUTTON not in admin_client.get(f"/test-runs/{run_id}/").content.decode()


def test_runs_of_other_workspaces_are_not_there(client: Client, graded: str):
    client.force_login(person_with(ProjectFactory(), Role.ADMIN))

    with nothing_stored():
        assert client.post(f"/test-runs/{graded}/rescore/").status_code == 404
