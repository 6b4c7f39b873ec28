"""The steps of a test run: starting one, handing its outputs in, completing or cancelling it, scoring it again."""

from collections.abc import Sequence
from dataclasses import replace
from http import HTTPStatus
from itertools import islice
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRedirect

from corrections.queries.run_pages import subjects_seen
from kindgi_site.callers import Action
from kindgi_site.errors import InvalidError, UnprocessableError
from kindgi_site.pages import render_page, wants_fragment
from kindgi_site.workspaces.permissions import check_project_action
from kindgi_site.workspaces.requests import PageRequest
from testsets.forms.test_runs import CancelRunForm, OutputsForm, TestRunForm
from testsets.models import TestRun, TestSetVersion
from testsets.outputs import Line, read_lines
from testsets.presenters.sets import made_from
from testsets.queries.sets import version_readable_by
from testsets.queries.test_runs import TERMINAL, test_run_readable_by
from testsets.services.test_runs import (
    cancel_test_run,
    check_outputs,
    complete_test_run,
    judge_outputs,
    rescore_test_run,
    start_test_run,
    submit_outputs,
)
from testsets.views.requests import projects_for
from testsets.views.test_runs import most_lines, run_page

MOST_PROBLEMS = 50


@require_http_methods(["GET", "HEAD", "POST"])
def test_run_start(request: PageRequest, set_name: str, version: str) -> HttpResponse:
    found = version_readable_by(request.caller, set_name, version)
    if request.method != "POST":
        kind, subject = made_from(found)
        initial = {"project": found.test_set.project_id, "kind": kind, "subject": subject}
        return _form_page(request, found, _form(request, initial=initial))
    check_project_action(request.caller, Action.EXECUTE, found.test_set.project_id)
    form = _form(request, request.POST)
    if form.is_valid():
        try:
            run = start_test_run(caller=request.caller, set_name=set_name, draft=form.draft(version))
        except (InvalidError, UnprocessableError) as refusal:
            form.add_error(None, refusal.message)
        else:
            return redirect("testsets:test_run_detail", run.id)
    return _form_page(request, found, form, status=HTTPStatus.UNPROCESSABLE_ENTITY)


@require_POST
def test_run_submit(request: PageRequest, run_id: UUID) -> HttpResponse:
    """A whole file of outputs, or none of it and what is wrong with each line."""
    run = test_run_readable_by(request.caller, run_id)
    form = OutputsForm(request.POST, request.FILES, label_suffix="")
    lines = _lines(form)
    problems = _problems(request, run, lines)
    if problems or not form.is_valid():
        return _refused_file(request, run, form, problems)
    outputs = [line.output for line in lines if line.output is not None]
    caller, seconds = request.caller, settings.JUDGE_BUDGET_SECONDS
    verdicts = judge_outputs(caller=caller, run_id=run_id, outputs=outputs, seconds=seconds)
    run, accepted = submit_outputs(caller=caller, run_id=run_id, outputs=outputs, verdicts=verdicts)
    return _after_outputs(request, run, accepted)


def _lines(form: OutputsForm) -> list[Line]:
    if not form.is_valid():
        return []
    # Its lines, and not those of Django's own iterator, which ends one at a lone carriage return too.
    most = most_lines()
    lines = list(islice(read_lines(form.cleaned_data["file"].file), most + 1))
    if not lines:
        form.add_error("file", _("There is no output in this file."))
    if len(lines) > most:
        words = _("This file has more than %(most)d lines, which is more than is taken at once.")
        form.add_error("file", words % {"most": most})
        return []
    return lines


def _problems(request: PageRequest, run: TestRun, lines: Sequence[Line]) -> list[Line]:
    """The lines that are no output, and those whose output would be refused."""
    read = [(line, line.output) for line in lines if line.output is not None]
    reasons = check_outputs(caller=request.caller, run_id=run.id, outputs=[output for _line, output in read])
    refused = {read[place][0].number: reason for place, reason in reasons.items()}
    said = (replace(line, problem=refused.get(line.number, line.problem)) for line in lines)
    return [line for line in said if line.problem]


def _refused_file(request: PageRequest, run: TestRun, form: OutputsForm, problems: Sequence[Line]) -> HttpResponse:
    return run_page(
        request,
        run,
        status=HTTPStatus.UNPROCESSABLE_ENTITY,
        outputs_form=form,
        problems=problems[:MOST_PROBLEMS],
        problem_count=len(problems),
        more_problems=max(0, len(problems) - MOST_PROBLEMS),
    )


def _after_outputs(request: PageRequest, run: TestRun, accepted: int) -> HttpResponse:
    words = ngettext("%(count)d output was accepted;", "%(count)d outputs were accepted;", accepted)
    words = f"{words % {'count': accepted}} {_remaining_words(run.remaining)}"
    if run.status not in TERMINAL and wants_fragment(request):
        return run_page(request, run, accepted=words)
    messages.success(request, words)
    where = reverse("testsets:test_run_detail", args=[run.id])
    return HttpResponseClientRedirect(where) if wants_fragment(request) else redirect(where)


def _remaining_words(remaining: int) -> str:
    if not remaining:
        return _("none remains.")
    return ngettext("%(count)d remains.", "%(count)d remain.", remaining) % {"count": remaining}


@require_POST
def test_run_complete(request: PageRequest, run_id: UUID) -> HttpResponse:
    complete_test_run(caller=request.caller, run_id=run_id)
    return redirect("testsets:test_run_detail", run_id)


@require_POST
def test_run_cancel(request: PageRequest, run_id: UUID) -> HttpResponse:
    form = CancelRunForm(request.POST, label_suffix="")
    if not form.is_valid():
        run = test_run_readable_by(request.caller, run_id)
        return run_page(request, run, status=HTTPStatus.UNPROCESSABLE_ENTITY, cancel_form=form)
    cancel_test_run(caller=request.caller, run_id=run_id, reason=form.cleaned_data["reason"])
    return redirect("testsets:test_run_detail", run_id)


@require_POST
def test_run_rescore(request: PageRequest, run_id: UUID) -> HttpResponse:
    """Leads to the new run; the old one stays as it is."""
    run = rescore_test_run(caller=request.caller, run_id=run_id)
    return redirect("testsets:test_run_detail", run.id)


def _form(request: PageRequest, data: object = None, **options: object) -> TestRunForm:
    return TestRunForm(data, projects=projects_for(request, Action.WRITE), label_suffix="", **options)


def _form_page(
    request: PageRequest, version: TestSetVersion, form: TestRunForm, *, status: HTTPStatus = HTTPStatus.OK
) -> HttpResponse:
    subjects = subjects_seen(request.caller)
    context = {
        "version": version,
        "form": form,
        "case_count": version.cases.filter(erased_at__isnull=True).count(),
        "may_start": request.caller.may(Action.EXECUTE, version.test_set.project_id),
        "subjects": sorted({subject for subject, _version in subjects}),
        "versions": sorted({seen for _subject, seen in subjects}),
    }
    return render_page(
        request,
        "testsets/test_run_form.html",
        fragment="testsets/_test_run_form.html",
        context=context,
        status=status,
    )
