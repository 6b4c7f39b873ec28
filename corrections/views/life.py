"""The owner's desks, and a correction's own page with what moves it on."""

from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode
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
from corrections.presenters.answers import ListedItem, marked_items
from corrections.presenters.corrections import CorrectionShown, shown, steps_shown
from corrections.queries.correction_pages import (
    LONGEST_HISTORY,
    PAGE_SIZE,
    correction_for_page,
    corrections_for_list,
    steps_of,
    superseded_by_it,
)
from corrections.queries.corrections import correction_not_found
from corrections.queries.run_pages import names_of, subjects_seen
from corrections.queries.said import said_of
from corrections.services import status
from corrections.vocabulary import LinkKind
from kindgi_site.callers import Action, Caller, Role
from kindgi_site.errors import DomainError, InvalidError
from kindgi_site.keyset import page_at
from kindgi_site.pages import render_page, wants_fragment
from kindgi_site.workspaces.requests import PageRequest

LIST_PAGE, LIST_PART = "corrections/correction_list.html", "corrections/_correction_table.html"
PAGE, PART = "corrections/correction_detail.html", "corrections/_correction_panel.html"
MOST_AT_ONCE = 100
# What is offered for several at once at each desk; the rest stands on a correction's own page.
AT_DESK = {
    "with-owner": ("link", "being-fixed", "wont-fix", "sort-developer", "sort-improve"),
    "improve": ("link", "being-fixed", "wont-fix", "sort-owner", "sort-developer"),
    "developer": ("link", "being-fixed", "wont-fix", "sort-owner", "sort-improve"),
    "fixed": ("open",),
    "all": ("link", "being-fixed", "wont-fix", "open", "sort-owner", "sort-developer", "sort-improve"),
}


@require_safe
def correction_list(request: PageRequest) -> HttpResponse:
    context = _list_context(request, StepForm(), {})
    response = render_page(request, LIST_PAGE, fragment=LIST_PART, context=context)
    if request.htmx and not (request.GET.get("before") or request.GET.get("after")):
        response["HX-Push-Url"] = f"{reverse('corrections:correction_list')}?{context['filter'].query}"
    return response


@require_POST
def correction_steps(request: PageRequest) -> HttpResponse:
    """One step for every correction that was ticked; each that is refused says why beside it."""
    form = StepForm(request.POST)
    chosen = list(dict.fromkeys(request.POST.getlist("correction")))[:MOST_AT_ONCE]
    if not chosen:
        form.add_error(None, _("Tick the corrections it is for."))
    refusals = _taken_by_each(request.caller, chosen, form) if form.is_valid() else {}
    is_refused = bool(refusals) or not form.is_valid()
    done = len(chosen) - len(refusals) if form.is_valid() else 0
    said = _words_of(form, done) if done else ""
    if not is_refused and not wants_fragment(request):
        messages.success(request, said)
        return redirect(f"{reverse('corrections:correction_list')}?{request.GET.urlencode()}")
    context = _list_context(request, form if is_refused else StepForm(), refusals) | {"said": said}
    code = HTTPStatus.UNPROCESSABLE_ENTITY if is_refused else HTTPStatus.OK
    return render_page(request, LIST_PAGE, fragment=LIST_PART, context=context, status=code)


def _words_of(form: StepForm, done: int) -> str:
    words = ngettext("%(count)d correction: %(step)s.", "%(count)d corrections: %(step)s.", done)
    return words % {"count": done, "step": BY_NAME[form.cleaned_data["step"]].done}


def _taken_by_each(caller: Caller, chosen: list[str], form: StepForm) -> dict[str, str]:
    """Why some were refused, by id. What is wrong with the step itself stands in the form, and none is taken."""
    refusals = {}
    for key in chosen:
        try:
            _take(caller, key, form)
        except InvalidError as refusal:
            form.add_error(None, refusal.message)
            return {}
        except DomainError as refusal:
            refusals[key] = refusal.message
    return refusals


@require_safe
def correction_detail(request: PageRequest, correction_id: UUID) -> HttpResponse:
    correction = correction_for_page(request.caller, correction_id)
    context = _detail_context(request, correction, StepForm())
    return render_page(request, PAGE, fragment=PART, context=context)


@require_POST
def correction_step(request: PageRequest, correction_id: UUID) -> HttpResponse:
    correction_for_page(request.caller, correction_id)
    form = StepForm(request.POST)
    refusals = _taken_by_each(request.caller, [str(correction_id)], form) if form.is_valid() else {}
    if form.is_valid() and not refusals:
        return _moved_on(request, correction_id)
    correction = correction_for_page(request.caller, correction_id)
    context = _detail_context(request, correction, form, refusals.get(str(correction_id), ""))
    return render_page(request, PAGE, fragment=PART, context=context, status=HTTPStatus.UNPROCESSABLE_ENTITY)


@require_POST
def correction_remove(request: PageRequest, correction_id: UUID) -> HttpResponse:
    """Take back one's own correction. Somebody else's is not taken back at a page."""
    correction = correction_for_page(request.caller, correction_id)
    if not _is_own(request.caller, correction):
        raise correction_not_found(correction_id)
    status.remove_correction(caller=request.caller, correction_id=str(correction_id))
    return _moved_on(request, correction_id)


def _moved_on(request: PageRequest, correction_id: UUID) -> HttpResponse:
    if not wants_fragment(request):
        query = _desk_query(request)
        page = reverse("corrections:correction_detail", args=[correction_id])
        return redirect(f"{page}?{query}" if query else page)
    correction = correction_for_page(request.caller, correction_id)
    context = _detail_context(request, correction, StepForm()) | {"is_moved": True}
    return render_page(request, PAGE, fragment=PART, context=context)


def _is_own(caller: Caller, correction: Correction) -> bool:
    return (correction.made_by_kind, correction.made_by_id) == (caller.kind, caller.id)


def _take(caller: Caller, correction_id: str, form: StepForm) -> None:
    """Take the step through its service."""
    said = form.cleaned_data
    note = said["note"] or None
    if said["step"] in STATUS_OF:
        status.set_status(caller=caller, correction_id=correction_id, status=STATUS_OF[said["step"]], note=note)
    elif said["step"] in SORT_OF:
        status.sort_correction(caller=caller, correction_id=correction_id, to=SORT_OF[said["step"]], reason=note)
    elif said["step"] == "link":
        kind = LinkKind(said["link_kind"])
        target = said["link_target"]
        status.link_correction(caller=caller, correction_id=correction_id, kind=kind, target=target, note=note)
    else:
        status.unlink_correction(caller=caller, correction_id=correction_id, note=note)


def _list_context(request: PageRequest, form: StepForm, refusals: dict[str, str]) -> dict[str, Any]:
    caller = request.caller
    narrowed = CorrectionPageFilter(request.GET, corrections_for_list(caller), caller=caller)
    page = page_at(request.GET, narrowed.qs, PAGE_SIZE)
    names = names_of(correction.made_by_id for correction in page.rows)
    # What was refused stays ticked, and so does everything when nothing could be done.
    chosen = set(request.POST.getlist("correction")) if form.is_bound and (refusals or not form.is_valid()) else set()
    rows: list[CorrectionShown] = [
        shown(
            correction,
            names,
            caller_id=caller.id,
            refusal=refusals.get(str(correction.id), ""),
            is_chosen=str(correction.id) in (refusals or chosen),
        )
        for correction in page.rows
    ]
    subjects = subjects_seen(caller)
    return {
        "filter": narrowed,
        "desks": _desks(request, narrowed),
        "rows": rows,
        "newer": page.previous,
        "older": page.next,
        "form": form,
        "steps": [step for step in STEPS if step.name in AT_DESK[narrowed.desk_name]],
        "takes_link": "link" in AT_DESK[narrowed.desk_name],
        "is_first_page": not (request.GET.get("before") or request.GET.get("after")),
        "may_write": caller.may_administer_workspace
        or any(role != Role.VIEWER for role in caller.project_roles.values()),
        "lost": [refusal for key, refusal in refusals.items() if key not in {str(row.correction.id) for row in rows}],
        "subjects": sorted({subject for subject, _version in subjects}),
        "versions": sorted({version for _subject, version in subjects}),
    }


def _desks(request: PageRequest, narrowed: CorrectionPageFilter) -> list[tuple[str, Any, str]]:
    """(name, words, address) of each desk; the filters that make sense at every desk stay."""
    desks: list[tuple[str, Any, str]] = []
    for name, words in DESKS:
        given = {key: request.GET.get(key, "") for key in narrowed.filters if key not in ("desk", "status")}
        query = urlencode({"desk": name} | {key: value for key, value in given.items() if value})
        desks.append((name, words, f"{reverse('corrections:correction_list')}?{query}"))
    return desks


def _desk_query(request: PageRequest) -> str:
    """The desk and the filters one came from, to go back to."""
    narrowed = CorrectionPageFilter(request.GET, Correction.objects.none(), caller=request.caller)
    return narrowed.query if request.GET else ""


def _marked(correction: Correction) -> list[ListedItem]:
    draft, output = said_of(correction), correction.copy.output
    return marked_items(draft, correction.subject_kind, output and output.value) if draft.items else []


def _detail_context(request: PageRequest, correction: Correction, form: StepForm, refusal: str = "") -> dict[str, Any]:
    caller = request.caller
    events = steps_of(correction)
    before = superseded_by_it(correction)
    names = names_of([correction.made_by_id, *(event.by_id for event in events)])
    decides = may_decide_as_owner(caller, correction)
    writes = caller.may(Action.WRITE, correction.project_id)
    steps = steps_from(correction, lambda guarded: writes and (decides or not guarded)) if correction.is_live else []
    return {
        "row": shown(correction, names, caller_id=caller.id, refusal=refusal),
        "marked": _marked(correction),
        "desk_query": _desk_query(request),
        "events": list(steps_shown(events, names)),
        "longest_history": LONGEST_HISTORY if len(events) >= LONGEST_HISTORY else 0,
        "before": before,
        "steps": steps,
        "form": form,
        "actions": [step for step in steps if not step.takes_link],
        "is_own": _is_own(caller, correction) and correction.is_live and writes,
        "takes_link": any(step.takes_link for step in steps),
    }
