"""Build a test set from corrections: the form with its live preview, and building itself."""

from http import HTTPStatus

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from corrections.queries.run_pages import subjects_seen
from corrections.rules.segments import check_segments
from kindgi_site.callers import Action
from kindgi_site.errors import ConflictError, InvalidError
from kindgi_site.pages import render_page
from kindgi_site.workspaces.requests import PageRequest
from testsets.drafts import Selection
from testsets.forms.sets import PublishForm, SelectionForm
from testsets.queries.pages import groups_for_building
from testsets.queries.previews import preview_of
from testsets.services.building import build_from_corrections
from testsets.views.requests import projects_for

PAGE, PREVIEW = "testsets/test_set_build.html", "testsets/_build_preview.html"


@require_http_methods(["GET", "HEAD", "POST"])
def test_set_build(request: PageRequest) -> HttpResponse:
    if request.method == "POST":
        return _build(request)
    is_asked = "subject" in request.GET
    form = _selection_form(request, request.GET if is_asked else None)
    publish = PublishForm(initial={name: request.GET.get(name, "") for name in ("set_name", "version", "description")})
    return _page(request, form, publish)


def _build(request: PageRequest) -> HttpResponse:
    form, publish = _selection_form(request, request.POST), PublishForm(request.POST)
    if not (form.is_valid() & publish.is_valid()):
        return _page(request, form, publish, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    said, selection = publish.cleaned_data, form.selection()
    try:
        check_segments(selection.segments)
        built = build_from_corrections(
            caller=request.caller,
            set_name=said["set_name"],
            version=said["version"],
            selection=selection,
            description=said["description"],
        )
    except (InvalidError, ConflictError) as refusal:
        publish.add_error(None, refusal.message)
        return _page(request, form, publish, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    words = ngettext("Built with %(count)d case.", "Built with %(count)d cases.", built.case_count)
    messages.success(request, words % {"count": built.case_count})
    return redirect("testsets:version_detail", said["set_name"], said["version"])


def _selection_form(request: PageRequest, data: object) -> SelectionForm:
    mine = projects_for(request, Action.ADMIN)
    return SelectionForm(data, projects=mine, groups=groups_for_building(request.caller), label_suffix="")


def _page(
    request: PageRequest, form: SelectionForm, publish: PublishForm, *, status: HTTPStatus = HTTPStatus.OK
) -> HttpResponse:
    subjects = subjects_seen(request.caller)
    context = {
        "form": form,
        "publish": publish,
        "preview": _preview(request, form),
        "has_projects": form.fields["project"].queryset.exists(),  # type: ignore[attr-defined]
        "subjects": sorted({subject for subject, _version in subjects}),
        "versions": sorted({version for _subject, version in subjects}),
    }
    return render_page(request, PAGE, fragment=PREVIEW, context=context, status=status)


def _preview(request: PageRequest, form: SelectionForm) -> object:
    if not form.is_bound or not form.is_valid():
        return None
    selection: Selection = form.selection()
    try:
        check_segments(selection.segments)
    except InvalidError as refusal:
        form.add_error("segments", refusal.message)
        return None
    return preview_of(request.caller.workspace_id, selection)
