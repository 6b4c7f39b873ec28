"""API keys listed, minted and revoked at a page; for a workspace's administrators."""

from http import HTTPStatus
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from kindgi_site.errors import ForbiddenError, InvalidError
from kindgi_site.keyset import NEWEST_FIRST
from kindgi_site.pages import posted, render_page
from kindgi_site.workspaces.forms.keys import KeyForm
from kindgi_site.workspaces.page_filters import KeyFilter
from kindgi_site.workspaces.permissions import check_workspace_admin
from kindgi_site.workspaces.queries.members import keys_of, names_in
from kindgi_site.workspaces.queries.projects import projects_readable_by
from kindgi_site.workspaces.requests import PageRequest
from kindgi_site.workspaces.services.keys import mint_key, revoke_key_by_id


@require_safe
def key_list(request: PageRequest) -> HttpResponse:
    check_workspace_admin(request.caller)
    context = KeyFilter(request.GET, keys_of(request.caller)).page_context(NEWEST_FIRST)
    page, part = "workspaces/key_list.html", "workspaces/_key_table.html"
    return render_page(request, page, fragment=part, context=context)


@require_http_methods(["GET", "HEAD", "POST"])
def key_mint(request: PageRequest) -> HttpResponse:
    check_workspace_admin(request.caller)
    projects = [(str(project.id), project.name) for project in projects_readable_by(request.caller).order_by("name")]
    asked = request.GET.get("for", "")
    principals = names_in(request.caller, also=request.POST.get("principal", asked))
    form = KeyForm(posted(request), principals=principals, projects=projects, initial={"principal": asked})
    if form.is_valid():
        try:
            key, text = mint_key(caller=request.caller, draft=form.draft())
        except (InvalidError, ForbiddenError) as refusal:
            form.add_error(None, refusal.message)
        else:
            context = {"key": key, "text": text}
            response = render_page(
                request, "workspaces/key_minted.html", fragment="workspaces/_key_minted.html", context=context
            )
            response["Cache-Control"] = "no-store"
            return response
    code = HTTPStatus.UNPROCESSABLE_ENTITY if form.is_bound else HTTPStatus.OK
    page, part = "workspaces/key_form.html", "workspaces/_key_form.html"
    return render_page(request, page, fragment=part, context={"form": form}, status=code)


@require_POST
def key_revoke(request: PageRequest, key_id: UUID) -> HttpResponse:
    check_workspace_admin(request.caller)
    key = revoke_key_by_id(caller=request.caller, key_id=str(key_id))
    messages.success(request, _("The key “%(name)s” opens nothing any more.") % {"name": key})
    return redirect("workspaces:key_list")
