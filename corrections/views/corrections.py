"""Say what was right or wrong about a run."""

from http import HTTPStatus
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from corrections.forms import CorrectionForm, after_step
from corrections.page_filters import RunPageFilter
from corrections.queries.runs import runs_readable_by
from corrections.rules.drafts import check_draft
from corrections.services.recording import record_correction
from corrections.views.panel import OpenRun
from kindgi_site.errors import InvalidError
from kindgi_site.keyset import neighbours
from kindgi_site.pages import render_page, wants_fragment
from kindgi_site.workspaces.requests import PageRequest

PAGE = "corrections/run_detail.html"
PANEL = "corrections/_run_panel.html"
VERDICT = "verdict"  # the id of the part that follows along while one marks


@require_POST
def correction_create(request: PageRequest, run_id: UUID) -> HttpResponse:
    opened = OpenRun.of(request.caller, run_id, _query(request))
    form = opened.form(request.POST)
    if not form.is_valid():
        return _panel(request, opened, form, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    try:
        record_correction(caller=request.caller, run_id=run_id, draft=form.draft())
    except InvalidError as refusal:
        return _panel(request, opened, form, problems=[refusal.message], status=HTTPStatus.UNPROCESSABLE_ENTITY)
    if not wants_fragment(request):
        return redirect(opened.url("run_detail") + "#history")
    saved = OpenRun.of(request.caller, run_id, opened.query)
    context = saved.panel_context(saved.form()) | saved.head_context() | {"is_saved": True}
    return render_page(request, PAGE, fragment=PANEL, context=context)


@require_POST
def correction_check(request: PageRequest, run_id: UUID) -> HttpResponse:
    """The form as typed, after whatever its button does to it, with the sentence it amounts to. Nothing is stored."""
    opened = OpenRun.of(request.caller, run_id, _query(request))
    form = opened.form(after_step(request.POST, opened.correctable))
    problems = _problems(form)
    target = (request.htmx.target or "") if wants_fragment(request) else ""
    if target == VERDICT:
        context = opened.verdict_context(form, problems) | {"oob": True}
        return render_page(request, PAGE, fragment="corrections/_run_verdict.html", context=context)
    place = opened.place_context(form, problems, target)
    if place is not None:
        return render_page(request, PAGE, fragment="corrections/_marked_place.html", context=place)
    return _panel(request, opened, form, problems=problems)


def _problems(form: CorrectionForm) -> list[str]:
    if not form.is_valid() or not form.draft().verdicts:
        return []
    try:
        check_draft(form.draft())
    except InvalidError as refusal:
        return [refusal.message]
    return []


def _panel(
    request: PageRequest,
    opened: OpenRun,
    form: CorrectionForm,
    *,
    problems: list[str] | None = None,
    status: HTTPStatus = HTTPStatus.OK,
) -> HttpResponse:
    is_refused = status != HTTPStatus.OK or request.POST.get("step") == "check"
    context = opened.panel_context(form, problems or [], is_refused=is_refused)
    if not wants_fragment(request):
        context |= opened.head_context() | _neighbours(request, opened)
    return render_page(request, PAGE, fragment=PANEL, context=context, status=status)


def _neighbours(request: PageRequest, opened: OpenRun) -> dict[str, object]:
    if opened.evidence.run is None:
        return {}
    narrowed = RunPageFilter(request.GET, runs_readable_by(request.caller), caller=request.caller)
    newer, older = neighbours(narrowed.qs, opened.evidence.run)
    return {"newer": newer, "older": older}


def _query(request: PageRequest) -> str:
    """The filter the person came with; it stands in the form's address."""
    return RunPageFilter(request.GET, runs_readable_by(request.caller), caller=request.caller).query
