"""The list of agents; and an agent's page: what is live, its live set of cases, freezing it, and adding cases to it."""

from collections.abc import Iterable
from http import HTTPStatus
from typing import TypeVar
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from corrections.marks import Party
from corrections.models import Correction
from corrections.presenters.text import plain
from corrections.queries.agents import owner_of
from corrections.queries.run_pages import names_of, tools_seen, versions_seen
from corrections.queries.said import group_weights
from kindgi_site.callers import Action
from kindgi_site.errors import ConflictError, DomainError, InvalidError
from kindgi_site.pages import render_page
from kindgi_site.stored_json import JsonText
from kindgi_site.workspaces.queries.members import readers_of
from kindgi_site.workspaces.requests import PageRequest
from testsets.forms.agents import DraftCaseForm, LiveForm, OwnerForm, PromoteForm
from testsets.forms.sets import PublishForm
from testsets.models import HandCase
from testsets.presenters.agents import agent_rows
from testsets.presenters.cases import CaseShown, wire_row
from testsets.presenters.live import change_shown, mistakes
from testsets.presenters.numbers import counted
from testsets.presenters.sets import VersionShown
from testsets.presenters.test_runs import run_row
from testsets.presenters.words import member_state
from testsets.queries.agent_sets import AgentSet, Member, frozen_places, members_after, members_at
from testsets.queries.agents import BY_AGENT, agents_page, standing_of_agents
from testsets.queries.live import changes_of, live_row_of
from testsets.queries.pages import corrections_to_fix, sayers_of, versions_of_agent
from testsets.queries.run_pages import runs_of_agent
from testsets.rules.versions import parse_set_version
from testsets.services.building import MAX_CASES
from testsets.services.freezing import default_set_name, freeze, frozen_case
from testsets.services.hand_cases import add_hand_case, promote_run, remove_hand_case
from testsets.views.requests import agent_set_at
from testsets.views.sets import start_of

PAGE_SIZE = 30
FIRST_CASES = 8
MOST_CHANGES = 20
MOST_TO_FIX = 100
MOST_COUNTED = 10_000
AnyForm = TypeVar("AnyForm", LiveForm, PromoteForm, DraftCaseForm)
AGENT, FREEZE = "testsets/agent_detail.html", "testsets/agent_freeze.html"


@require_safe
def agent_list(request: PageRequest) -> HttpResponse:
    before, after = (BY_AGENT.read(request.GET.get(name, "")) for name in ("before", "after"))
    page = agents_page(request.caller, before=before, after=after)
    context = {
        "rows": agent_rows(page.rows, standing_of_agents(page.rows), names_of(row.owner_id for row in page.rows)),
        "previous": page.previous,
        "next": page.next,
        "is_first_page": not (request.GET.get("before") or request.GET.get("after")),
    }
    return render_page(request, "testsets/agent_list.html", fragment="testsets/_agent_table.html", context=context)


@require_safe
def agent_detail(request: PageRequest, project_id: UUID, agent_id: str) -> HttpResponse:
    return agent_page(request, agent_set_at(request, Action.READ, project_id, agent_id))


def agent_page(
    request: PageRequest,
    agent_set: AgentSet,
    *,
    refused: LiveForm | PromoteForm | DraftCaseForm | OwnerForm | None = None,
    fragment: str = "testsets/_ship.html",
) -> HttpResponse:
    """The page, with whichever form was refused as it was filled in."""
    caller, project, agent_id = request.caller, agent_set.project, agent_set.agent_id
    row = live_row_of(project.id, agent_id)
    owner = owner_of(project.id, agent_id)
    may_admin = caller.may(Action.ADMIN, project.id)
    changes = list(changes_of(project.id, agent_id)[:MOST_CHANGES])
    to_fix = corrections_to_fix(project, agent_id, MOST_TO_FIX)
    names = names_of(
        [*(change.requested_by_id for change in changes), *(row.made_by_id for row in to_fix)]
        + ([owner.id] if owner else [])
    )
    members = members_after(agent_set, None, FIRST_CASES)
    versions = [VersionShown.of(version) for version in versions_of_agent(project.id, agent_id)]
    in_use = next((version for version in versions if not version.unregistered_at), None)
    context = {
        "project": project,
        "agent_id": agent_id,
        "owner": owner and (names.get(owner.id) or plain(owner.id)),
        "owner_form": _owner_form(agent_set, owner, refused) if may_admin else None,
        "live": row if row and row.version else None,
        "changes": [change_shown(change, names) for change in changes],
        "to_fix": mistakes(to_fix, names, request.POST.getlist("fixes")),
        "most_to_fix": MOST_TO_FIX if len(to_fix) == MOST_TO_FIX else 0,
        "cases": _rows(request, members),
        "counts": counts_of(agent_set),
        "versions": versions,
        "to_grade": in_use if caller.may(Action.EXECUTE, project.id) else None,
        "runs": [run_row(run) for run in runs_of_agent(caller, project.id, agent_id)],
        "live_form": _kept(refused, LiveForm),
        "promote_form": _kept(refused, PromoteForm),
        "draft_form": _kept(refused, DraftCaseForm),
        "tools": tools_seen(caller, agent_id),
        "versions_seen": versions_seen(caller, project.id, agent_id),
        "may_write": caller.may(Action.WRITE, project.id),
        "may_admin": may_admin,
    }
    status = HTTPStatus.OK if refused is None else HTTPStatus.UNPROCESSABLE_ENTITY
    return render_page(request, AGENT, fragment=fragment, context=context, status=status)


def _kept(refused: object, kind: type[AnyForm]) -> AnyForm:
    """The form as it was filled in when it is the refused one, else an empty one."""
    return refused if isinstance(refused, kind) else kind(label_suffix="")


def owner_form_of(agent_set: AgentSet, owner: Party | None, said: QueryDict | None = None) -> OwnerForm:
    """For those who may say who owns it."""
    people, services = readers_of(agent_set.project)
    return OwnerForm(said, people=people, services=services, now=owner, label_suffix="")


def _owner_form(agent_set: AgentSet, owner: Party | None, refused: object) -> OwnerForm:
    return refused if isinstance(refused, OwnerForm) else owner_form_of(agent_set, owner)


@require_http_methods(["GET", "HEAD", "POST"])
def agent_freeze(request: PageRequest, project_id: UUID, agent_id: str) -> HttpResponse:
    """Exactly what will be frozen, and freezing it."""
    agent_set = agent_set_at(request, Action.READ, project_id, agent_id)
    if request.method != "POST":
        return _freeze_page(request, agent_set, PublishForm(initial=_suggested(agent_set), label_suffix=""))
    form = PublishForm(request.POST, label_suffix="")
    if not form.is_valid():
        return _freeze_page(request, agent_set, form, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    said = form.cleaned_data
    try:
        built = freeze(
            caller=request.caller,
            project_id=project_id,
            agent_id=agent_id,
            version=said["version"],
            set_name=said["set_name"],
            description=said["description"],
        )
    except (InvalidError, ConflictError) as refusal:
        form.add_error(None, refusal.message)
        return _freeze_page(request, agent_set, form, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    words = ngettext("Frozen with %(count)d case.", "Frozen with %(count)d cases.", built.case_count)
    messages.success(request, words % {"count": built.case_count})
    return redirect("testsets:version_detail", said["set_name"], said["version"])


@require_POST
def case_promote(request: PageRequest, project_id: UUID, agent_id: str) -> HttpResponse:
    agent_set = agent_set_at(request, Action.WRITE, project_id, agent_id)
    form = PromoteForm(request.POST, label_suffix="")
    if form.is_valid():
        try:
            _case, is_new = promote_run(
                caller=request.caller, project_id=project_id, agent_id=agent_id, run_id=form.run()
            )
        except DomainError as refusal:
            form.add_error("run_id", refusal.message)
        else:
            messages.success(request, _("The run is a case now.") if is_new else _("The run was a case already."))
            return redirect("testsets:agent_detail", project_id, agent_id)
    return agent_page(request, agent_set, refused=form)


@require_POST
def case_draft(request: PageRequest, project_id: UUID, agent_id: str) -> HttpResponse:
    agent_set = agent_set_at(request, Action.WRITE, project_id, agent_id)
    form = DraftCaseForm(request.POST, label_suffix="")
    if form.is_valid():
        try:
            add_hand_case(caller=request.caller, project_id=project_id, agent_id=agent_id, draft=form.draft())
        except (InvalidError, ConflictError) as refusal:
            form.add_error(None, refusal.message)
        else:
            messages.success(request, _("The case is in the set."))
            return redirect("testsets:agent_detail", project_id, agent_id)
    return agent_page(request, agent_set, refused=form)


@require_POST
def case_remove(request: PageRequest, project_id: UUID, agent_id: str, case_id: str) -> HttpResponse:
    remove_hand_case(caller=request.caller, project_id=project_id, agent_id=agent_id, case_id=case_id)
    messages.success(request, _("The case is out of the set. Versions frozen before keep it."))
    return redirect("testsets:agent_detail", project_id, agent_id)


def counts_of(agent_set: AgentSet) -> dict[str, object]:
    """How many are in the set; of many corrections only that there are more than MOST_COUNTED."""
    hand_cases = agent_set.hand_cases()
    corrections = agent_set.corrections().order_by()[: MOST_COUNTED + 1].count()
    by_hand = hand_cases.filter(is_incomplete=False).count()
    total, over = corrections + by_hand, max(0, corrections + by_hand - MAX_CASES)
    is_more = corrections > MOST_COUNTED
    return {
        "total": total,
        "total_words": counted(total, MOST_COUNTED if is_more else total),
        "corrections_words": counted(corrections, MOST_COUNTED),
        "by_hand": by_hand,
        "incomplete": hand_cases.filter(is_incomplete=True).count(),
        "frozen": min(total, MAX_CASES),
        "over": over,
        "over_words": counted(over, MOST_COUNTED - MAX_CASES if is_more else over),
    }


def _freeze_page(
    request: PageRequest, agent_set: AgentSet, form: PublishForm, *, status: HTTPStatus = HTTPStatus.OK
) -> HttpResponse:
    places = frozen_places(agent_set, MAX_CASES)
    start = start_of(request)
    shown = members_at(places[start : start + PAGE_SIZE])
    context = {
        "project": agent_set.project,
        "agent_id": agent_set.agent_id,
        "form": form,
        "counts": counts_of(agent_set),
        "cases": _rows(request, shown),
        "start": start,
        "next": start + PAGE_SIZE if len(places) > start + PAGE_SIZE else None,
        "may_admin": request.caller.may(Action.ADMIN, agent_set.project.id),
    }
    return render_page(request, FREEZE, fragment="testsets/_freeze_cases.html", context=context, status=status)


def _rows(request: PageRequest, members: Iterable[Member]) -> list[CaseShown]:
    """Each as it would be frozen now."""
    listed = list(members)
    ids = [member.case_id if isinstance(member, HandCase) else str(member.id) for member in listed]
    sayers = sayers_of(request.caller.workspace_id, ids)
    weights = group_weights(request.caller.workspace_id)
    rows = []
    for member in listed:
        # A row shows neither the conversation nor the answer: they are not read again for it.
        shown = {name: part for name, part in frozen_case(member, weights).items() if name != "context"}
        wire = JsonText.of(shown | {"output": None}).value
        rows.append(wire_row(wire, _tools(member), sayers, state=member_state(member)))
    return rows


def _tools(member: Member) -> list[str] | None:
    stored = member.copy.called_tools if isinstance(member, Correction) else member.called_tools
    return None if stored is None else list(stored.value)


def _suggested(agent_set: AgentSet) -> dict[str, str]:
    """The name it was last frozen under, and the version after that one."""
    latest = agent_set.latest_frozen()
    parts = parse_set_version(latest.version) if latest else None
    if latest is None or parts is None:
        return {"set_name": default_set_name(agent_set.agent_id), "version": "1.0.0"}
    return {"set_name": latest.test_set.name, "version": f"{parts.major}.{parts.minor + 1}.0"}
