"""The owner's desks, and a correction's own page with what moves it on."""

from http import HTTPStatus
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from corrections.forms.steps_of_life import BY_NAME, SORT_OF, STATUS_OF, STEPS, StepForm, steps_from
from corrections.models import Correction
from corrections.page_filters import DESKS, CorrectionPageFilter
from corrections.permissions import may_decide_as_owner
from corrections.presenters.corrections import CorrectionShown, shown, steps_shown
from corrections.queries.correction_pages import (
    correction_for_page,
    corrections_for_list,
    page_of,
    steps_of,
    superseded_by_it,
)
from corrections.queries.run_pages import Place, names_of, subjects_seen
from corrections.services import status
from corrections.views.requests import PageRequest
from corrections.vocabulary import LinkKind
from kindgi_site.callers import Action, Caller
from kindgi_site.errors import DomainError
from kindgi_site.pages import render_page, wants_fragment

LIST_PAGE, LIST_PART = "corrections/correction_list.html", "corrections/_correction_table.html"
PAGE, PART = "corrections/correction_detail.html", "corrections/_correction_panel.html"
MOST_AT_ONCE = 100


@require_safe
def correction_list(request: PageRequest) -> HttpResponse:
    return render_page(request, LIST_PAGE, fragment=LIST_PART, context=_list_context(request, StepForm(), {}))


@require_POST
def correction_steps(request: PageRequest) -> HttpResponse:
    """One step for every correction that was ticked; each that is refused says why beside it."""
    form = StepForm(request.POST)
    chosen = request.POST.getlist("correction")[:MOST_AT_ONCE]
    if not form.is_valid() or not chosen:
        if not chosen:
            form.add_error(None, _("Tick the corrections it is for."))
        context = _list_context(request, form, {})
        return render_page(
            request, LIST_PAGE, fragment=LIST_PART, context=context, status=HTTPStatus.UNPROCESSABLE_ENTITY
        )
    refusals = {key: refusal for key in chosen if (refusal := _taken(request.caller, key, form))}
    done = len(chosen) - len(refusals)
    words = ngettext("%(count)d correction: %(step)s.", "%(count)d corrections: %(step)s.", done)
    said = words % {"count": done, "step": BY_NAME[form.cleaned_data["step"]].words} if done else ""
    if not refusals and not wants_fragment(request):
        messages.success(request, said)
        return redirect(f"{reverse('corrections:correction_list')}?{request.GET.urlencode()}")
    context = _list_context(request, form if refusals else StepForm(), refusals) | {"said": said}
    code = HTTPStatus.UNPROCESSABLE_ENTITY if refusals else HTTPStatus.OK
    return render_page(request, LIST_PAGE, fragment=LIST_PART, context=context, status=code)


@require_safe
def correction_detail(request: PageRequest, correction_id: UUID) -> HttpResponse:
    correction = correction_for_page(request.caller, correction_id)
    context = _detail_context(request.caller, correction, StepForm())
    return render_page(request, PAGE, fragment=PART, context=context)


@require_POST
def correction_step(request: PageRequest, correction_id: UUID) -> HttpResponse:
    correction_for_page(request.caller, correction_id)
    form = StepForm(request.POST)
    refusal = _taken(request.caller, str(correction_id), form) if form.is_valid() else ""
    is_refused = bool(refusal) or not form.is_valid()
    if not is_refused and not wants_fragment(request):
        return redirect("corrections:correction_detail", correction_id)
    correction = correction_for_page(request.caller, correction_id)
    context = _detail_context(request.caller, correction, form if is_refused else StepForm(), refusal)
    code = HTTPStatus.UNPROCESSABLE_ENTITY if is_refused else HTTPStatus.OK
    return render_page(request, PAGE, fragment=PART, context=context, status=code)


def _taken(caller: Caller, correction_id: str, form: StepForm) -> str:
    """Take the step through its service; returns why it was refused, or ''."""
    said = form.cleaned_data
    note = said["note"] or None
    try:
        if said["step"] in STATUS_OF:
            status.set_status(caller=caller, correction_id=correction_id, status=STATUS_OF[said["step"]], note=note)
        elif said["step"] in SORT_OF:
            status.sort_correction(caller=caller, correction_id=correction_id, to=SORT_OF[said["step"]], reason=note)
        elif said["step"] == "link":
            kind = LinkKind(said["link_kind"])
            status.link_correction(caller=caller, correction_id=correction_id, kind=kind, target=said["link_target"])
        else:
            status.unlink_correction(caller=caller, correction_id=correction_id)
    except DomainError as refusal:
        return refusal.message
    return ""


def _list_context(request: PageRequest, form: StepForm, refusals: dict[str, str]) -> dict[str, object]:
    caller = request.caller
    narrowed = CorrectionPageFilter(request.GET, corrections_for_list(caller))
    page = page_of(
        narrowed.qs, before=Place.read(request.GET.get("before", "")), after=Place.read(request.GET.get("after", ""))
    )
    names = names_of(correction.made_by_id for correction in page.corrections)
    rows: list[CorrectionShown] = [
        shown(correction, names, caller_id=caller.id, refusal=refusals.get(str(correction.id), ""))
        for correction in page.corrections
    ]
    subjects = subjects_seen(caller)
    return {
        "filter": narrowed,
        "desks": DESKS,
        "rows": rows,
        "newer": page.newer,
        "older": page.older,
        "form": form,
        "steps": [step for step in STEPS if step.name not in ("unlink", "open")],
        "chosen": set(request.POST.getlist("correction")),
        "lost": [refusal for key, refusal in refusals.items() if key not in {str(row.correction.id) for row in rows}],
        "subjects": sorted({subject for subject, _version in subjects}),
        "versions": sorted({version for _subject, version in subjects}),
    }


def _detail_context(caller: Caller, correction: Correction, form: StepForm, refusal: str = "") -> dict[str, object]:
    events = steps_of(correction)
    before = superseded_by_it(correction)
    names = names_of([correction.made_by_id, *(event.by_id for event in events)])
    decides = may_decide_as_owner(caller, correction)
    writes = caller.may(Action.WRITE, correction.project_id)
    steps = steps_from(correction, lambda guarded: writes and (decides or not guarded)) if correction.is_live else []
    return {
        "row": shown(correction, names, caller_id=caller.id, refusal=refusal),
        "events": list(steps_shown(events, names)),
        "before": before,
        "steps": steps,
        "form": form,
        "takes_note": any(step.takes_note for step in steps),
        "takes_link": any(step.takes_link for step in steps),
    }
