"""The list of runs, a run's page, and its parts as they were sent."""

from uuid import UUID

from django.http import HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from corrections.page_filters import RunPageFilter
from corrections.presenters.runs import run_head, run_row
from corrections.presenters.speech import text_html
from corrections.presenters.text import json_words
from corrections.presenters.trees import tree_html
from corrections.queries.run_pages import (
    PAGE_SIZE,
    live_corrections_of,
    runs_for_list,
    subjects_seen,
    tools_seen,
)
from corrections.queries.runs import run_not_found, runs_readable_by
from corrections.rules.calls import Call
from corrections.rules.pointers import MISSING
from corrections.views.panel import MAX_DIGITS, OpenRun
from kindgi_site.keyset import neighbours, page_at
from kindgi_site.pages import render_page
from kindgi_site.stored_json import JsonText
from kindgi_site.workspaces.requests import PageRequest

PARTS = ("input", "output", "context", "calls", "segments")


@require_safe
def run_list(request: PageRequest) -> HttpResponse:
    caller = request.caller
    narrowed = RunPageFilter(request.GET, runs_for_list(caller), caller=caller)
    page = page_at(request.GET, narrowed.qs, PAGE_SIZE)
    live = live_corrections_of(caller, page.rows)
    subjects = subjects_seen(caller)
    context = {
        "filter": narrowed,
        "rows": [run_row(run, live.get(run.run_id, []), caller.id) for run in page.rows],
        "newer": page.previous,
        "older": page.next,
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
def run_part(request: PageRequest, run_id: UUID, part: str) -> HttpResponse:
    """One part to read: a tree, or a text. Of `call-<n>` it is the result of the n-th call."""
    opened = OpenRun.of(request.caller, run_id, request.GET.urlencode())
    raw_url = opened.url("run_raw", part)
    call = _call_of(opened, part)
    if call is not None and isinstance(call.result, str):
        html = text_html(call.result, raw_url)
    elif call is not None and call.result is not MISSING:
        html = tree_html(call.result, raw_url)
    else:
        html = tree_html(_stored_part(opened, part).value, raw_url)
    context = {
        "part": part,
        "html": html,
        "head": run_head(opened.evidence.run, opened.evidence.copy),
        "run_url": opened.url("run_detail"),
        "raw_url": raw_url,
    }
    return render_page(request, "corrections/run_part.html", fragment="corrections/_run_part.html", context=context)


@require_safe
def run_raw(request: PageRequest, run_id: UUID, part: str) -> HttpResponse:
    """One part as text, never as anything a browser would run. `call-<n>` is the n-th call, as far as it is known."""
    opened = OpenRun.of(request.caller, run_id)
    call = _call_of(opened, part)
    text = _stored_part(opened, part).text if call is None else _call_text(call)
    response = HttpResponse(text.encode("utf-8", "replace"), content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = f'inline; filename="{run_id}-{part}.txt"'
    response["X-Content-Type-Options"] = "nosniff"
    return response


def _stored_part(opened: OpenRun, part: str) -> JsonText:
    stored: JsonText | None = getattr(opened.evidence, part) if part in PARTS else None
    if stored is None:
        raise run_not_found(opened.run_id)
    return stored


def _call_of(opened: OpenRun, part: str) -> Call | None:
    name, _dash, number = part.partition("-")
    if name != "call" or not number.isdecimal() or len(number) > MAX_DIGITS:
        return None
    calls = opened.calls or []
    return calls[int(number) - 1] if 1 <= int(number) <= len(calls) else None


def _call_text(call: Call) -> str:
    known = {"tool": call.tool, "arguments": call.arguments, "result": call.result, "error": call.error}
    return json_words({key: value for key, value in known.items() if value not in (MISSING, None)}, indent=2)
