"""The steps of a test run: starting one."""

from http import HTTPStatus

from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from corrections.queries.run_pages import subjects_seen
from kindgi_site.callers import Action
from kindgi_site.errors import InvalidError, UnprocessableError
from kindgi_site.pages import render_page
from kindgi_site.workspaces.permissions import check_project_action
from kindgi_site.workspaces.requests import PageRequest
from testsets.forms import TestRunForm
from testsets.models import TestSetVersion
from testsets.presenters.sets import made_from
from testsets.queries.sets import version_readable_by
from testsets.services.test_runs import start_test_run
from testsets.views.requests import projects_for


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
