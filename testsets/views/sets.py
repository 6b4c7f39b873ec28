"""The list of test sets, a set's versions, a version's cases and one case."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from kindgi_site.callers import Action
from kindgi_site.pages import render_page
from kindgi_site.workspaces.requests import PageRequest
from testsets.models import TestCase, TestSetVersion
from testsets.presenters.cases import case_row, expected, experts_case, sayer_ids, sayers_shown
from testsets.presenters.evidence import evidence_shown
from testsets.presenters.sets import VersionShown, set_row, version_row
from testsets.queries.pages import (
    Sayers,
    calls_of_case,
    case_in,
    case_neighbours,
    cases_page,
    sayers_of,
    sets_for_list,
    versions_for_page,
)
from testsets.queries.sets import set_readable_by, version_readable_by
from testsets.rules.cases import read_case
from testsets.rules.versions import CORRECTIONS
from testsets.services.sets import reinstate_version, unregister_version

MOST_DIGITS = 6


@require_safe
def test_set_list(request: PageRequest) -> HttpResponse:
    page = sets_for_list(request.caller, after=request.GET.get("after", ""))
    context = {
        "rows": [set_row(version) for version in page.rows],
        "next": page.next,
        "is_later_page": bool(request.GET.get("after")),
        "may_build": may_build_somewhere(request),
    }
    return render_page(
        request, "testsets/test_set_list.html", fragment="testsets/_test_set_table.html", context=context
    )


@require_safe
def test_set_detail(request: PageRequest, set_name: str) -> HttpResponse:
    return _set_page(request, set_name)


def _set_page(request: PageRequest, set_name: str) -> HttpResponse:
    test_set = set_readable_by(request.caller, set_name)
    versions = [version_row(version) for version in versions_for_page(test_set)]
    context = {
        "test_set": test_set,
        "versions": versions,
        "latest": next((row for row in versions if not row.unregistered_at), None),
        "may_admin": request.caller.may(Action.ADMIN, test_set.project_id),
    }
    return render_page(
        request, "testsets/test_set_detail.html", fragment="testsets/_version_table.html", context=context
    )


@require_POST
def version_unregister(request: PageRequest, set_name: str, version: str) -> HttpResponse:
    unregister_version(caller=request.caller, set_name=set_name, version=version)
    return _after_change(
        request, set_name, _("Version %(version)s is out of use. Its cases and test runs stay."), version
    )


@require_POST
def version_reinstate(request: PageRequest, set_name: str, version: str) -> HttpResponse:
    reinstate_version(caller=request.caller, set_name=set_name, version=version)
    return _after_change(request, set_name, _("Version %(version)s is in use again."), version)


def _after_change(request: PageRequest, set_name: str, words: str, version: str) -> HttpResponse:
    if request.htmx:
        return _set_page(request, set_name)
    messages.success(request, words % {"version": version})
    return redirect("testsets:test_set_detail", set_name)


@require_safe
def version_detail(request: PageRequest, set_name: str, version: str) -> HttpResponse:
    found = version_readable_by(request.caller, set_name, version)
    page = cases_page(found, start_of(request))
    sayers = _sayers(request, page.rows)
    context = {
        "version": found,
        "shown": VersionShown.of(found),
        "rows": [case_row(case, sayers) for case in page.rows],
        "next": page.next,
        "start": start_of(request),
        "case_count": found.cases.count(),
        "erased_count": found.cases.filter(erased_at__isnull=False).count(),
        "may_grade": found.kind == CORRECTIONS and request.caller.may(Action.EXECUTE, found.test_set.project_id),
    }
    return render_page(request, "testsets/version_detail.html", fragment="testsets/_case_table.html", context=context)


@require_safe
def case_detail(request: PageRequest, set_name: str, version: str, case_id: str) -> HttpResponse:
    found = version_readable_by(request.caller, set_name, version)
    case = case_in(found, case_id)
    sayers = _sayers(request, [case])
    context = _case_context(request, found, case, sayers)
    return render_page(request, "testsets/case_detail.html", fragment="testsets/_case_panel.html", context=context)


def _case_context(request: PageRequest, version: TestSetVersion, case: TestCase, sayers: Sayers) -> dict[str, object]:
    experts_only = request.GET.get("words") == "experts"
    assert case.wire is not None
    tools: list[str] | None = case.called_tools.value if case.called_tools else None
    whole = read_case(case.wire.value, tools)
    counted = experts_case(whole, experts_only=experts_only)
    raw_url = reverse("testsets:case_raw", args=[version.test_set.name, version.version, case.case_id])
    before, after = case_neighbours(case)
    row = case_row(case, sayers)
    evidence = None
    if not row.is_erased:
        calls = calls_of_case(request.caller.workspace_id, case)
        evidence = evidence_shown(case.wire.value, calls, {item.key: item for item in counted.items}, raw_url)
    return {
        "version": version,
        "case": row,
        "segments": case.wire.value.get("segments", []),
        "evidence": evidence,
        "expected": [] if row.is_erased else expected(counted),
        "experts_only": experts_only,
        "sayers": [sayer for sayer in sayers_shown(whole, sayers) if sayer.is_expert or not experts_only],
        "raw_url": raw_url,
        "before": before,
        "after": after,
    }


@require_safe
def case_raw(request: PageRequest, set_name: str, version: str, case_id: str) -> HttpResponse:
    """The whole case as text, never as anything a browser would run."""
    case = case_in(version_readable_by(request.caller, set_name, version), case_id)
    assert case.wire is not None
    response = HttpResponse(case.wire.text.encode("utf-8", "replace"), content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = f'inline; filename="{case.id}.txt"'
    response["X-Content-Type-Options"] = "nosniff"
    return response


def _sayers(request: PageRequest, cases: list[TestCase]) -> Sayers:
    ids = [name for case in cases if case.wire is not None for name in sayer_ids(case.wire.value)]
    return sayers_of(request.caller.workspace_id, ids)


def start_of(request: HttpRequest) -> int:
    """The position a page of cases starts at."""
    said = request.GET.get("from", "")
    return int(said) if said.isdecimal() and len(said) <= MOST_DIGITS else 0


def may_build_somewhere(request: PageRequest) -> bool:
    caller = request.caller
    return caller.is_workspace_admin or any(caller.may(Action.ADMIN, project) for project in caller.project_roles)
