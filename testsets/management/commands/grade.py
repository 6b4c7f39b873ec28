"""`manage.py grade`: grade an agent's new version with a test set, as a step of a CI job."""

import signal
import sys
import threading
from argparse import ArgumentTypeError
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError, CommandParser
from tqdm import tqdm

from kindgi_site.callers import Caller
from kindgi_site.workspaces.management.operators import OperatorCommand, slug_argument, workspace_of
from kindgi_site.workspaces.services.people import project_of
from testsets.graders import Grader, GraderError, LocalGrader, RemoteGrader, Wire
from testsets.outputs import read_lines
from testsets.reports import junit, table
from testsets.rules.standing import Compared, compared, share_right

# Few enough for a judge to be through with them before anybody hangs up.
BATCH = 20
BATCH_BYTES = 1_000_000
MAX_REASON = 2000
STOPPED = "The grading was stopped."

# A line's number in the file, and its text.
Line = tuple[int, bytes]


class Command(OperatorCommand):
    help = (
        "Grade the outputs of an agent's version with a test set, print what got fixed and what came back, and end"
        " with status 1 when too little is right."
    )

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        # --version is the agent's here, not Django's.
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "set", nargs="?", metavar="SET[@VERSION]", help="the test set; its latest version unless one is named"
        )
        parser.add_argument(
            "--outputs", required=True, metavar="FILE.jsonl", help="a line for each output: caseId, output, calls …"
        )
        parser.add_argument("--agent", metavar="ID")
        parser.add_argument("--version", metavar="V", help="the agent's version that gave the outputs")
        parser.add_argument(
            "--run", type=UUID, metavar="UUID", help="a test run that waits for outputs, instead of starting one"
        )
        parser.add_argument("--junit", metavar="FILE", help="write a JUnit report there")
        parser.add_argument(
            "--min-right", type=_share, default=1.0, metavar="0.9", help="the least share that must be right"
        )
        parser.add_argument("--workspace", metavar="SLUG", type=slug_argument, help="grade in this server's database")
        parser.add_argument(
            "--project",
            metavar="SLUG or UUID",
            help="where it runs: a slug, with --url a UUID; else the Default project",
        )
        parser.add_argument(
            "--url", metavar="URL", help="grade at another server instead, with --key and a project's UUID"
        )
        parser.add_argument("--key", metavar="KEY", help="the API key for --url")

    def handle(self, *_args: Any, **options: Any) -> None:
        _check_named(options)
        lines = _lines(options["outputs"])
        try:
            with _stopped_by_a_signal():
                grader, project_id = _grader(options)
                with closing(grader):
                    result = _graded(grader, lines, project_id, options)
                    cases, against = _compared(grader, result)
        except GraderError as refusal:
            raise CommandError(str(refusal)) from refusal
        except KeyboardInterrupt:
            raise CommandError(STOPPED) from None
        for line in table(cases, against=against, erased=int(str(result["result"]["summary"].get("erased", 0)))):
            self.stdout.write(line)
        if options["junit"]:
            _write(options["junit"], junit(cases, name=f"{result['testSetId']}@{result['testSetVersion']}"))
        share = share_right(cases)
        if share is None or share < options["min_right"]:
            least = f"Less than {options['min_right'] * 100:g}% is right."
            self.stderr.write(self.style.ERROR("Nothing could be measured." if share is None else least))
            sys.exit(1)


def _check_named(options: dict[str, Any]) -> None:
    """What a new run needs and one that waits are told apart, so that neither is taken for the other."""
    needed = [options[name] is not None for name in ("set", "agent", "version")]
    if any(needed) if options["run"] else not all(needed):
        raise CommandError("Name SET, --agent and --version to start a test run, or --run for one that waits.")


@contextmanager
def _stopped_by_a_signal() -> Iterator[None]:
    """A CI job that is ended sends SIGTERM: it stops a grading as Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are none of its business
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _graded(grader: Grader, lines: Sequence[Line], project_id: str, options: dict[str, Any]) -> Wire:
    """The finished test run.

    One started here that is stopped or whose outputs are refused is cancelled, so that none waits for ever.
    """
    run_id = str(options["run"]) if options["run"] else _started(grader, project_id, options)
    try:
        if _submitted(grader, run_id, lines) == "running":
            grader.complete(run_id)
    except (GraderError, KeyboardInterrupt) as problem:
        if not options["run"]:
            with suppress(GraderError):
                grader.cancel(run_id, (str(problem) or STOPPED)[:MAX_REASON])
        raise
    return grader.fetch(run_id)


def _started(grader: Grader, project_id: str, options: dict[str, Any]) -> str:
    set_name, _, set_version = options["set"].partition("@")
    body = {"projectId": project_id, "agentRef": {"agentId": options["agent"], "version": options["version"]}}
    if set_version:
        body["testSetVersion"] = set_version
    return grader.start(set_name, body)


def _submitted(grader: Grader, run_id: str, lines: Sequence[Line]) -> str:
    """The status of the run when everything was handed in."""
    status = "running"
    with tqdm(total=len(lines), unit="output", file=sys.stderr, disable=None) as bar:
        for batch in _batches(lines):
            try:
                status = grader.submit(run_id, [text for _number, text in batch])
            except GraderError as refusal:
                raise GraderError(f"{_numbers(batch)}: {refusal}") from refusal
            bar.update(len(batch))
    return status


def _numbers(batch: Sequence[Line]) -> str:
    first, last = batch[0][0], batch[-1][0]
    return f"Line {first}" if first == last else f"Lines {first} to {last}"


def _batches(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """A server takes so many at once, and no body that is too large."""
    batch: list[Line] = []
    size = 0
    for line in lines:
        if len(batch) == BATCH or (batch and size + len(line[1]) > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(line)
        size += len(line[1])
    if batch:
        yield batch


def _grader(options: dict[str, Any]) -> tuple[Grader, str]:
    if options["url"]:
        if not options["key"] or not (options["project"] or options["run"]):
            raise CommandError("--url needs --key and --project with the project's UUID.")
        return RemoteGrader(options["url"], options["key"]), options["project"] or ""
    if not options["workspace"]:
        raise CommandError("Name --workspace, or --url and --key.")
    workspace = workspace_of(options["workspace"])
    caller = Caller(
        workspace_id=workspace.id, kind="service", id="grade", name="grade", is_workspace_admin=True, via="command"
    )
    return LocalGrader(caller), str(project_of(workspace, options["project"]).id)


def _compared(grader: Grader, result: Wire) -> tuple[list[Compared], str | None]:
    """The cases against the newest finished run before of another version of the same in the project; that version."""
    graded = _subject(result)
    for run in grader.finished_runs(result["testSetId"], {name: graded[name] for name in graded if name != "version"}):
        if _is_before(run, result):
            earlier = grader.fetch(run["runId"])
            return compared(result["result"]["perCase"], earlier["result"]["perCase"]), _subject(run)["version"]
    return compared(result["result"]["perCase"], ()), None


def _is_before(run: Wire, result: Wire) -> bool:
    is_earlier = run["startedAt"] <= result["startedAt"] and not run["dryRun"]
    return (
        is_earlier
        and run["projectId"] == result["projectId"]
        and _subject(run)["version"] != _subject(result)["version"]
    )


def _subject(run: Wire) -> dict[str, str]:
    """`agentId` or `flowId`, and `version`."""
    return dict(run.get("agentRef") or run["flowRef"])


def _lines(path: str) -> list[Line]:
    """Each line of the file, of equal ones the first. One that is no output ends the command before anything starts."""
    first: dict[bytes, int] = {}
    try:
        with Path(path).open("rb") as source:
            for line in read_lines(source):
                if line.problem:
                    raise CommandError(f"Line {line.number}: {line.problem}")
                first.setdefault(line.text, line.number)
    except OSError as problem:
        raise CommandError(f"{path} cannot be read: {problem.strerror}.") from problem
    return [(number, text) for text, number in first.items()]


def _write(path: str, report: bytes) -> None:
    try:
        Path(path).write_bytes(report)
    except OSError as problem:
        raise CommandError(f"{path} cannot be written: {problem.strerror}.") from problem


def _share(text: str) -> float:
    with suppress(ValueError):
        share = float(text)
        if 0 <= share <= 1:
            return share
    raise ArgumentTypeError(f"{text!r} is not a share from 0 to 1")
