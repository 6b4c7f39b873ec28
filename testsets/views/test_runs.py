"""Test runs: the list, and one run: what it waits for, or each case against another run."""

from http import HTTPStatus
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from corrections.queries.corrections import as_uuid
from corrections.queries.run_pages import names_of
from corrections.vocabulary import SubjectKind
from kindgi_site.callers import Action
from kindgi_site.keyset import Place
from kindgi_site.pages import render_page
from kindgi_site.workspaces.requests import PageRequest
from testsets.forms.test_runs import CancelRunForm, OutputsForm
from testsets.models import TestRun
from testsets.presenters.cases import sayer_ids
from testsets.presenters.live import settled
from testsets.presenters.test_runs import (
    STAND_NAMES,
    GradedCase,
    example_line,
    facts_of,
    graded_case,
    metrics_shown,
    run_row,
    stand_filter,
    status_words,
    totals,
)
from testsets.queries.pages import sayers_of, settled_by
from testsets.queries.run_pages import (
    PAGE_SIZE,
    Stand,
    cases_shown,
    comparable_runs,
    previous_of,
    progress_of,
    runs_for_page,
    same_cases_in,
    stands_of,
)
from testsets.queries.test_runs import COMPLETED, TERMINAL, test_run_readable_by
from testsets.services.judging import configured_judge
from testsets.services.test_runs import MAX_OUTPUTS, is_rescorable
from testsets.views.sets import start_of

MOST_LINES = 10_000  # a version of the most cases, with the most repetitions
MOST_SETTLED = 100


@require_safe
def test_run_list(request: PageRequest) -> HttpResponse:
    runs = _narrowed(request, runs_for_page(request.caller))
    before = Place.read(request.GET.get("before", ""))
    if before is not None:
        runs = runs.filter(started_at__lte=before.key).exclude(started_at=before.key, id__gte=before.id)
    found = list(runs[: PAGE_SIZE + 1])
    last = found[PAGE_SIZE - 1] if len(found) > PAGE_SIZE else None
    query = request.GET.copy()
    query.pop("before", None)
    context = {
        "rows": [run_row(run) for run in found[:PAGE_SIZE]],
        "older": Place(last.started_at, last.id) if last else None,
        "set_name": request.GET.get("set", ""),
        "subject": request.GET.get("subject", ""),
        "query": query.urlencode(),
        "is_later_page": before is not None,
    }
    return render_page(
        request, "testsets/test_run_list.html", fragment="testsets/_test_run_table.html", context=context
    )


def _narrowed(request: PageRequest, runs: QuerySet[TestRun]) -> QuerySet[TestRun]:
    """Those of the set, of the agent or flow and of the project in the address."""
    for column, name in (("version__test_set__name", "set"), ("subject_id", "subject")):
        if said := request.GET.get(name, ""):
            runs = runs.filter(**{column: said.replace("\0", "\ufffd")})
    project_id = as_uuid(request.GET.get("project", ""))
    return runs if project_id is None else runs.filter(project=project_id)


@require_safe
def test_run_detail(request: PageRequest, run_id: UUID) -> HttpResponse:
    return run_page(request, test_run_readable_by(request.caller, run_id))


def run_page(
    request: PageRequest, run: TestRun, *, status: HTTPStatus = HTTPStatus.OK, **waiting: object
) -> HttpResponse:
    """The page; `waiting` is what a step of a run that waits has to say, or its form as it was refused."""
    context = _head(request, run)
    fragment = "testsets/_test_run_over.html"
    if run.status not in TERMINAL:
        fragment = "testsets/_test_run_waiting.html"
        context |= _waiting(request, run) | waiting
    elif run.status == COMPLETED and not run.dry_run:
        fragment = "testsets/_test_run_cases.html"
        context |= _comparison(request, run)
    return render_page(request, "testsets/test_run_detail.html", fragment=fragment, context=context, status=status)


def most_lines() -> int:
    """How many outputs a file may hold: what a judge is asked about in one request, else all that a run can lack."""
    return MAX_OUTPUTS if configured_judge() else MOST_LINES


def _waiting(request: PageRequest, run: TestRun) -> dict[str, object]:
    project_id = run.version.test_set.project_id
    progress = progress_of(run)
    return {
        "progress": progress,
        "example": example_line(run, progress.example),
        "may_submit": request.caller.may(Action.EXECUTE, project_id),
        "may_cancel": request.caller.may(Action.WRITE, project_id),
        "outputs_form": OutputsForm(label_suffix=""),
        "cancel_form": CancelRunForm(label_suffix=""),
        "most_bytes": settings.MAX_BODY_BYTES,
        "most_lines": most_lines(),
        "server": request.build_absolute_uri("/").rstrip("/"),
    }


def _head(request: PageRequest, run: TestRun) -> dict[str, object]:
    return {
        "run": run,
        "row": run_row(run),
        "status": status_words(run.status),
        "facts": facts_of(run),
        "is_agent": run.subject_kind == SubjectKind.AGENT,
        "may_rescore": is_rescorable(run)
        and request.caller.may(Action.ADMIN, run.version.test_set.project_id)
        and request.caller.may(Action.WRITE, run.project_id),
        "who": names_of([run.requested_by_id]).get(run.requested_by_id, ""),
    }


def _comparison(request: PageRequest, run: TestRun) -> dict[str, object]:
    others = comparable_runs(request.caller, run)
    against, is_chosen = _against(request, run, others)
    if against is not None and against not in others:
        others = [*others, against]
    stands = stands_of(run, against)
    show = request.GET.get("show", "")
    show = show if show in STAND_NAMES else ""
    kept = stand_filter(stands, show)
    start = start_of(request)
    shown = kept[start : start + PAGE_SIZE]
    events = settled_by(
        f"test-run:{run.id}", run.started_at, project_id=run.project_id, agent_id=run.subject_id, most=MOST_SETTLED
    )
    rows = settled(events, names_of(event.correction.made_by_id for event in events))
    beside = {"against": against.id} if against and is_chosen else {}
    return {
        "against_query": f"{urlencode(beside)}&" if beside else "",
        "case_query": urlencode(beside | ({"show": show} if show else {})),
        "others": others,
        "against": against,
        "is_chosen": is_chosen,
        "totals": totals(stands),
        "metrics": metrics_shown(run),
        "against_metrics": metrics_shown(against) if against and is_chosen else [],
        "show": show,
        "kept": len(kept),
        "cases": _graded(request, run, against if is_chosen else None, shown),
        "start": start,
        "next": start + PAGE_SIZE if len(kept) > start + PAGE_SIZE else None,
        "fixed": [row for row in rows if row.is_fixed],
        "came_back": [row for row in rows if row.came_back],
    }


def _against(request: PageRequest, run: TestRun, others: list[TestRun]) -> tuple[TestRun | None, bool]:
    """(the run it is laid beside, whether somebody chose it)."""
    said = as_uuid(request.GET.get("against", ""))
    if said is None:
        return previous_of(request.caller, run), False
    chosen = next((other for other in others if other.id == said), None)
    return chosen or test_run_readable_by(request.caller, said), True


def _graded(request: PageRequest, run: TestRun, beside: TestRun | None, stands: list[Stand]) -> list[GradedCase]:
    cases = cases_shown(stands)
    before = same_cases_in(beside, [stand.case_id for stand in stands]) if beside else {}
    wires = [case.frozen.wire.value for case in cases.values() if case.frozen.wire is not None]
    sayers = sayers_of(request.caller.workspace_id, (name for wire in wires for name in sayer_ids(wire)))
    version = run.version
    return [
        graded_case(
            stand,
            cases[stand.id],
            before.get(stand.case_id),
            sayers,
            reverse("testsets:case_raw", args=[version.test_set.name, version.version, stand.case_id]),
            k=run.k,
        )
        for stand in stands
    ]
