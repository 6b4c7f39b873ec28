"""Corrector groups: whose word counts how much, and who may speak for them."""

from http import HTTPStatus
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from corrections.forms.groups import WORKSPACE, GroupForm, RestrictionForm, as_it_is
from corrections.models import CorrectorGroup
from corrections.page_filters import GroupFilter
from corrections.presenters.groups import GroupShown, group_shown
from corrections.queries.groups import BY_NAME, group_not_found, group_readable_by, groups_for_page, principals_of
from corrections.queries.run_pages import names_of, subjects_seen
from corrections.services.groups import change_group, create_group, may_administer_group, retire_group
from kindgi_site.callers import Action, Caller
from kindgi_site.errors import ConflictError, InvalidError
from kindgi_site.pages import posted, render_page
from kindgi_site.workspaces.permissions import check_workspace_admin
from kindgi_site.workspaces.queries.projects import projects_readable_by
from kindgi_site.workspaces.requests import PageRequest

FORM_PAGE, FORM_PART = "corrections/group_form.html", "corrections/_group_form.html"


@require_safe
def group_list(request: PageRequest) -> HttpResponse:
    context = GroupFilter(request.GET, groups_for_page(request.caller)).page_context(BY_NAME)
    context["rows"] = _shown(request.caller, context["rows"])
    context["may_create"] = bool(_scopes(request.caller))
    return render_page(
        request, "corrections/group_list.html", fragment="corrections/_group_table.html", context=context
    )


@require_http_methods(["GET", "HEAD", "POST"])
def group_create(request: PageRequest) -> HttpResponse:
    caller = request.caller
    scopes = _scopes(caller)
    if not scopes:
        check_workspace_admin(caller)
    form = GroupForm(posted(request), scopes=scopes, principals=principals_of(caller))
    if form.is_valid():
        try:
            group = create_group(caller=caller, draft=form.draft())
        except (InvalidError, ConflictError) as refusal:
            form.add_error(None, refusal.message)
        else:
            messages.success(request, _("The group “%(name)s” is there.") % {"name": group.name})
            return redirect("corrections:group_list")
    subjects = sorted({subject for subject, _version in subjects_seen(caller)})
    return _form_page(request, {"form": form, "subjects": subjects}, is_refused=form.is_bound)


@require_http_methods(["GET", "HEAD", "POST"])
def group_change(request: PageRequest, group_id: UUID) -> HttpResponse:
    group = _administered(request.caller, group_id)
    known = principals_of(request.caller)
    gone = [(one, one) for one in group.principal_ids if one not in dict(known)]
    form = RestrictionForm(posted(request), principals=[*known, *gone], initial=as_it_is(group))
    if form.is_valid():
        try:
            change_group(caller=request.caller, group_id=str(group_id), change=form.change())
        except InvalidError as refusal:
            form.add_error(None, refusal.message)
        else:
            messages.success(request, _("“%(name)s” is changed.") % {"name": group.name})
            return redirect("corrections:group_list")
    row = _shown(request.caller, [group])[0]
    return _form_page(request, {"form": form, "row": row}, is_refused=form.is_bound)


@require_POST
def group_retire(request: PageRequest, group_id: UUID) -> HttpResponse:
    group = retire_group(caller=request.caller, group_id=str(group_id))
    messages.success(request, _("Nobody speaks for “%(name)s” any more.") % {"name": group.name})
    return redirect("corrections:group_list")


def _form_page(request: PageRequest, context: dict[str, object], *, is_refused: bool) -> HttpResponse:
    code = HTTPStatus.UNPROCESSABLE_ENTITY if is_refused else HTTPStatus.OK
    return render_page(request, FORM_PAGE, fragment=FORM_PART, context=context, status=code)


def _administered(caller: Caller, group_id: UUID) -> CorrectorGroup:
    """A live group of a scope the caller administers."""
    group = group_readable_by(caller, str(group_id))
    if group.unregistered_at is not None:
        raise group_not_found(group_id)
    if not may_administer_group(caller, group):
        check_workspace_admin(caller)
    return group


def _shown(caller: Caller, groups: list[CorrectorGroup]) -> list[GroupShown]:
    administered = {group.id for group in groups if may_administer_group(caller, group)}
    names = names_of(one for group in groups if group.id in administered for one in group.principal_ids)
    return [group_shown(group, names, may_change=group.id in administered) for group in groups]


def _scopes(caller: Caller) -> list[tuple[str, str]]:
    """Where the caller may make groups."""
    projects = [
        (str(project.id), project.name)
        for project in projects_readable_by(caller).order_by("name")
        if caller.may(Action.ADMIN, project.id)
    ]
    return ([(WORKSPACE, _("the whole workspace"))] if caller.may_administer_workspace else []) + projects
