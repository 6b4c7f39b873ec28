"""Downloads: a version's cases and an agent's corrections, as JSONL and as CSV."""

import csv
import io
import json

import pytest
from django.http import StreamingHttpResponse
from django.test import Client

from kindgi_site.callers import Role
from kindgi_site.workspaces.models import Person, Project
from tests.factories import CorrectorGroupFactory, crowd, person_with
from tests.loop import WRONG_CALL, Loop
from testsets.presenters.flat import cell

CASES = "/test-sets/support.corrections/1.0.0/cases"


@pytest.fixture
def viewer_client(project: Project, client: Client) -> Client:
    """To read is enough."""
    client.force_login(person_with(project, Role.VIEWER))
    return client


def body(client: Client, path: str) -> str:
    response = client.get(path)
    assert response.status_code == 200, path
    assert isinstance(response, StreamingHttpResponse)
    return b"".join(response.streaming_content).decode("utf-8")


def rows(text: str) -> list[dict[str, str]]:
    assert text.startswith("\ufeff")
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline="")))


def test_cases_as_json_lines_are_the_wire_s(viewer_client: Client, loop: Loop):
    loop.correct(loop.run(input={"message": "one\ntwo"}, calls=[WRONG_CALL]))
    loop.correct()
    loop.freeze()

    lines = body(viewer_client, f"{CASES}.jsonl").splitlines()

    wire = loop.ask("GET", "/v1/test-sets/support.corrections/versions/1.0.0/cases")["data"]
    assert [json.loads(line) for line in lines] == wire


def test_cases_as_rows(viewer_client: Client, loop: Loop, admin: Person, project: Project):
    group = CorrectorGroupFactory(
        workspace=project.workspace, name="Experts", weight=2.5, principal_ids=[str(admin.id)]
    )
    run_id = loop.run(calls=[WRONG_CALL])
    case = loop.correct(
        run_id,
        decisions="wrong",
        shouldCall=[{"tool": "find_order", "args": {"order": 7}}],
        mustNotCall=["cancel_order"],
        answer="wrong",
        shouldSay="On Monday.",
        why="=1+1",
        correctorGroupId=str(group.id),
    )
    loop.freeze()
    made = loop.correction(case)["createdAt"]

    (row,) = rows(body(viewer_client, f"{CASES}.csv"))

    assert row == {
        "caseId": case,
        "runId": run_id,
        "kind": "agent",
        "subject": "support",
        "version": "1.0.0",
        "erased": "",
        "expert": "yes",
        "expected": "A run passes when it calls find_order with order = 7, and never cancel_order."
        " Its answer should say “On Monday.”",
        "decisions": "wrong",
        "shouldCall": '[{"tool": "find_order", "args": {"order": 7}}]',
        "mustNotCall": "cancel_order",
        "answer": "wrong",
        "shouldSay": "On Monday.",
        "why": "'=1+1",
        "itemsRight": "0",
        "itemsWrong": "1",
        "authors": admin.username,
        "groups": "Experts",
        "weights": "2.5",
        "times": made,
        "input": '{"message": "Where is my order?"}',
        "output": '{"content": "It arrives on Monday."}',
    }


def test_an_erased_case_is_a_row_without_words(viewer_client: Client, loop: Loop, root_client):
    run_id = loop.run(output={"content": "secret"})
    loop.correct(run_id, answer="wrong", why="secret")
    loop.freeze()
    loop.erase(run_id, root_client)

    (row,) = rows(body(viewer_client, f"{CASES}.csv"))

    assert (row["erased"], row["input"], row["output"], row["why"], row["expected"]) == ("yes", "", "", "", "")


def test_corrections_of_an_agent(viewer_client: Client, loop: Loop, admin: Person, project: Project):
    correction = loop.correct(loop.run(), answer="wrong", why="@cmd")
    loop.correct(loop.run(agent={"id": "other", "version": "1.0.0"}), answer="wrong", why="Late.")
    agent = f"/agents/{project.id}/support/corrections"

    (row,) = rows(body(viewer_client, f"{agent}.csv"))
    (line,) = body(viewer_client, f"{agent}.jsonl").splitlines()

    assert (row["id"], row["author"], row["why"], row["weight"]) == (correction, admin.username, "'@cmd", "1")
    said = json.loads(line)
    assert (said["id"], said["why"], said["author"], said["answer"]) == (correction, "@cmd", admin.username, "wrong")


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20"])
def test_a_cell_is_never_a_formula(start: str):
    assert cell(f"{start}1").startswith("'")


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\uff1d"])
@pytest.mark.parametrize("separator", [";", "\t", "\n"])
def test_no_formula_begins_where_another_separator_would_begin_a_cell(separator: str, sign: str):
    """Where a comma is a decimal point, spreadsheets part cells at semicolons, and take no quotes within one."""
    assert cell(f"Late{separator}{sign}1 {separator}{sign}2") == f"Late{separator}'{sign}1 {separator}'{sign}2"


@pytest.mark.parametrize("plain", ["", "1", "a=b", " =1", "'x", "a; b\nc\td", "a; =1"])
def test_other_cells_stay_as_they_are(plain: str):
    assert cell(plain) == plain


def test_files_are_named_and_never_kept(viewer_client: Client, loop: Loop):
    loop.correct()
    loop.freeze()

    response = viewer_client.get(f"{CASES}.csv")

    assert response["Content-Disposition"] == 'attachment; filename="support.corrections-1.0.0.csv"'
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert response["Cache-Control"] == "no-store"
    assert viewer_client.get(f"{CASES}.xml").status_code == 404


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_cases_are_read_a_few_at_a_time(
    viewer_client: Client, loop: Loop, project: Project, form: str, django_assert_max_num_queries
):
    crowd(project, 60)
    loop.freeze()

    response = viewer_client.get(f"{CASES}.{form}")

    # The head is sent before the second batch is asked for.
    with django_assert_max_num_queries(4):
        stream = iter(response.streaming_content)
        first = [next(stream) for _ in range(10)]
    assert len(first) == 10
    assert len(list(stream)) == 60 + (form == "csv") - 10
