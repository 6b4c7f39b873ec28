"""The list of runs, a run's page, and its parts as they were sent."""

from uuid import UUID

from django.http import HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from corrections.page_filters import RunPageFilter
from corrections.presenters.runs import run_row
from corrections.presenters.text import json_words
from corrections.queries.run_pages import (
    Place,
    live_corrections_of,
    neighbours,
    page_of,
    runs_for_list,
    subjects_seen,
    tools_seen,
)
from corrections.queries.runs import run_not_found, runs_readable_by
from corrections.rules.pointers import MISSING
from corrections.views.panel import OpenRun
from corrections.views.requests import PageRequest
from kindgi_site.pages import render_page

PARTS = ("input", "output", "context", "calls", "segments")


@require_safe
def run_list(request: PageRequest) -> HttpResponse:
    caller = request.caller
    narrowed = RunPageFilter(request.GET, runs_for_list(caller), caller=caller)
    page = page_of(
        narrowed.qs, before=Place.read(request.GET.get("before", "")), after=Place.read(request.GET.get("after", ""))
    )
    live = live_corrections_of(caller, page.runs)
    subjects = subjects_seen(caller)
    context = {
        "filter": narrowed,
        "rows": [run_row(run, live.get(run.run_id, []), caller.id) for run in page.runs],
        "newer": page.newer,
        "older": page.older,
        "is_first_page": not (request.GET.get("before") or request.GET.get("after")),
        "subjects": sorted({subject for subject, _version in subjects}),
        "versions": sorted({version for _subject, version in subjects}),
        "tools": tools_seen(caller),
    }
    response = render_page(
        request, "corrections/run_list.html", fragment="corrections/_run_table.html", context=context
    )
    if request.htmx and not (request.GET.get("before") or request.GET.get("after")):
        response["HX-Push-Url"] = reverse("corrections:run_list") + (f"?{narrowed.query}" if narrowed.query else "")
    return response


@require_safe
def run_detail(request: PageRequest, run_id: UUID) -> HttpResponse:
    narrowed = RunPageFilter(request.GET, runs_readable_by(request.caller), caller=request.caller)
    opened = OpenRun.of(request.caller, run_id, narrowed.query)
    run = opened.evidence.run
    newer, older = neighbours(narrowed.qs, run) if run else (None, None)
    context = opened.panel_context(opened.form()) | opened.head_context() | {"newer": newer, "older": older}
    return render_page(request, "corrections/run_detail.html", fragment="corrections/_run_panel.html", context=context)


@require_safe
def run_raw(request: PageRequest, run_id: UUID, part: str) -> HttpResponse:
    """One part as text, never as anything a browser would run. `call-<n>` is the n-th call, as far as it is known."""
    text = _part_text(OpenRun.of(request.caller, run_id), part)
    if text is None:
        raise run_not_found(run_id)
    response = HttpResponse(text.encode("utf-8", "replace"), content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = f'inline; filename="{run_id}-{part}.txt"'
    response["X-Content-Type-Options"] = "nosniff"
    return response


def _part_text(opened: OpenRun, part: str) -> str | None:
    if part in PARTS:
        stored = getattr(opened.evidence, part)
        return None if stored is None else str(stored.text)
    name, _dash, number = part.partition("-")
    calls = opened.calls or []
    if name != "call" or not number.isdecimal() or len(number) > 6 or not 1 <= int(number) <= len(calls):
        return None
    call = calls[int(number) - 1]
    known = {"tool": call.tool, "arguments": call.arguments, "result": call.result, "error": call.error}
    return json_words({key: value for key, value in known.items() if value not in (MISSING, None)}, indent=2)
