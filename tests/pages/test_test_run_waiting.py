"""A test run that waits: how far it is, how outputs come in, handing a file in, ending it."""

import json
import re
from http import HTTPStatus

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.http import HttpResponse, StreamingHttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext

from corrections.vocabulary import Verdict
from kindgi_site.callers import Role
from kindgi_site.workspaces.models import Project
from tests.api.expect import nothing_stored
from tests.factories import ProjectFactory, crowd, person_with
from tests.loop import ANSWER, RIGHT_CALL, WRONG_CALL, Loop, output
from tests.pages.conftest import HTMX, VARY, root_of, text_of
from testsets.models import TestRun, TestRunOutput
from testsets.rules.grading import AnswerVerdict


@pytest.fixture
def editor_client(project: Project, client: Client) -> Client:
    """To write and to execute is enough."""
    client.force_login(person_with(project, Role.EDITOR))
    return client


@pytest.fixture
def viewer_client(project: Project) -> Client:
    client = Client()
    client.force_login(person_with(project, Role.VIEWER))
    return client


@pytest.fixture
def cases(loop: Loop) -> list[str]:
    """Four frozen cases, in order of the set."""
    made = [loop.correct() for _ in range(4)]
    loop.freeze()
    return made[::-1]


@pytest.fixture
def run_id(loop: Loop, cases: list[str]) -> str:
    return loop.start("1.1.0")


@pytest.fixture
def path(run_id: str) -> str:
    return f"/test-runs/{run_id}/"


def file_of(*lines: object) -> SimpleUploadedFile:
    text = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
    return SimpleUploadedFile("outputs.jsonl", text.encode())


def hand_in(client: Client, path: str, *lines: object, **options: object) -> HttpResponse:
    return client.post(f"{path}outputs/", {"file": file_of(*lines)}, **options)


def text(client: Client, path: str) -> str:
    response = client.get(path)
    assert response.status_code == HTTPStatus.OK, path
    return text_of(response.content.decode())


def test_it_says_how_far_it_is_and_how_to_send_with_its_own_ids(
    editor_client: Client, loop: Loop, cases: list[str], run_id: str, path: str
):
    loop.submit(run_id, output(cases[0]))

    html = editor_client.get(path).content.decode()
    page = text_of(html)

    assert "1 of 4 cases done" in page
    assert "Waiting for 3 outputs." in page
    assert '<progress class="progress" max="4" value="1"' in re.sub(r"\s+", " ", html)
    assert f"manage.py grade --run {run_id} --outputs outputs.jsonl --url http://testserver --key " in page
    assert f"POST http://testserver/v1/test-runs/{run_id}/outputs" in page
    assert f"GET http://testserver/v1/test-runs/{run_id}/cases" in page
    assert f'href="{path}cases.jsonl"' in html
    assert f'{{"caseId": "{min(cases[1:])}", ' in page


def test_by_htmx_it_is_the_waiting_part_alone(editor_client: Client, path: str):
    response = editor_client.get(path, headers=HTMX)

    assert root_of(response.content.decode()) == "test-run-waiting"
    assert set(response["Vary"].split(", ")) >= VARY


def test_a_case_is_done_when_each_repetition_is_in(editor_client: Client, loop: Loop, cases: list[str]):
    run_id = loop.start("1.1.0", repetitions=2)
    loop.submit(run_id, output(cases[0]), output(cases[0], repetition=1), output(cases[1]))

    page = text(editor_client, f"/test-runs/{run_id}/")

    assert "1 of 4 cases done" in page
    assert "Waiting for 5 outputs." in page
    assert "2 cases have no output yet and will count as errors." in page


def test_an_erased_case_is_waited_for_no_longer(editor_client: Client, loop: Loop, root_client):
    corrected = [loop.run(calls=[WRONG_CALL]) for _ in range(2)]
    for each in corrected:
        loop.correct(each)
    loop.freeze()
    run_id = loop.start("1.1.0")
    loop.erase(corrected[0], root_client)

    assert "0 of 1 case done" in text(editor_client, f"/test-runs/{run_id}/")


def test_the_cases_are_the_wire_s_a_line_each(
    viewer_client: Client, loop: Loop, cases: list[str], run_id: str, path: str
):
    loop.submit(run_id, output(cases[0]))

    response = viewer_client.get(f"{path}cases.jsonl")

    assert isinstance(response, StreamingHttpResponse)
    lines = b"".join(response.streaming_content).decode().splitlines()
    assert [json.loads(line) for line in lines] == loop.ask("GET", f"/v1/test-runs/{run_id}/cases")["data"]
    assert [json.loads(line)["remaining"] for line in lines] == [0, 1, 1, 1]
    assert response["Content-Disposition"] == 'attachment; filename="support.corrections-1.0.0-for-1.1.0.jsonl"'
    assert response["Content-Type"] == "application/x-ndjson"


def test_the_cases_are_read_a_few_at_a_time(
    viewer_client: Client, loop: Loop, project: Project, django_assert_max_num_queries
):
    crowd(project, 60)
    loop.freeze()
    response = viewer_client.get(f"/test-runs/{loop.start()}/cases.jsonl")

    with django_assert_max_num_queries(1):
        stream = iter(response.streaming_content)
        first = [next(stream) for _ in range(10)]
    assert len(first) == 10
    assert len(list(stream)) == 50


def test_a_file_is_taken_and_it_says_what_remains(editor_client: Client, cases: list[str], path: str):
    first = hand_in(editor_client, path, output(cases[0]), "", output(cases[1], [WRONG_CALL]))

    assert (first.status_code, first["Location"]) == (302, path)
    assert "2 outputs were accepted; 2 remain." in text(editor_client, path)
    assert TestRun.objects.get().remaining == 2


def test_by_htmx_it_says_so_in_place(editor_client: Client, cases: list[str], path: str):
    response = hand_in(editor_client, path, *map(output, cases[:3]), headers=HTMX)

    html = response.content.decode()
    assert (response.status_code, root_of(html)) == (200, "test-run-waiting")
    assert "3 outputs were accepted; 1 remains." in text_of(html)
    assert "3 of 4 cases done" in text_of(html)


@pytest.mark.parametrize("is_htmx", [False, True])
def test_the_last_output_completes_the_run(
    editor_client: Client, cases: list[str], path: str, run_id: str, loop: Loop, is_htmx: bool
):
    response = hand_in(editor_client, path, *map(output, cases), headers=HTMX if is_htmx else {})

    where = {"HX-Redirect": path} if is_htmx else {"Location": path}
    assert {name: response[name] for name in where} == where
    page = text(editor_client, path)
    assert "4 outputs were accepted; none remains." in page
    assert "100 % right: 4 of 4 cases that could be measured" in page
    assert loop.ask("GET", f"/v1/test-runs/{run_id}")["status"] == "completed"


def test_what_a_line_says_is_kept_as_over_v1(editor_client: Client, loop: Loop, cases: list[str], path: str):
    """The same entry handed in both ways is the same output."""
    line = (
        f'{{"caseId": "{cases[0]}", "output": {{"b":1.0, "a":12345678901234567890}}, "calls": [{{"toolId": "t"}}],'
        ' "answer": {"verdict": "right"}, "diverged": true, "refusedWrites": 2, "runId": "r-1"}'
    )
    hand_in(editor_client, path, line)
    loop.ask("POST", f"/v1/test-runs/{loop.start()}/outputs", f'{{"outputs":[{line}]}}')

    apart = ("id", "run_case_id", "created_at")
    page, wire = (
        {name: str(getattr(row, name)) for name in vars(row) if not name.startswith("_") and name not in apart}
        for row in TestRunOutput.objects.order_by("created_at")
    )
    assert page == wire


def judge(_question, _said):
    return AnswerVerdict(Verdict.RIGHT, "So it is.")


def test_a_judge_is_asked_about_a_file_too(editor_client: Client, loop: Loop, settings):
    case = loop.correct(answer="wrong", why="It is late.")
    loop.freeze()
    settings.TEST_JUDGE = f"{__name__}.judge"

    hand_in(editor_client, f"/test-runs/{loop.start()}/", {"caseId": case, "output": {"content": "New."}})

    assert TestRunOutput.objects.get().judged.value == {"verdict": "right", "reason": "So it is."}


def test_every_line_that_is_wrong_is_named_and_nothing_is_taken(
    editor_client: Client, loop: Loop, cases: list[str], run_id: str, path: str
):
    loop.submit(run_id, output(cases[0]))
    with nothing_stored():
        refused = hand_in(
            editor_client,
            path,
            output(cases[1]),
            "{",
            "",
            output(cases[0], [WRONG_CALL]),
            {"caseId": "<b>nobody</b>", "output": 1},
            output(cases[2], repetition=1),
            output(cases[2], rank=1),
            output(cases[1], [WRONG_CALL]),
            output(cases[0]),
        )

    html = refused.content.decode()
    assert (refused.status_code, refused.templates[0].name) == (422, "testsets/test_run_detail.html")
    assert [(line.number, line.problem) for line in refused.context["problems"]] == [
        (2, "This is not JSON."),
        (4, "Another output of this case was handed in for this repetition."),
        (5, "There is no case '<b>nobody</b>' in this test run."),
        (6, "This test run has 1 repetitions, counted from 0."),
        (7, "rank: There is no such field."),
        (8, "Another output of this case was handed in for this repetition."),
    ]
    assert "Nothing of this file was taken: 6 lines are refused." in text_of(html)
    assert "Line 4 Another output of this case" in text_of(html)
    assert "<b>nobody" not in html


def test_by_htmx_what_is_wrong_stands_in_place(editor_client: Client, path: str):
    with nothing_stored():
        refused = hand_in(editor_client, path, "[]", headers=HTMX)

    assert (refused.status_code, root_of(refused.content.decode())) == (422, "test-run-waiting")
    assert "Line 1 This is not a JSON object." in text_of(refused.content.decode())


def test_only_so_many_lines_are_named(editor_client: Client, path: str):
    with nothing_stored():
        page = text_of(hand_in(editor_client, path, *["{"] * 120).content.decode())

    assert "120 lines are refused." in page
    assert page.count("This is not JSON.") == 50
    assert "70 more lines are refused." in page


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({}, "This field is required."),
        ({"file": SimpleUploadedFile("outputs.jsonl", b"")}, "The submitted file is empty."),
        ({"file": SimpleUploadedFile("outputs.jsonl", b"\n \n")}, "There is no output in this file."),
    ],
    ids=["none", "empty", "blank"],
)
def test_a_file_without_an_output_is_refused(editor_client: Client, path: str, sent: dict[str, object], words: str):
    with nothing_stored():
        refused = editor_client.post(f"{path}outputs/", sent)

    assert refused.status_code == 422
    assert words in text_of(refused.content.decode())


def test_a_file_of_more_lines_than_a_run_can_lack_is_read_no_further(editor_client: Client, path: str):
    """A thousand cases, ten times each."""
    with nothing_stored():
        most = editor_client.post(f"{path}outputs/", {"file": SimpleUploadedFile("a.jsonl", b"{\n\n" * 10_000)})
        more = editor_client.post(f"{path}outputs/", {"file": SimpleUploadedFile("a.jsonl", b"{\n\n" * 10_001)})

    assert (most.status_code, more.status_code) == (422, 422)
    assert "10000 lines are refused." in text_of(most.content.decode())
    assert "This file has more than 10000 lines, which is more than is taken at once." in text_of(more.content.decode())
    assert "This is not JSON." not in more.content.decode()


def test_where_a_judge_is_asked_a_file_holds_no_more_than_a_request(
    editor_client: Client, cases: list[str], path: str, settings
):
    """What the judge has no time for would stay ungraded."""
    settings.TEST_JUDGE = f"{__name__}.judge"

    with nothing_stored():
        refused = hand_in(editor_client, path, *[output(cases[0])] * 101)
    hand_in(editor_client, path, *[output(cases[0])] * 100)

    assert refused.status_code == 422
    assert "This file has more than 100 lines" in text_of(refused.content.decode())
    page = text(editor_client, path)
    assert "100 outputs were accepted; 3 remain." in page
    assert "100 lines" in page


@pytest.mark.parametrize(("headers", "template"), [({}, "error.html"), (HTMX, "_error.html")])
def test_a_file_over_the_limit_of_a_body_is_refused_unread(
    editor_client: Client, cases: list[str], path: str, settings, headers: dict[str, str], template: str
):
    settings.MAX_BODY_BYTES = 2000
    with nothing_stored():
        refused = hand_in(editor_client, path, output(cases[0], note="x" * 2000), headers=headers)

    assert (refused.status_code, refused.templates[0].name) == (413, template)
    assert "script-src 'self'" in refused["Content-Security-Policy"]
    assert "larger than the 2000 bytes" in text_of(refused.content.decode())
    assert "At most 2.0 KB and 10000 lines at once" in text(editor_client, path).replace("\xa0", " ")


def test_a_run_that_is_over_takes_nothing(editor_client: Client, loop: Loop, cases: list[str], run_id: str, path: str):
    loop.submit(run_id, *map(output, cases))
    for step in ("outputs", "complete", "cancel"):
        with nothing_stored():
            refused = editor_client.post(f"{path}{step}/", {"file": file_of(output(cases[0]))})
        assert refused.status_code == 409, step
        assert f"{path}{step}/" not in editor_client.get(path).content.decode()


def test_complete_now_says_how_many_are_missing_and_counts_them_as_errors(
    editor_client: Client, loop: Loop, cases: list[str], run_id: str, path: str
):
    loop.submit(run_id, output(cases[0]), output(cases[1]))

    assert "2 cases have no output yet and will count as errors." in text(editor_client, path)
    assert editor_client.post(f"{path}complete/")["Location"] == path
    assert "error 2" in text(editor_client, path)
    summary = loop.ask("GET", f"/v1/test-runs/{run_id}")["result"]["summary"]
    assert (summary["status"], summary["errors"]) == ("partial", 2)


def test_with_an_output_of_each_case_nothing_is_an_error(editor_client: Client, loop: Loop, cases: list[str]):
    run_id = loop.start("1.1.0", repetitions=2)
    loop.submit(run_id, *map(output, cases))
    path = f"/test-runs/{run_id}/"

    assert "Every case has an output; repetitions that are missing are left out." in text(editor_client, path)
    editor_client.post(f"{path}complete/")
    assert loop.ask("GET", f"/v1/test-runs/{run_id}")["result"]["summary"]["errors"] == 0


def test_cancel_keeps_why(editor_client: Client, path: str):
    response = editor_client.post(f"{path}cancel/", {"reason": "The <b>wrong</b> version."})

    assert response["Location"] == path
    page = editor_client.get(path).content.decode()
    assert "This test run was cancelled. The <b>wrong</b> version." in text_of(page)
    assert "<b>wrong" not in page


@pytest.mark.parametrize("reason", ["x" * 2001, "a\0b"])
def test_a_reason_that_cannot_be_kept_is_refused_in_place(editor_client: Client, path: str, reason: str):
    with nothing_stored():
        refused = editor_client.post(f"{path}cancel/", {"reason": reason})

    assert refused.status_code == 422
    assert '<details class="fold" open>' in refused.content.decode()


def test_what_ends_a_run_is_asked_twice_without_a_script(editor_client: Client, path: str):
    """Each button stands inside a fold that the browser opens by itself."""
    html = editor_client.get(path).content.decode()

    for step in ("complete", "cancel"):
        before = html[: html.index(f'action="{path}{step}/"')]
        assert before.rindex("<details") > before.rfind("</details>")


def test_who_only_reads_sees_how_far_it_is_and_may_do_nothing(viewer_client: Client, cases: list[str], path: str):
    html = viewer_client.get(path).content.decode()

    assert "0 of 4 cases done" in text_of(html)
    assert "manage.py grade" not in html
    for step in ("outputs", "complete", "cancel"):
        with nothing_stored():
            refused = viewer_client.post(f"{path}{step}/", {"file": file_of(output(cases[0]))})
        assert refused.status_code == 403, step
        assert f"{path}{step}/" not in html


def test_runs_of_other_workspaces_are_not_there(client: Client, cases: list[str], path: str):
    client.force_login(person_with(ProjectFactory(), Role.ADMIN))

    for step in ("outputs", "complete", "cancel"):
        with nothing_stored():
            assert client.post(f"{path}{step}/", {"file": file_of(output(cases[0]))}).status_code == 404, step
    assert client.get(f"{path}cases.jsonl").status_code == 404


def test_statements_do_not_grow(editor_client: Client, loop: Loop, project: Project):
    counts = []
    for more, version in ((2, "1.0.0"), (46, "1.1.0")):
        crowd(project, more)
        loop.freeze(version)
        run_id = loop.start("2.0.0", testSetVersion=version)
        path = f"/test-runs/{run_id}/"
        names = [case["caseId"] for case in loop.ask("GET", f"/v1/test-runs/{run_id}/cases")["data"]]
        entries = [{"caseId": name, "output": ANSWER, "calls": [RIGHT_CALL]} for name in names[1:]]
        with CaptureQueriesContext(connection) as page:
            editor_client.get(path)
        with CaptureQueriesContext(connection) as refused:
            hand_in(editor_client, path, *entries, "{")
        with CaptureQueriesContext(connection) as taken:
            hand_in(editor_client, path, *entries)
        counts.append((len(page), len(refused), len(taken)))

    assert counts == [(8, 11, 18)] * 2
