"""`manage.py grade`: what it prints, writes and exits with, here and at another server."""

import io
import json
import os
import signal
import sys
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command

from corrections.vocabulary import Verdict
from tests.api.expect import nothing_stored
from tests.at_once import at_once
from tests.commands.grading import RIGHT, SET, WRONG, Grading
from tests.loop import graded_again, output
from testsets.models import TestRun, TestRunOutput
from testsets.rules.grading import AnswerVerdict

CALLED_WRONG = "  find_order was called with other arguments (/order: wanted 7, got 8)"


@pytest.fixture
def grade(loop, manage, tmp_path):
    return Grading(loop, manage, tmp_path, ["--workspace", loop.project.workspace.slug])


def test_all_right(grade):
    grade.freeze(2)

    assert grade("1.1.0", RIGHT, RIGHT) == (
        0,
        ["There is no earlier test run of another version.", "      new, right  2", "     share right  100.0%"],
    )
    assert grade.manage.last.err == ""
    run = TestRun.objects.get()
    assert (run.status, run.subject_version, run.requested_by_id) == ("completed", "1.1.0", "grade")


def test_against_the_last_run_of_the_previous_version(grade):
    grade.freeze(4)
    grade("1.0.0", WRONG, WRONG, WRONG, WRONG)
    grade("1.0.0", WRONG, WRONG, RIGHT, RIGHT)
    grade("1.1.0", RIGHT, RIGHT, RIGHT, RIGHT)
    fixed, still_wrong, regressed, right = grade.cases

    status, lines = grade("1.2.0", RIGHT, WRONG, WRONG, RIGHT)

    assert status == 1
    assert lines == [
        "Against version 1.1.0.",
        "       regressed  2",
        "           right  2",
        "     share right  50.0%",
        "",
        f"regressed: {regressed}",
        CALLED_WRONG,
        "",
        f"regressed: {still_wrong}",
        CALLED_WRONG,
    ]
    assert fixed != right


def test_fixed_regressed_still_wrong_and_right(grade):
    grade.freeze(4)
    grade("1.0.0", WRONG, WRONG, RIGHT, RIGHT)
    _fixed, still_wrong, regressed, _right = grade.cases

    status, lines = grade("1.1.0", RIGHT, WRONG, WRONG, RIGHT)

    assert (status, lines) == (
        1,
        [
            "Against version 1.0.0.",
            "       regressed  1",
            "           fixed  1",
            "     still wrong  1",
            "           right  1",
            "     share right  50.0%",
            "",
            f"regressed: {regressed}",
            CALLED_WRONG,
            "",
            f"still wrong: {still_wrong}",
            CALLED_WRONG,
        ],
    )
    assert grade.manage.last.err == "Less than 100% is right.\n"


def test_the_version_before_is_found_behind_any_number_of_test_runs_of_this_one(grade):
    grade.freeze(1)
    grade("1.0.0", RIGHT)
    grade("1.1.0", RIGHT)
    graded_again(TestRun.objects.get(subject_version="1.1.0").id, 120)

    assert grade("1.1.0", WRONG)[1][:2] == ["Against version 1.0.0.", "       regressed  1"]


def test_what_was_graded_since_a_run_began_to_wait_is_not_before_it(grade):
    grade.freeze(1)
    waiting = grade.loop.start("1.1.0")
    grade("1.2.0", RIGHT)

    assert grade.feed(waiting, WRONG)[1][0] == "There is no earlier test run of another version."


def test_the_same_version_and_dry_runs_are_nothing_to_compare_with(grade, loop):
    grade.freeze(1)
    loop.start("0.9.0", dryRun=True)
    grade("1.1.0", WRONG)

    assert grade("1.1.0", RIGHT)[1][0] == "There is no earlier test run of another version."


def test_not_measurable_missing_and_erased(grade, loop, root_client):
    grade.freeze(2)
    erased, unknown = loop.run(), loop.correct()
    grade.cases.append(loop.correct(erased))
    loop.freeze("1.1.0")
    loop.erase(erased, root_client)
    first, second, _gone = grade.cases
    without_calls = {"caseId": unknown, "output": {"content": "Hm."}}
    grade.write(json.dumps(output(first, RIGHT)), json.dumps(without_calls))

    status, lines = grade("2.0.0", name=f"{SET}@1.1.0", more=["--min-right", "0.5"])

    assert (status, lines) == (
        0,
        [
            "There is no earlier test run of another version.",
            "      new, right  1",
            "  not measurable  1",
            "           error  1",
            "          erased  1",
            "     share right  50.0%",
            "",
            f"error: {second}",
            "  error: no output submitted",
        ],
    )


def test_nothing_measurable_is_no_success(grade):
    grade.freeze(1)
    grade.write(json.dumps({"caseId": grade.cases[0], "output": {"content": "Hm."}}))

    status, lines = grade("1.1.0", more=["--min-right", "0"])

    assert (status, lines[-1]) == (1, "     share right  nothing could be measured")
    assert grade.manage.last.err == "Nothing could be measured.\n"


def test_too_little_is_told_as_exactly_as_it_was_asked(grade):
    grade.freeze(1)

    assert grade("1.1.0", WRONG, more=["--min-right", "0.999"])[0] == 1
    assert grade.manage.last.err == "Less than 99.9% is right.\n"


@pytest.mark.parametrize(("least", "status"), [("0.5", 0), ("0.51", 1), ("0", 0), ("1", 1)])
def test_the_least_share_that_must_be_right(grade, least, status):
    grade.freeze(2)

    assert grade("1.1.0", RIGHT, WRONG, more=["--min-right", least])[0] == status


@pytest.mark.parametrize("share", ["1.1", "-0.1", "nan", "half", "90%"])
def test_a_share_that_is_none(grade, share):
    grade.freeze(1)
    with nothing_stored():
        refused = grade.refused(RIGHT, more=["--min-right", share])
    assert f"argument --min-right: {share!r} is not a share from 0 to 1" in refused


def test_a_version_of_the_set(grade, loop):
    grade.freeze(1)
    loop.correct()
    loop.freeze("2.0.0")

    assert grade("1.1.0", RIGHT, name=f"{SET}@1.0.0")[0] == 0
    assert grade.reported().get("name") == f"{SET}@1.0.0"
    assert grade("1.1.0", RIGHT)[0] == 1, "the latest has two cases"


def test_the_junit_report(grade):
    grade.freeze(3)
    right, wrong, missing = grade.cases

    grade("1.1.0", RIGHT, WRONG)

    suite = grade.reported()
    assert suite.attrib == {
        "name": f"{SET}@1.0.0",
        "tests": "3",
        "failures": "1",
        "errors": "1",
        "skipped": "0",
    }
    told = {case.get("name"): [(part.tag, part.get("message"), part.text) for part in case] for case in suite}
    assert told == {
        right: [],
        wrong: [("failure", "new, wrong", CALLED_WRONG.strip())],
        missing: [("error", "error", "error: no output submitted")],
    }


def test_a_report_that_cannot_be_written(grade, tmp_path):
    grade.freeze(1)

    assert grade.refused(RIGHT, more=["--junit", tmp_path]) == f"{tmp_path} cannot be written: Is a directory."


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "Line 2: This is not JSON."),
        ("[]", "Line 2: This is not a JSON object."),
        ('{"output": 1}', "Line 2: caseId: This field is required."),
        ('{"caseId": "x"}', "Line 2: One of output, stopped and error is needed, and only one."),
    ],
)
def test_lines_that_are_no_outputs_start_nothing(grade, line, problem):
    grade.freeze(1)
    grade.write(json.dumps(output(grade.cases[0])), line)
    with nothing_stored():
        assert grade.refused() == problem


def test_a_file_that_is_not_there(grade):
    grade.freeze(1)
    with nothing_stored():
        assert grade.refused() == f"{grade.file} cannot be read: No such file or directory."


def test_outputs_that_are_refused_leave_no_run_waiting(grade):
    grade.freeze(1)
    grade.write('{"caseId": "x", "output": 1}')

    problem = grade.refused()

    assert problem.startswith("Line 1: ")
    run = TestRun.objects.get()
    assert (run.status, run.cancel_reason) == ("cancelled", problem)


@pytest.mark.parametrize("mark", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "a CI job's end"])
@pytest.mark.django_db(transaction=True)
def test_a_grading_that_is_stopped_leaves_no_run_waiting(grade, loop, settings, mark):
    """Stopped while a judge thinks, in the middle of the first batch. Run again, it starts afresh."""
    answered = loop.correct(answer="wrong", why="It is late.")
    loop.freeze()
    grade.write(json.dumps({"caseId": answered, "output": {"content": "New."}}))
    handler = signal.getsignal(signal.SIGTERM)
    settings.TEST_JUDGE = f"{__name__}.judge_stopped_by_{mark.name}"

    assert grade.refused() == "The grading was stopped."

    run = TestRun.objects.get()
    assert (run.status, run.cancel_reason, TestRunOutput.objects.count()) == (
        "cancelled",
        "The grading was stopped.",
        0,
    )
    assert signal.getsignal(signal.SIGTERM) == handler
    settings.TEST_JUDGE = ""
    grade("1.1.0")
    assert TestRun.objects.get(status="completed").subject_version == "1.1.0"


@pytest.mark.django_db(transaction=True)
def test_a_feeding_that_is_stopped_leaves_a_run_of_another_s_waiting(grade, loop, settings):
    answered = loop.correct(answer="wrong", why="It is late.")
    loop.freeze()
    waiting = loop.start()
    grade.write(json.dumps({"caseId": answered, "output": {"content": "New."}}))
    settings.TEST_JUDGE = f"{__name__}.judge_stopped_by_SIGINT"

    with nothing_stored(), pytest.raises(CommandError, match="The grading was stopped"):
        grade.feed(waiting)


@pytest.mark.django_db(transaction=True)
def test_in_a_thread_signals_are_left_to_the_program(grade):
    grade.freeze(1)

    assert at_once([lambda: grade("1.1.0", RIGHT)[0]]) == [0]


def test_a_judge_may_take_its_time_where_nobody_waits_for_an_answer(grade, loop, settings):
    answered = loop.correct(answer="wrong", why="It is late.")
    loop.freeze()
    grade.write(json.dumps({"caseId": answered, "output": {"content": "New."}}))
    settings.TEST_JUDGE, settings.JUDGE_BUDGET_SECONDS = f"{__name__}.judge_with_time", 0

    assert grade("1.1.0")[0] == 0


def judge_with_time(_question, _said):
    return AnswerVerdict(Verdict.RIGHT)


def judge_stopped_by_SIGINT(_question, _said):
    os.kill(os.getpid(), signal.SIGINT)


def judge_stopped_by_SIGTERM(_question, _said):
    os.kill(os.getpid(), signal.SIGTERM)


def test_a_byte_order_mark_is_no_part_of_the_first_line(grade):
    grade.freeze(1)
    grade.file.write_bytes(b"\xef\xbb\xbf" + json.dumps(output(grade.cases[0], RIGHT)).encode() + b"\r\n")

    assert grade("1.1.0")[0] == 0


def test_blank_lines_are_nothing(grade):
    grade.freeze(1)
    grade.write("", json.dumps(output(grade.cases[0], RIGHT)), "  ", "")

    assert grade("1.1.0")[0] == 0


def test_an_empty_file_is_all_errors(grade):
    grade.freeze(1)
    grade.write()

    assert grade("1.1.0")[0] == 1
    assert TestRun.objects.get().status == "failed"


def test_unknown_names(grade, manage):
    grade.freeze(1)
    with nothing_stored():
        assert grade.refused(RIGHT, name="nothing") == "There is no such test set."
        assert grade.refused(RIGHT, name=f"{SET}@9.9.9") == "There is no such test set."
        grade.where = ["--workspace", "nowhere"]
        assert grade.refused(RIGHT) == "There is no workspace “nowhere”."
        grade.where = []
        assert grade.refused(RIGHT) == "Name --workspace, or --url and --key."
        grade.where = ["--url", "http://127.0.0.1:9"]
        assert grade.refused(RIGHT) == "--url needs --key and --project with the project's UUID."


def test_the_same_output_a_hundred_times_is_one(grade):
    """Also after the last one, with which the run is over."""
    grade.freeze(2)
    first, second = (json.dumps(output(case, RIGHT)) for case in grade.cases)
    grade.write(*[first] * 99, second, *[first] * 99)

    assert grade("1.1.0")[0] == 0


def test_a_refusal_tells_the_lines_it_is_about(grade):
    grade.freeze(21)
    grade.write(*(json.dumps(output(case, RIGHT)) for case in grade.cases[:20]), "", '{"caseId": "x", "error": "y"}')

    assert grade.refused() == "Line 22: There is no case 'x' in this test run."

    grade.write(*(json.dumps(output(case, RIGHT)) for case in grade.cases[:3]), "", '{"caseId": "x", "error": "y"}')
    assert grade.refused() == "Lines 1 to 5: There is no case 'x' in this test run."


def test_a_run_that_waits_is_fed(grade):
    grade.freeze(2)
    grade("1.0.0", RIGHT, WRONG)
    waiting = grade.loop.start("1.1.0")

    assert grade.feed(waiting, RIGHT, RIGHT) == (
        0,
        ["Against version 1.0.0.", "           fixed  1", "           right  1", "     share right  100.0%"],
    )
    assert grade.reported().get("name") == f"{SET}@1.0.0"
    assert [(str(run.id), run.status) for run in TestRun.objects.all()[:1]] == [(waiting, "completed")]
    assert TestRun.objects.count() == 2


def test_what_a_waiting_run_lacks_is_an_error(grade):
    grade.freeze(2)
    waiting = grade.loop.start()

    assert grade.feed(waiting, RIGHT, more=["--min-right", "0.5"])[0] == 0
    assert TestRun.objects.get().status == "completed"


def test_a_waiting_run_of_a_flow_is_compared_with_the_flow_s(grade, loop):
    grade.freeze(1)
    for version in ("1.0.0", "1.1.0"):
        body = {"projectId": str(loop.project.id), "flowRef": {"flowId": "search", "version": version}}
        waiting = loop.ask("POST", f"/v1/test-sets/{SET}/runs", body, status=201)["runId"]
        _status, lines = grade.feed(waiting, RIGHT)

    assert lines[:2] == ["Against version 1.0.0.", "           right  1"]


def test_outputs_that_are_refused_leave_a_run_of_another_s_waiting(grade):
    grade.freeze(1)
    waiting = grade.loop.start()
    grade.write('{"caseId": "x", "output": 1}')

    with nothing_stored(), pytest.raises(CommandError, match="There is no case 'x'"):
        grade.feed(waiting)


@pytest.mark.parametrize(
    "words",
    [[], [SET], [SET, "--agent", "support"], [SET, "--agent", "support", "--version", "1.1.0", "--run", str(uuid4())]],
    ids=len,
)
def test_either_a_run_that_waits_or_all_that_a_new_one_needs(grade, words):
    grade.freeze(1)
    grade.write()
    with nothing_stored(), pytest.raises(CommandError) as problem:
        grade.said(*words)

    assert str(problem.value) == "Name SET, --agent and --version to start a test run, or --run for one that waits."


def test_a_run_that_is_not_there(grade):
    grade.freeze(1)
    with nothing_stored(), pytest.raises(CommandError, match="There is no such test run"):
        grade.feed(uuid4(), RIGHT)


def on_terminal(monkeypatch, is_terminal):
    class Stream(io.StringIO):
        def isatty(self):
            return is_terminal

    stream = Stream()
    monkeypatch.setattr(sys, "stderr", stream)
    return stream


@pytest.mark.parametrize("is_terminal", [True, False])
def test_progress_is_shown_at_a_terminal_only(grade, monkeypatch, is_terminal):
    grade.freeze(1)
    stream = on_terminal(monkeypatch, is_terminal)

    grade("1.1.0", RIGHT)

    assert ("1/1" in stream.getvalue()) is is_terminal
    assert "1/1" not in grade.manage.last.out


def test_content_does_nothing_to_a_terminal_or_to_xml(grade, loop):
    grade.freeze(0)
    case = loop.correct(answer="wrong", why="Late.")
    loop.freeze("2.0.0")
    answer = {"verdict": "wrong", "reason": "\x1b[2J\nright <b>&\ufffe\u202e"}
    grade.write(json.dumps({"caseId": case, "output": {"content": "x"}, "answer": answer}))

    _status, lines = grade("1.1.0")

    assert lines[-1] == "  answer: wrong ( [2J right <b>&\ufffe )".replace("\ufffe", " ")
    (failure,) = grade.reported()[0]
    assert failure.text == "answer: wrong (\ufffd[2J\nright <b>&\ufffd\u202e)"


def test_help_names_every_option(capsys):
    with pytest.raises(SystemExit):
        call_command("grade", "--help")
    assert "--min-right" in capsys.readouterr().out
