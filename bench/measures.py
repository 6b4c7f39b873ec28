"""The measurements. Each compares two cases in one run: absolute times say more of the machine than of the code."""

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import uuid4

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from corrections.drafts import CorrectionDraft, RunDraft
from corrections.models import Correction, Run, RunCopy
from corrections.services.recording import record_correction
from corrections.services.runs import ingest_run
from corrections.vocabulary import RunStatus, Status, SubjectKind, Verdict
from kindgi_site import clock, wsgi
from kindgi_site.callers import Caller, Role
from kindgi_site.exact_json import JsonText
from kindgi_site.workspaces.models import Project, Workspace
from kindgi_site.workspaces.queries.callers import caller_of_membership
from kindgi_site.workspaces.services.keys import store_key
from kindgi_site.workspaces.services.people import add_person, create_workspace, set_project_role

LATE_PAGE = 400
USUAL = 25
REPEATS = 15
RECORDED = 300
COPY_BYTES = 3 * 1024 * 1024
CALLS = 400
AT_ONCE = 5000


class Place:
    """A workspace with one editor, and ways to ask on their behalf."""

    def __init__(self, slug: str) -> None:
        self.workspace: Workspace
        self.project: Project
        self.workspace, self.project = create_workspace(slug=slug)
        person = add_person(workspace=self.workspace, username=slug, password=None)
        set_project_role(project=self.project, principal=person, role=Role.EDITOR)
        key = store_key(workspace=self.workspace, principal=person)[1]
        self.caller: Caller = caller_of_membership(person.memberships.select_related("person", "workspace").get())
        self._headers = {"Authorization": f"Bearer {key}"}
        self._client = Client(SERVER_NAME="localhost")
        self._client.force_login(person)

    def get(self, path: str) -> Any:
        response = self._client.get(path, headers=self._headers)
        assert response.status_code == 200, response.content
        return response

    def draft(self, content: str = '"Hello"') -> RunDraft:
        return RunDraft(
            run_id=uuid4(),
            project_id=self.project.id,
            subject_kind=SubjectKind.AGENT,
            subject_id="support",
            subject_version="1.0.0",
            status=RunStatus.COMPLETED,
            input=JsonText(content),
            output=JsonText('{"content": "Hi"}'),
            completed_at=clock.now(),
        )


def run(corrections: int) -> None:
    wsgi.settle()  # as in a process that serves
    few, many = Place("few"), Place("many")
    fill(few, 1000)
    fill(many, corrections)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    the_list({1000: few, corrections: many})
    the_pages({1000: few, corrections: many})
    recording(few, many)
    reading(many)
    opening(many)


def fill(place: Place, count: int) -> None:
    """Live corrections of as many runs, each a little older than the one before, by bulk inserts."""
    newest = clock.now()
    for start in range(0, count, AT_ONCE):
        copies = [copy_in(place, newest - timedelta(seconds=n)) for n in range(start, min(start + AT_ONCE, count))]
        Run.objects.bulk_create([run_of(copy) for copy in copies])
        RunCopy.objects.bulk_create(copies)
        Correction.objects.bulk_create([correction_of(place, copy) for copy in copies])


def copy_in(place: Place, at: Any) -> RunCopy:
    return RunCopy(
        workspace=place.workspace,
        project=place.project,
        run_id=uuid4(),
        subject_kind=SubjectKind.AGENT,
        subject_id="support",
        subject_version="1.0.0",
        input=JsonText('"Hello"'),
        output=JsonText('"Hi"'),
        captured_at=at,
    )


def run_of(copy: RunCopy) -> Run:
    """The run that the copy is of."""
    return Run(
        workspace=copy.workspace,
        project=copy.project,
        run_id=copy.run_id,
        subject_kind=copy.subject_kind,
        subject_id=copy.subject_id,
        subject_version=copy.subject_version,
        status=RunStatus.COMPLETED,
        completed_at=copy.captured_at,
        created_at=copy.captured_at,
    )


def correction_of(place: Place, copy: RunCopy) -> Correction:
    return Correction(
        workspace=place.workspace,
        project=place.project,
        copy=copy,
        run_id=copy.run_id,
        subject_kind=copy.subject_kind,
        subject_id=copy.subject_id,
        subject_version=copy.subject_version,
        answer=Verdict.WRONG,
        why="It is late.",
        has_right=False,
        has_wrong=True,
        made_by_kind="service",
        made_by_id="bench",
        status=Status.OPEN,
        created_at=copy.captured_at,
        updated_at=copy.captured_at,
    )


def the_list(places: dict[int, Place]) -> None:
    """`GET /v1/corrections`, in pages of as many rows as leave even the short list a late page."""
    short = min(places) // LATE_PAGE
    asked = [(count, place, limit) for count, place in places.items() for limit in (short, USUAL)]
    cases = {}
    for count, place, limit in asked:
        path = f"/v1/corrections?limit={limit}"
        for page in (1, LATE_PAGE):
            if page * limit <= count:
                where = path if page == 1 else page_at(place, path, page)
                cases[f"{count:,} corrections, {limit} a page, page {page}"] = (limit, place, where)
    times = best_of({name: (place, where) for name, (_limit, place, where) in cases.items()})
    first = {limit: next(times[name] for name in cases if cases[name][0] == limit) for limit in (short, USUAL)}
    rows = [
        (name, f"{times[name]:.2f}", f"{times[name] / first[limit]:.2f}", str(statements(place, where)))
        for name, (limit, place, where) in cases.items()
    ]
    table("List of corrections", ("", "ms", "against 1,000's page 1", "statements"), rows)


def the_pages(places: dict[int, Place]) -> None:
    """Lists as people open them, and with filters that few rows pass or none."""
    pages = {
        "runs": "/runs/",
        "runs of a project": "/runs/?project={project}",
        "runs something is wrong with": "/runs/?corrected=wrong",
        "runs corrected by me (none)": "/runs/?corrected=mine",
        "runs of a year ago (none)": f"/runs/?until={clock.now() - timedelta(days=365):%Y-%m-%d}",
        "corrections at a desk": "/corrections/?desk=all",
        "agents": "/agents/",
    }
    cases = {
        (name, count): (place, path.format(project=place.project.id))
        for name, path in pages.items()
        for count, place in places.items()
    }
    times = best_of({f"{name} {count}": case for (name, count), case in cases.items()})
    rows = []
    for (name, count), (place, path) in cases.items():
        here, least = times[f"{name} {count}"], times[f"{name} {min(places)}"]
        rows.append((f"{name}, {count:,}", f"{here:.2f}", f"{here / least:.2f}", str(statements(place, path))))
    table("Pages", ("", "ms", "against 1,000's", "statements"), rows)


def page_at(place: Place, first: str, page: int) -> str:
    """The address of a page, reached in long strides: a cursor does not mind another limit."""
    limit = int(first.rpartition("=")[2])
    path, left = first, (page - 1) * limit
    while left:
        stride = min(left, 100)
        stride_path = path.replace(f"limit={limit}", f"limit={stride}")
        path, left = f"{first}&cursor={place.get(stride_path).json()['nextCursor']}", left - stride
    return path


def best_of(cases: dict[str, tuple[Place, str]]) -> dict[str, float]:
    """Best ms of each, asked in turns, so that whatever else the machine does at a moment hits all of them."""
    rounds = [{name: timed(partial(place.get, path)) for name, (place, path) in cases.items()} for _n in range(REPEATS)]
    return {name: min(each[name] for each in rounds) * 1000 for name in cases}


def statements(place: Place, path: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        place.get(path)
    return len(queries)


def timed(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def recording(few: Place, many: Place) -> None:
    """`record_correction` on new runs, one after the other, as a page or a program does it."""
    rows = []
    for name, place in (("beside 1,000", few), ("beside the many", many)):
        runs = [ingest_run(caller=place.caller, draft=place.draft())[0] for _run in range(RECORDED)]
        seconds = timed(lambda place=place, runs=runs: record_all(place, runs))  # type: ignore[misc]
        rows.append((name, f"{RECORDED / seconds:.0f}", f"{seconds / RECORDED * 1000:.2f}"))
    table("Recording corrections", ("", "a second", "ms each"), rows)


def record_all(place: Place, runs: Iterable[Run]) -> None:
    draft = CorrectionDraft(answer=Verdict.WRONG, why="It is late.")
    for each in runs:
        record_correction(caller=place.caller, run_id=each.run_id, draft=draft)


def reading(place: Place) -> None:
    """`GET /v1/corrections/{id}` with a small copy and with one of 3 MB."""
    cases = {}
    for name, content in (("a small copy", '"Hello"'), ("a copy of 3 MB", large_json())):
        run, _new = ingest_run(caller=place.caller, draft=place.draft(content))
        made = record_correction(caller=place.caller, run_id=run.run_id, draft=CorrectionDraft(answer=Verdict.RIGHT))
        cases[name] = (place, f"/v1/corrections/{made.id}")
    times = best_of(cases)
    rows = [
        (name, f"{len(place.get(path).content):,}", f"{times[name]:.2f}", str(statements(place, path)))
        for name, (place, path) in cases.items()
    ]
    table("Reading a correction", ("", "bytes", "ms", "statements"), rows)


def opening(place: Place) -> None:
    """The page of a run with one call, and of one with 400 calls and 3 MB."""
    cases = {}
    for name, count, rows in (("1 call", 1, 1), (f"{CALLS} calls, 3 MB", CALLS, 67)):
        draft = replace(place.draft(), calls=JsonText(json.dumps([a_call(number, rows) for number in range(count)])))
        run, _new = ingest_run(caller=place.caller, draft=draft)
        cases[name] = (place, f"/runs/{run.run_id}/")
    times = best_of(cases)
    rows_shown = [
        (name, f"{len(place.get(path).content):,}", f"{times[name]:.2f}", str(statements(place, path)))
        for name, (place, path) in cases.items()
    ]
    table("Opening a run's page", ("", "bytes sent", "ms", "statements"), rows_shown)


def a_call(number: int, rows: int) -> dict[str, Any]:
    row = {"sku": "S-1", "text": "word " * 12, "stock": {"here": 1, "there": [1, 2, 3]}}
    arguments = {"order_id": f"A-{number}", "reason": "because " * 5}
    return {"toolId": f"tool_{number % 9}", "arguments": arguments, "result": {"rows": [row] * rows}}


def large_json() -> str:
    piece = '{"role": "user", "content": "' + "word " * 200 + '"}'
    return f"[{','.join([piece] * (COPY_BYTES // len(piece)))}]"


def table(title: str, heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    widths = [max(len(row[column]) for row in [heads, *rows]) for column in range(len(heads))]
    print(f"\n{title}")
    for row in [heads, *rows]:
        cells = [
            cell.ljust(width) if not n else cell.rjust(width)
            for n, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        print("  " + "  ".join(cells))
