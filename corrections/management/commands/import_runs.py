"""`manage.py import_runs`: take in runs from a file of JSON Lines."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO
from uuid import UUID

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.db import DataError, IntegrityError, transaction
from django.utils.translation import gettext as _
from tqdm import tqdm

from corrections.api.bodies import run_draft
from corrections.drafts import RunDraft
from corrections.models import Run
from corrections.services.runs import ingest_run
from kindgi_site.api.bodies import uuid_of
from kindgi_site.api.documents import read_document
from kindgi_site.callers import Caller
from kindgi_site.errors import Code, DomainError, InvalidError
from kindgi_site.workspaces.management.operators import OperatorCommand, slug_argument, workspace_of
from kindgi_site.workspaces.models import Project
from kindgi_site.workspaces.services import people

# Several lines share a transaction, as ending one costs more than storing a run; both bounds keep memory flat.
BATCH_LINES = 50
BATCH_BYTES = 8 * 1024 * 1024
STDIN = "-"
OUTCOMES = ("new", "unchanged", "changed", "failed")


class Command(OperatorCommand):
    help = (
        "Take in runs from JSON Lines: on each line the body of PUT /v1/runs/{runId} and the runId. "
        "A line that is refused is reported, and the others are kept. Running it again changes nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE|-", help="the file, or - for standard input")
        parser.add_argument("--workspace", required=True, metavar="SLUG", type=slug_argument)
        parser.add_argument(
            "--project", metavar="SLUG", type=slug_argument, help="where the runs go; else the Default project"
        )
        parser.add_argument(
            "--stop-on-error", action="store_true", help="stop at the first line that is refused, keeping those before"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        project = people.project_of(workspace_of(options["workspace"]), options["project"])
        importer = Importer(project, report=self._report, stop_on_error=options["stop_on_error"])
        with _opened(options["file"]) as (source, size), _progress(size) as bar:
            for batch in batches(read_lines(source, settings.MAX_BODY_BYTES)):
                importer.take(batch)
                bar.update(sum(line.size for line in batch))
                if importer.stopped:
                    break
        counts = importer.counts
        self.stdout.write(", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES))
        if counts["failed"]:
            raise CommandError(_("%(failed)d of the lines could not be taken in.") % {"failed": counts["failed"]})

    def _report(self, number: int, reason: str) -> None:
        with tqdm.external_write_mode(file=sys.stderr):
            self.stderr.write(_("line %(number)d: %(reason)s") % {"number": number, "reason": reason})


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the file. `raw` is None when it is longer than a body may be, and was skipped."""

    number: int
    raw: bytes | None
    size: int


def read_lines(source: BinaryIO, most: int) -> Iterator[Line]:
    """The lines that are not blank, holding at most one of them, and never more than `most` bytes of it."""
    number = 0
    while raw := source.readline(most + 1):
        number += 1
        size = len(raw)
        if size > most and not raw.endswith(b"\n"):
            while rest := source.readline(most):
                size += len(rest)
                if rest.endswith(b"\n"):
                    break
            yield Line(number, None, size)
        elif raw.strip():
            yield Line(number, raw, size)


def batches(lines: Iterator[Line]) -> Iterator[list[Line]]:
    batch: list[Line] = []
    held = 0
    for line in lines:
        batch.append(line)
        held += len(line.raw or b"")
        if len(batch) == BATCH_LINES or held >= BATCH_BYTES:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch


class Importer:
    """Takes in lines for one project as a program that may do anything in its workspace."""

    def __init__(self, project: Project, *, report: Callable[[int, str], None], stop_on_error: bool) -> None:
        self.project = project
        self.report = report
        self.stop_on_error = stop_on_error
        self.counts: Counter[str] = Counter()
        self.caller = Caller(
            workspace_id=project.workspace_id,
            kind="service",
            id="import",
            name="import",
            is_workspace_admin=True,
            via="command",
        )

    @property
    def stopped(self) -> bool:
        return self.stop_on_error and self.counts["failed"] > 0

    def take(self, batch: list[Line]) -> None:
        """All of the batch in one transaction; when one is refused, each in its own."""
        read = [(line.number, self._read(line)) for line in batch]
        drafts = [draft for _number, draft in read if isinstance(draft, RunDraft)]
        if len(drafts) == len(batch):
            try:
                self.counts.update(self._stored(drafts))
            except (DomainError, DataError, IntegrityError):
                pass
            else:
                return
        for number, draft in read:
            self._take_one(number, draft)
            if self.stopped:
                return

    def _take_one(self, number: int, draft: RunDraft | DomainError) -> None:
        try:
            if isinstance(draft, DomainError):
                raise draft
            self.counts.update(self._stored([draft]))
        except DomainError as refusal:
            self._fail(number, refusal.message)
        except (DataError, IntegrityError):
            self._fail(number, _("The database does not take it."))

    def _fail(self, number: int, reason: str) -> None:
        self.counts["failed"] += 1
        self.report(number, reason)

    def _read(self, line: Line) -> RunDraft | DomainError:
        try:
            return read_run(line, self.project)
        except DomainError as refusal:
            return refusal

    @transaction.atomic
    def _stored(self, drafts: list[RunDraft]) -> list[str]:
        """What became of each."""
        seen = self._seen([draft.run_id for draft in drafts])
        outcomes = []
        for draft in drafts:
            run, is_new = ingest_run(caller=self.caller, draft=draft)
            is_same = run.updated_at == seen.get(draft.run_id)
            outcomes.append("new" if is_new else "unchanged" if is_same else "changed")
            seen[draft.run_id] = run.updated_at
        return outcomes

    def _seen(self, run_ids: list[UUID]) -> dict[UUID, datetime]:
        """When each of those runs that are stored was last changed."""
        stored = Run.objects.filter(workspace=self.project.workspace_id, run_id__in=run_ids)
        return dict(stored.order_by().values_list("run_id", "updated_at"))


def read_run(line: Line, project: Project) -> RunDraft:
    """A line as a run of the project; a projectId on the line must be the project's. InvalidError when it is none."""
    if line.raw is None:
        most = settings.MAX_BODY_BYTES
        raise InvalidError(Code.REQUEST_TOO_LARGE, _("The line is longer than %(most)d bytes.") % {"most": most})
    document = read_document(line.raw)
    if not document.is_json or not isinstance(document.value, dict):
        raise InvalidError(Code.BAD_INPUT, _("This is not a JSON object."))
    said = dict(document.value)
    run_id = uuid_of(said.pop("runId", None))
    if run_id is None:
        raise InvalidError(Code.BAD_INPUT, _("runId: This must be a UUID."))
    if uuid_of(said.setdefault("projectId", str(project.id))) != project.id:
        raise InvalidError(Code.BAD_INPUT, _("projectId: This is not the project that runs are imported to."))
    document.value = said
    return run_draft(run_id, document)


@contextmanager
def _opened(name: str) -> Iterator[tuple[BinaryIO, int | None]]:
    """(the file, its size where it has one)."""
    if name == STDIN:
        if sys.stdin is None:
            raise CommandError(_("Standard input is closed."))
        yield sys.stdin.buffer, None
        return
    path = Path(name)
    try:
        source = path.open("rb")
    except OSError as problem:
        raise CommandError(f"{name}: {problem.strerror}") from problem
    with source:
        yield source, path.stat().st_size


def _progress(size: int | None) -> "tqdm[Any]":
    """A bar on standard error when that is a terminal, nothing otherwise."""
    return tqdm(total=size, unit="B", unit_scale=True, file=sys.stderr, disable=None, leave=False)
