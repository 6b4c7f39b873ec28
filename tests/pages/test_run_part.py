"""A part of a run to read: what is too long for the run's page comes when its fold is opened."""

import pytest
from django.test import Client

from corrections.models import Run
from kindgi_site.exact_json import JsonText
from kindgi_site.workspaces.models import Project
from tests.factories import RunFactory
from tests.pages.conftest import HTMX, VARY, root_of, text_of


@pytest.fixture
def long_run(project: Project) -> Run:
    return RunFactory(
        project=project,
        content__context=None,
        content__calls=JsonText.of(
            [
                {"toolId": "dump", "result": {"rows": [{"n": number, "<b>": "x"} for number in range(200)]}},
                {"toolId": "say", "result": "line one\nline <two>\n" + "z" * 3000},
                {"toolId": "nothing"},
            ]
        ),
    )


def test_page_and_fragment(reviewer_client: Client, long_run: Run):
    address = f"/runs/{long_run.run_id}/parts/call-1/?subject=support"
    page = reviewer_client.get(address)
    fragment = reviewer_client.get(address, headers=HTMX)

    assert page.templates[0].name == "corrections/run_part.html"
    assert fragment.templates[0].name == "corrections/_run_part.html"
    assert root_of(fragment.content.decode().partition("#}")[2] or fragment.content.decode()) == "part-call-1"
    assert set(fragment["Vary"].split(", ")) >= VARY
    assert f'href="/runs/{long_run.run_id}/?subject=support"' in page.content.decode()
    assert "&lt;b&gt;" in fragment.content.decode()
    assert "<b>" not in fragment.content.decode()
    assert "rows list of 200" in text_of(fragment.content.decode())


def test_a_long_text_is_read_as_text(reviewer_client: Client, long_run: Run):
    html = reviewer_client.get(f"/runs/{long_run.run_id}/parts/call-2/", headers=HTMX).content.decode()

    assert '<p class="typed">line one\nline &lt;two&gt;\nzzz' in html


@pytest.mark.parametrize("part", ["input", "output", "calls"])
def test_each_part_is_a_tree(reviewer_client: Client, long_run: Run, part: str):
    html = reviewer_client.get(f"/runs/{long_run.run_id}/parts/{part}/").content.decode()

    assert '<ul class="tree">' in html


@pytest.mark.parametrize("part", ["context", "nonsense", "call-3", "call-4", "call-0"])
def test_parts_that_are_not_there(reviewer_client: Client, long_run: Run, part: str):
    assert reviewer_client.get(f"/runs/{long_run.run_id}/parts/{part}/").status_code == 404


def test_runs_of_others_have_no_parts(reviewer_client: Client):
    assert reviewer_client.get(f"/runs/{RunFactory().run_id}/parts/input/").status_code == 404
