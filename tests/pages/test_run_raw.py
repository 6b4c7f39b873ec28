"""A part of a run as it was sent, for reading and copying."""

import json

import pytest
from django.test import Client

from corrections.models import Run
from kindgi_site.exact_json import JsonText
from kindgi_site.workspaces.models import Project
from tests.factories import RunCopyFactory, RunFactory


@pytest.fixture
def exact(project: Project) -> Run:
    return RunFactory(
        project=project,
        segments=JsonText("[]"),
        content__input=JsonText('{"b": 1.0, "a": "<script>\\ud800"}'),
        content__context=None,
        content__calls=JsonText('[{"toolId": "x", "arguments": {"n": 1.0}, "result": "<b>", "error": "no"}]'),
    )


def test_parts_come_as_they_were_sent_and_as_text(reviewer_client: Client, exact: Run):
    response = reviewer_client.get(f"/runs/{exact.run_id}/raw/input/")

    assert response.content == b'{"b": 1.0, "a": "<script>\\ud800"}'
    assert response["Content-Type"] == "text/plain; charset=utf-8"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Disposition"] == f'inline; filename="{exact.run_id}-input.txt"'


@pytest.mark.parametrize("part", ["output", "calls", "segments"])
def test_each_part(reviewer_client: Client, exact: Run, part: str):
    stored = exact.segments if part == "segments" else getattr(exact.content, part)

    assert reviewer_client.get(f"/runs/{exact.run_id}/raw/{part}/").content.decode() == stored.text


def test_one_call(reviewer_client: Client, exact: Run):
    text = reviewer_client.get(f"/runs/{exact.run_id}/raw/call-1/").content.decode()

    assert json.loads(text) == {"tool": "x", "arguments": {"n": 1.0}, "result": "<b>", "error": "no"}
    assert "1.0" in text


@pytest.mark.parametrize("part", ["context", "nonsense", "call-0", "call-2", "call-x", "call-", "call-99999999"])
def test_parts_that_are_not_there(reviewer_client: Client, exact: Run, part: str):
    assert reviewer_client.get(f"/runs/{exact.run_id}/raw/{part}/").status_code == 404


def test_the_copy_is_what_is_read_once_there_is_one(reviewer_client: Client, exact: Run):
    RunCopyFactory(project=exact.project, run_id=exact.run_id, input=JsonText('"then"'))

    assert reviewer_client.get(f"/runs/{exact.run_id}/raw/input/").content == b'"then"'


def test_runs_of_others_have_no_parts(reviewer_client: Client):
    assert reviewer_client.get(f"/runs/{RunFactory().run_id}/raw/input/").status_code == 404
