"""Members and service accounts of a workspace, and what they may do; for its administrators."""

from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from kindgi_site.callers import Caller, ReviewerRole
from kindgi_site.errors import ConflictError, ForbiddenError, InvalidError
from kindgi_site.pages import posted, render_page
from kindgi_site.workspaces.forms.people import InviteForm, MemberForm, RolesForm, ServiceForm
from kindgi_site.workspaces.models import Membership, Reviewer
from kindgi_site.workspaces.page_filters import MemberFilter, NameFilter
from kindgi_site.workspaces.permissions import check_workspace_admin
from kindgi_site.workspaces.queries.members import (
    MEMBERS_BY_NAME,
    SERVICES_BY_NAME,
    member_of,
    members_of,
    service_of,
    services_of,
)
from kindgi_site.workspaces.queries.projects import projects_readable_by
from kindgi_site.workspaces.requests import PageRequest
from kindgi_site.workspaces.services import members
from kindgi_site.workspaces.services.members import PrincipalKind
from kindgi_site.workspaces.services.reviewers import register_reviewer, unregister_reviewer

FORM_PAGE, FORM_PART = "workspaces/person_form.html", "workspaces/_person_form.html"
GET_OR_POST = ["GET", "HEAD", "POST"]


@require_safe
def people_list(request: PageRequest) -> HttpResponse:
    check_workspace_admin(request.caller)
    context = MemberFilter(request.GET, members_of(request.caller)).page_context(MEMBERS_BY_NAME)
    page, part = "workspaces/people_list.html", "workspaces/_member_table.html"
    return render_page(request, page, fragment=part, context=context)


@require_http_methods(GET_OR_POST)
def person_invite(request: PageRequest) -> HttpResponse:
    check_workspace_admin(request.caller)
    form = InviteForm(posted(request), projects=_projects(request.caller))
    if form.is_valid():
        try:
            person_id = _invited(request.caller, form)
        except InvalidError as refusal:
            form.add_error("username" if refusal.details.get("field") == "username" else None, refusal.message)
        else:
            return _welcome(request, person_id)
    return _form_page(request, {"form": form})


@transaction.atomic
def _invited(caller: Caller, form: InviteForm) -> UUID:
    said = form.cleaned_data
    person = members.invite_person(caller=caller, username=said["username"], is_admin=said["is_admin"])
    _set_standing(caller, person.id, form, None)
    return person.id


@require_http_methods(GET_OR_POST)
def person_change(request: PageRequest, person_id: UUID) -> HttpResponse:
    check_workspace_admin(request.caller)
    member = member_of(request.caller, person_id)
    form = _member_form(request, member)
    if form.is_valid():
        try:
            _changed(request.caller, member, form)
        except (ConflictError, InvalidError) as refusal:
            form.add_error(None, refusal.message)
        else:
            messages.success(request, _("Saved what %(name)s may do.") % {"name": member.person})
            return redirect("workspaces:people_list")
    return _form_page(request, {"form": form, "member": member})


def _member_form(request: PageRequest, member: Membership) -> MemberForm:
    place = _place_of(member)
    initial = {
        "is_admin": member.is_admin,
        "reviewer_role": place.role if place and place.deactivated_at is None else "",
        "display_name": place.display_name if place else "",
    }
    roles = member.person.roles_here  # type: ignore[attr-defined]
    return MemberForm(posted(request), projects=_projects(request.caller), roles=roles, initial=initial)


@transaction.atomic
def _changed(caller: Caller, member: Membership, form: MemberForm) -> None:
    """All of it or nothing."""
    person_id, is_admin = member.person_id, form.cleaned_data["is_admin"]
    members.set_member_admin(caller=caller, person_id=person_id, is_admin=is_admin)
    _set_standing(caller, person_id, form, _place_of(member))


def _set_standing(caller: Caller, person_id: UUID, form: MemberForm, place: Reviewer | None) -> None:
    _set_roles(caller, "user", person_id, form)
    said = form.cleaned_data
    if said["reviewer_role"] and {"reviewer_role", "display_name"} & set(form.changed_data):
        role = ReviewerRole(said["reviewer_role"])
        register_reviewer(caller=caller, person_id=person_id, role=role, display_name=said["display_name"])
    elif not said["reviewer_role"] and place is not None:
        unregister_reviewer(caller=caller, reviewer_id=str(place.id))


def _set_roles(caller: Caller, kind: PrincipalKind, principal_id: UUID, form: RolesForm) -> None:
    for project_id, role in form.changed_roles().items():
        members.set_role(caller=caller, kind=kind, principal_id=principal_id, project_id=project_id, role=role)


def _place_of(member: Membership) -> Reviewer | None:
    places: list[Reviewer] = member.person.places_here  # type: ignore[attr-defined]
    return places[0] if places else None


@require_POST
def person_welcome(request: PageRequest, person_id: UUID) -> HttpResponse:
    """A new link with which they set their password; the one before works no more once it was used."""
    return _welcome(request, person_id)


@require_POST
def person_remove(request: PageRequest, person_id: UUID) -> HttpResponse:
    try:
        person = members.remove_member(caller=request.caller, person_id=person_id)
    except ConflictError as refusal:
        member = member_of(request.caller, person_id)
        form = _member_form_as_it_is(request.caller, member)
        context = {"form": form, "member": member, "refusal": refusal.message}
        return _form_page(request, context, is_refused=True)
    messages.success(request, _("%(name)s does not belong to this workspace any more.") % {"name": person})
    return redirect("workspaces:people_list")


def _member_form_as_it_is(caller: Caller, member: Membership) -> MemberForm:
    place = _place_of(member)
    initial = {"is_admin": member.is_admin, "reviewer_role": place.role if place else ""}
    roles = member.person.roles_here  # type: ignore[attr-defined]
    return MemberForm(projects=_projects(caller), roles=roles, initial=initial)


@require_safe
def service_list(request: PageRequest) -> HttpResponse:
    check_workspace_admin(request.caller)
    context = NameFilter(request.GET, services_of(request.caller)).page_context(SERVICES_BY_NAME)
    page, part = "workspaces/service_list.html", "workspaces/_service_table.html"
    return render_page(request, page, fragment=part, context=context)


@require_http_methods(GET_OR_POST)
def service_create(request: PageRequest) -> HttpResponse:
    check_workspace_admin(request.caller)
    form = ServiceForm(posted(request), projects=_projects(request.caller))
    if form.is_valid():
        try:
            _made(request.caller, form)
        except InvalidError as refusal:
            form.add_error("name", refusal.message)
        else:
            messages.success(request, _("“%(name)s” is there; mint a key for it.") % form.cleaned_data)
            return redirect("workspaces:service_list")
    return _form_page(request, {"form": form, "is_service": True})


@transaction.atomic
def _made(caller: Caller, form: ServiceForm) -> None:
    service = members.create_service(caller=caller, name=form.cleaned_data["name"])
    _set_roles(caller, "service-account", service.id, form)


@require_http_methods(GET_OR_POST)
def service_change(request: PageRequest, service_id: UUID) -> HttpResponse:
    check_workspace_admin(request.caller)
    service = service_of(request.caller, service_id)
    roles = service.roles_here  # type: ignore[attr-defined]
    form = RolesForm(posted(request), projects=_projects(request.caller), roles=roles)
    if form.is_valid():
        with transaction.atomic():
            _set_roles(request.caller, "service-account", service_id, form)
        messages.success(request, _("Saved what %(name)s may do.") % {"name": service})
        return redirect("workspaces:service_list")
    return _form_page(request, {"form": form, "service": service, "is_service": True})


def _projects(caller: Caller) -> Any:
    return projects_readable_by(caller).order_by("name")


def _form_page(request: PageRequest, context: dict[str, Any], *, is_refused: bool = False) -> HttpResponse:
    refused = is_refused or context["form"].is_bound
    code = HTTPStatus.UNPROCESSABLE_ENTITY if refused else HTTPStatus.OK
    return render_page(request, FORM_PAGE, fragment=FORM_PART, context=context, status=code)


def _welcome(request: PageRequest, person_id: UUID) -> HttpResponse:
    """Shows the link, this once. Where there can be none, the person is a member all the same."""
    context: dict[str, Any] = {}
    try:
        name, token = members.welcome_token(caller=request.caller, person_id=person_id)
        context["link"] = request.build_absolute_uri(reverse("welcome", args=[name, token]))
    except ForbiddenError as refusal:
        check_workspace_admin(request.caller)
        context["refusal"] = refusal.message
    context["member"] = member_of(request.caller, person_id)
    page, part = "workspaces/person_welcome.html", "workspaces/_welcome.html"
    code = HTTPStatus.OK if "link" in context else HTTPStatus.FORBIDDEN
    response = render_page(request, page, fragment=part, context=context, status=code)
    response["Cache-Control"] = "no-store"
    return response
