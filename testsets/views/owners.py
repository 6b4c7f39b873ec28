"""Saying who owns an agent, on its page."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from corrections.queries.agents import owner_of
from corrections.services.agents import set_owner
from kindgi_site.callers import Action
from kindgi_site.pages import wants_fragment
from kindgi_site.workspaces.requests import PageRequest
from testsets.views.agents import agent_page, owner_form_of
from testsets.views.requests import agent_set_at

OWNER = "testsets/_agent_owner.html"


@require_POST
def agent_owner(request: PageRequest, project_id: UUID, agent_id: str) -> HttpResponse:
    agent_set = agent_set_at(request, Action.ADMIN, project_id, agent_id)
    form = owner_form_of(agent_set, owner_of(project_id, agent_id), request.POST)
    if not form.is_valid():
        return agent_page(request, agent_set, refused=form, fragment=OWNER)
    set_owner(caller=request.caller, project_id=project_id, agent_id=agent_id, owner=form.party())
    if wants_fragment(request):
        return agent_page(request, agent_set, fragment=OWNER)
    messages.success(request, _("Saved who owns the agent."))
    return redirect("testsets:agent_detail", project_id, agent_id)
