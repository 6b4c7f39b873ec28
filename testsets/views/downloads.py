"""Downloads, written while they are sent: cases of a version and of a test run, an agent's corrections."""

import csv
import re
from collections.abc import Iterable, Iterator
from uuid import UUID

from django.http import StreamingHttpResponse
from django.views.decorators.http import require_safe

from corrections.models import Correction
from corrections.queries.run_pages import names_of
from kindgi_site.callers import Action
from kindgi_site.workspaces.requests import PageRequest
from testsets.models import TestCase, TestRun, TestSetVersion
from testsets.presenters.cases import sayer_ids
from testsets.presenters.flat import (
    CASE_COLUMNS,
    CORRECTION_COLUMNS,
    case_cells,
    correction_cells,
    correction_wire,
    one_line,
    waiting_case,
)
from testsets.queries.pages import corrections_for_download, in_batches, sayers_of
from testsets.queries.sets import version_readable_by
from testsets.queries.test_runs import cases_with_remaining, test_run_readable_by
from testsets.views.requests import agent_set_at

BATCH = 20
TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson"}
_OUTSIDE = re.compile(r"[^A-Za-z0-9._-]+")
_SIGNATURE = "\ufeff"  # without it spreadsheets guess an encoding


@require_safe
def cases_download(request: PageRequest, set_name: str, version: str, form: str) -> StreamingHttpResponse:
    found = version_readable_by(request.caller, set_name, version)
    lines = _case_rows(found) if form == "csv" else _case_lines(found)
    return _attachment(lines, f"{set_name}-{version}", form)


@require_safe
def corrections_download(request: PageRequest, project_id: UUID, agent_id: str, form: str) -> StreamingHttpResponse:
    agent_set_at(request, Action.READ, project_id, agent_id)
    rows = corrections_for_download(request.caller, project_id, agent_id)
    ids = list(rows.values_list("id", flat=True))
    batches = in_batches(rows.order_by(), ids, BATCH * 10)
    lines = _correction_rows(batches) if form == "csv" else _correction_lines(batches)
    return _attachment(lines, f"{agent_id}-corrections", form)


@require_safe
def test_run_cases_download(request: PageRequest, run_id: UUID) -> StreamingHttpResponse:
    """The cases for the program that runs the new version, as /v1 gives them."""
    run = test_run_readable_by(request.caller, run_id)
    name = f"{run.version.test_set.name}-{run.version.version}-for-{run.subject_version}"
    return _attachment(_waiting_lines(run), name, "jsonl")


def _waiting_lines(run: TestRun) -> Iterator[str]:
    position = -1
    while rows := cases_with_remaining(run, after=position, most=BATCH):
        for position, wire, remaining in rows:  # noqa: B007 - the last one is where the next batch starts
            yield one_line(waiting_case(wire, remaining))


def _case_batches(version: TestSetVersion) -> Iterator[list[TestCase]]:
    position = -1
    while cases := list(version.cases.filter(position__gt=position).order_by("position")[:BATCH]):
        yield cases
        position = cases[-1].position


def _case_lines(version: TestSetVersion) -> Iterator[str]:
    for cases in _case_batches(version):
        for case in cases:
            assert case.wire is not None
            yield one_line(case.wire)


def _case_rows(version: TestSetVersion) -> Iterator[str]:
    writer = csv.writer(_Echo())
    yield _SIGNATURE + writer.writerow(CASE_COLUMNS)
    workspace_id = version.test_set.workspace_id
    for cases in _case_batches(version):
        ids = [name for case in cases if case.wire is not None for name in sayer_ids(case.wire.value)]
        sayers = sayers_of(workspace_id, ids)
        for case in cases:
            yield writer.writerow(case_cells(case, sayers))


def _correction_rows(batches: Iterable[list[Correction]]) -> Iterator[str]:
    writer = csv.writer(_Echo())
    yield _SIGNATURE + writer.writerow(CORRECTION_COLUMNS)
    for rows in batches:
        names = names_of(row.made_by_id for row in rows)
        for row in rows:
            yield writer.writerow(correction_cells(row, names))


def _correction_lines(batches: Iterable[list[Correction]]) -> Iterator[str]:
    for rows in batches:
        names = names_of(row.made_by_id for row in rows)
        for row in rows:
            yield one_line(correction_wire(row, names))


class _Echo:
    """Where csv writes: it gives each line back instead of keeping it."""

    def write(self, line: str) -> str:
        return line


def _attachment(lines: Iterable[str], name: str, form: str) -> StreamingHttpResponse:
    encoded = (line.encode("utf-8", "replace") for line in lines)
    response = StreamingHttpResponse(encoded, content_type=TYPES[form])
    plain = _OUTSIDE.sub("-", name).strip("-.") or "download"
    response["Content-Disposition"] = f'attachment; filename="{plain}.{form}"'
    response["X-Content-Type-Options"] = "nosniff"
    response["Cache-Control"] = "no-store"
    return response
