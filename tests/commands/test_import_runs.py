import io
import json
import sys
import tracemalloc
from uuid import uuid4

import pytest
from django.core.management.base import CommandError

from corrections.management.commands.import_runs import batches, read_lines
from corrections.models import Run, RunContent, RunTool
from tests.factories import ProjectFactory, RunFactory, WorkspaceFactory

BAD_UUID = "12345678-1234-1234-1234-12345678901"


def line_of(run_id=None, /, **other):
    """One line of a file: a completed turn, with whatever else is said put over it; None leaves a field out."""
    said = {
        "runId": str(run_id or uuid4()),
        "agent": {"id": "support", "version": "1.2.0"},
        "status": "completed",
        "input": {"message": "Where is it?"},
        "output": {"content": "On its way."},
        "completedAt": "2026-03-01T09:30:00Z",
        **other,
    }
    return json.dumps({name: value for name, value in said.items() if value is not None})


def running(run_id, **other):
    return line_of(run_id, status="running", output=None, completedAt=None, **other)


def everything_stored():
    tables = [Run.objects.order_by("id"), RunContent.objects.order_by("run"), RunTool.objects.order_by("id")]
    return [list(rows.values()) for rows in tables]


@pytest.fixture
def import_lines(manage, project, tmp_path):
    """Imports the lines into the Default project; what is printed is in `manage.last`."""
    path = tmp_path / "runs.jsonl"

    def run(*lines, more=()):
        path.write_text("".join(f"{line}\n" for line in lines))
        return manage("import_runs", path, "--workspace", project.workspace.slug, *more)

    return run


def refused(import_lines, *lines, more=()):
    with pytest.raises(CommandError) as failed:
        import_lines(*lines, more=more)
    assert failed.value.returncode == 1
    return str(failed.value)


def test_stores_what_a_line_says(import_lines, project):
    run_id = uuid4()

    said = import_lines(line_of(run_id, calls=[{"toolId": "find_order"}], participantId="p1"))

    run = Run.objects.get()
    assert said.out == "1 new, 0 unchanged, 0 changed, 0 failed\n"
    assert said.err == ""
    assert (run.run_id, run.project, run.workspace) == (run_id, project, project.workspace)
    assert (run.subject_id, run.subject_version, run.status, run.participant_id) == (
        "support",
        "1.2.0",
        "completed",
        "p1",
    )
    assert [tool.tool for tool in run.tools.all()] == ["find_order"]


def test_keeps_json_as_it_was_written(import_lines):
    output = r'{"z": 1.0, "a": [12345678901234567890, 1e400], "odd": "\ud800\u0000"}'

    import_lines(line_of(output={}).replace('"output": {}', f'"output": {output}'))

    assert RunContent.objects.get().output.text == output


def test_goes_into_the_named_project(import_lines, workspace):
    claims = ProjectFactory(workspace=workspace, slug="claims")

    import_lines(line_of(), line_of(projectId=str(claims.id)), more=["--project", "claims"])

    assert set(Run.objects.values_list("project", flat=True)) == {claims.id}


def test_running_it_again_changes_nothing(import_lines):
    lines = [line_of(), running(uuid4()), line_of(calls=[{"toolId": "find_order"}])]
    import_lines(*lines)
    before = everything_stored()

    said = import_lines(*lines)

    assert said.out == "0 new, 3 unchanged, 0 changed, 0 failed\n"
    assert everything_stored() == before


def test_a_run_that_went_on_is_changed(import_lines):
    run_id = uuid4()
    import_lines(running(run_id))
    Run.objects.update(updated_at="2026-01-01T00:00:00Z")

    said = import_lines(line_of(run_id))

    assert said.out == "0 new, 0 unchanged, 1 changed, 0 failed\n"
    assert Run.objects.get().status == "completed"


def test_bad_lines_are_reported_and_the_others_kept(import_lines, manage):
    finished = uuid4()
    good = [line_of(finished), line_of(), line_of()]
    lines = [
        good[0],
        "{",
        "",
        "[1]",
        good[1],
        line_of(BAD_UUID),
        line_of(status="done"),
        line_of(finished, input="something else"),
        line_of(projectId=str(uuid4())),
        "[" * 200 + "]" * 200,
        line_of(surprise=1),
        good[2],
    ]

    sentence = refused(import_lines, *lines)

    assert manage.last.out == "3 new, 0 unchanged, 0 changed, 8 failed\n"
    assert sentence == "8 of the lines could not be taken in."
    assert manage.last.err.splitlines() == [
        "line 2: This is not a JSON object.",
        "line 4: This is not a JSON object.",
        "line 6: runId: This must be a UUID.",
        "line 7: status: This is not one of the words allowed here.",
        "line 8: This run has finished, and this is not the same content.",
        "line 9: projectId: This is not the project that runs are imported to.",
        "line 10: The body nests deeper than 128 levels.",
        "line 11: The body has fields that are not known here.",
    ]
    assert {str(run_id) for run_id in Run.objects.values_list("run_id", flat=True)} == {
        json.loads(line)["runId"] for line in good
    }


def test_a_line_that_is_not_utf_8_is_reported(manage, project, tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_bytes(b"\xff\n" + line_of().encode())  # and the last line needs no end

    with pytest.raises(CommandError):
        manage("import_runs", path, "--workspace", project.workspace.slug)

    assert manage.last.err == "line 1: This is not a JSON object.\n"
    assert Run.objects.count() == 1


@pytest.mark.parametrize("bad", ["{", line_of(status="running")])  # the second is refused only by the service
def test_stops_at_the_first_error_and_keeps_those_before(import_lines, manage, bad):
    first, after = line_of(), line_of()

    refused(import_lines, first, bad, "{", after, more=["--stop-on-error"])

    assert manage.last.out == "1 new, 0 unchanged, 0 changed, 1 failed\n"
    assert manage.last.err.startswith("line 2: ")
    assert [str(run.run_id) for run in Run.objects.all()] == [json.loads(first)["runId"]]


def test_stopping_looks_at_no_later_batch(import_lines, manage):
    refused(import_lines, "{", *(line_of() for _ in range(60)), more=["--stop-on-error"])

    assert manage.last.out == "0 new, 0 unchanged, 0 changed, 1 failed\n"
    assert not Run.objects.exists()


def test_reads_standard_input(manage, project, monkeypatch):
    text = f"{line_of()}\n\n{line_of()}\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    said = manage("import_runs", "-", "--workspace", project.workspace.slug)

    assert said.out == "2 new, 0 unchanged, 0 changed, 0 failed\n"
    assert Run.objects.count() == 2


def test_shows_a_bar_on_a_terminal_only(import_lines, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal, file = Terminal(), io.StringIO()

    monkeypatch.setattr(sys, "stderr", terminal)
    import_lines(line_of())
    monkeypatch.setattr(sys, "stderr", file)
    import_lines(line_of())

    assert "B/s" in terminal.getvalue()
    assert file.getvalue() == ""


def test_the_same_id_in_another_workspace_is_another_run(import_lines):
    other = RunFactory(project=ProjectFactory(workspace=WorkspaceFactory()))

    said = import_lines(line_of(other.run_id))

    assert said.out.startswith("1 new")
    assert Run.objects.filter(run_id=other.run_id).count() == 2


def test_a_run_of_another_project_does_not_move(import_lines, manage, workspace):
    run = RunFactory(project=ProjectFactory(workspace=workspace))

    refused(import_lines, line_of(run.run_id))

    assert manage.last.err == "line 1: This run is in another project, and runs never move.\n"
    assert Run.objects.get().project == run.project


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--workspace", "nowhere"], "no workspace “nowhere”"),
        (["--project", "nowhere"], "no project “nowhere”"),
    ],
)
def test_refuses_what_is_not_there(import_lines, words, reason):
    with pytest.raises(CommandError, match=reason):
        import_lines(line_of(), more=words)

    assert not Run.objects.exists()


def test_refuses_a_file_that_is_not_there(manage, project, tmp_path):
    with pytest.raises(CommandError, match=r"none\.jsonl: No such file"):
        manage("import_runs", tmp_path / "none.jsonl", "--workspace", project.workspace.slug)


def test_refuses_a_standard_input_that_is_closed(manage, project, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)

    with pytest.raises(CommandError, match=r"^Standard input is closed\.$"):
        manage("import_runs", "-", "--workspace", project.workspace.slug)


def test_a_line_longer_than_a_body_may_be_is_skipped_whole(import_lines, manage, settings):
    settings.MAX_BODY_BYTES = 1000

    refused(import_lines, line_of(), line_of(input="x" * 5000), line_of())

    assert manage.last.err == "line 2: The line is longer than 1000 bytes.\n"
    assert Run.objects.count() == 2


@pytest.mark.parametrize(("content", "is_whole"), [(b"12345\n", True), (b"12345", True), (b"123456\n", False)])
def test_a_line_may_be_as_long_as_the_limit(content, is_whole):
    (line,) = read_lines(io.BytesIO(content), most=5)

    assert (line.raw == content, line.size) == (is_whole, len(content))


def test_lines_are_numbered_as_in_an_editor():
    lines = list(read_lines(io.BytesIO(b"a\n\n  \nb\nlonger than most\nc"), most=5))

    assert [(line.number, line.raw) for line in lines] == [(1, b"a\n"), (4, b"b\n"), (5, None), (6, b"c")]


def test_a_batch_has_bounds():
    small = list(batches(read_lines(io.BytesIO(b"x\n" * 120), most=10)))
    large = list(batches(read_lines(io.BytesIO((b"x" * 5_000_000 + b"\n") * 5), most=10_000_000)))

    assert [len(batch) for batch in small] == [50, 50, 20]
    assert [len(batch) for batch in large] == [2, 2, 1]


def test_memory_does_not_grow_with_the_file():
    class Endless(io.RawIOBase):
        """Lines of 100 kB that are made as they are read."""

        def __init__(self, lines):
            self.left = lines

        def readline(self, size=-1):
            self.left -= 1
            return b"x" * 100_000 + b"\n" if self.left >= 0 else b""

    def peak(lines):
        tracemalloc.start()
        for _batch in batches(read_lines(Endless(lines), most=200_000)):
            pass
        _now, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    assert peak(2000) < 1.1 * peak(200)
