"""Ship: pin a version, say which mistakes it fixes, and see what came of it."""

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from corrections.queries.run_pages import names_of
from kindgi_site.callers import Action
from kindgi_site.errors import ConflictError, ForbiddenError, InvalidError
from kindgi_site.pages import render_page
from kindgi_site.workspaces.requests import PageRequest
from testsets.forms.agents import LiveForm
from testsets.presenters.live import change_shown, settled
from testsets.queries.live import change_of, next_change
from testsets.queries.pages import settled_between
from testsets.services.live import change_live
from testsets.views.agents import agent_page
from testsets.views.requests import agent_set_at

MOST_SETTLED = 200


@require_POST
def live_change(request: PageRequest, project_id: UUID, agent_id: str) -> HttpResponse:
    agent_set = agent_set_at(request, Action.WRITE, project_id, agent_id)
    form = LiveForm(request.POST, label_suffix="")
    if form.is_valid():
        try:
            change = change_live(
                caller=request.caller,
                project_id=project_id,
                agent_id=agent_id,
                draft=form.draft(request.POST.getlist("fixes")),
            )
        except (InvalidError, ConflictError, ForbiddenError) as refusal:
            form.add_error(None, refusal.message)
        else:
            return redirect("testsets:live_change_detail", project_id, agent_id, change.id)
    return agent_page(request, agent_set, refused=form)


@require_safe
def live_change_detail(request: PageRequest, project_id: UUID, agent_id: str, change_id: UUID) -> HttpResponse:
    """What a change made live, and what got fixed and came back while it was."""
    agent_set = agent_set_at(request, Action.READ, project_id, agent_id)
    change = change_of(project_id, agent_id, change_id)
    after = next_change(change)
    events = settled_between(
        project_id, agent_id, change.created_at, after.created_at if after else None, most=MOST_SETTLED
    )
    names = names_of([change.requested_by_id, *(event.correction.made_by_id for event in events)])
    rows = settled(events, names)
    context = {
        "project": agent_set.project,
        "agent_id": agent_id,
        "change": change_shown(change, names),
        "after": after,
        "fixed": [row for row in rows if row.is_fixed],
        "came_back": [row for row in rows if row.came_back],
        "still_wrong": [row for row in rows if not (row.is_fixed or row.came_back)],
        "is_cut": len(events) == MOST_SETTLED,
    }
    return render_page(request, "testsets/live_change_detail.html", fragment="testsets/_settled.html", context=context)
