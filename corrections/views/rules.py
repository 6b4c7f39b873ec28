"""Correcting rules of a project: which runs people should look at, and what came of it."""

from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from corrections.drafts import RuleWhen
from corrections.forms.rules import RuleForm, rule_as_it_is
from corrections.models import CorrectingRuleVersion
from corrections.presenters.rules import author_id, outcome_shown, rule_shown
from corrections.queries.correcting_rules import (
    Preview,
    live_rules_of,
    outcomes_of,
    preview_of,
    project_for,
    rule_for_page,
    versions_in,
)
from corrections.queries.queue import live_groups_in
from corrections.queries.run_pages import names_of, subjects_seen
from corrections.rules.queue import checked_when, read_when
from corrections.services.correcting_rules import change_rule, create_rule, stop_rule
from kindgi_site.callers import Action
from kindgi_site.errors import InvalidError, NotFoundError
from kindgi_site.pages import posted, render_page
from kindgi_site.workspaces.models import Project
from kindgi_site.workspaces.permissions import check_project_action
from kindgi_site.workspaces.queries.projects import projects_readable_by
from kindgi_site.workspaces.requests import PageRequest

FORM_PAGE, FORM_PART = "corrections/rule_form.html", "corrections/_rule_form.html"
PREVIEW_PART, PREVIEW = "corrections/_rule_preview.html", "rule-preview"
LOOKS_BACK = 100  # runs that a preview looks at
MOST_VERSIONS = 50
PREVIEWED = ("percent", "agents", "flows", "versions")  # what a preview is made from


@require_safe
def rule_list(request: PageRequest) -> HttpResponse:
    projects = list(projects_readable_by(request.caller).order_by("name"))
    project = _chosen(projects, request.GET.get("project", ""))
    rules = list(live_rules_of(project).select_related("rule", "group")) if project else []
    names = names_of(author_id(rule) for rule in rules)
    context = {
        "projects": projects,
        "project": project,
        "rows": [rule_shown(rule, names) for rule in rules],
        "may_write": project is not None and request.caller.may(Action.WRITE, project.id),
    }
    return render_page(request, "corrections/rule_list.html", fragment="corrections/_rule_table.html", context=context)


def _chosen(projects: list[Project], asked: str) -> Project | None:
    """The project asked for, else the Default one, else any."""
    by_id = {str(project.id): project for project in projects}
    default = next((project for project in projects if project.is_default), projects[0] if projects else None)
    return by_id.get(asked, default)


@require_safe
def rule_detail(request: PageRequest, rule_id: UUID) -> HttpResponse:
    rule = rule_for_page(request.caller, rule_id)
    project = rule.rule.project
    versions = list(versions_in(project, str(rule_id)).select_related("rule", "group")[:MOST_VERSIONS])
    names = names_of(author_id(version) for version in versions)
    context = {
        "row": rule_shown(rule, names),
        "project": project,
        "versions": [rule_shown(version, names) for version in versions],
        "outcomes": [outcome_shown(outcome) for outcome in outcomes_of(rule.rule, None)],
        "may_write": request.caller.may(Action.WRITE, project.id) and rule.rule.unregistered_at is None,
    }
    return render_page(request, "corrections/rule_detail.html", fragment="corrections/_rule.html", context=context)


@require_http_methods(["GET", "HEAD", "POST"])
def rule_create(request: PageRequest, project_id: UUID) -> HttpResponse:
    project = _writable(request, project_id)
    form = _form(request, project)
    if _is_saved(request) and form.is_valid():
        try:
            rule = create_rule(caller=request.caller, project=project, draft=form.draft())
        except (InvalidError, NotFoundError) as refusal:
            form.add_error(None, refusal.message)
        else:
            messages.success(request, _("It looks at every run that finishes from now on."))
            return redirect("corrections:rule_detail", rule.rule_id)
    return _form_page(request, project, form, None)


@require_http_methods(["GET", "HEAD", "POST"])
def rule_change(request: PageRequest, rule_id: UUID) -> HttpResponse:
    rule = rule_for_page(request.caller, rule_id, live_only=True)
    project = rule.rule.project
    check_project_action(request.caller, Action.WRITE, project.id)
    form = _form(request, project, rule)
    if _is_saved(request) and form.is_valid():
        try:
            change_rule(caller=request.caller, project=project, rule_id=str(rule_id), change=form.change())
        except (InvalidError, NotFoundError) as refusal:
            form.add_error(None, refusal.message)
        else:
            messages.success(request, _("Version %(number)d applies now.") % {"number": rule.number + 1})
            return redirect("corrections:rule_detail", rule_id)
    return _form_page(request, project, form, rule)


@require_POST
def rule_stop(request: PageRequest, rule_id: UUID) -> HttpResponse:
    rule = rule_for_page(request.caller, rule_id)
    stop_rule(caller=request.caller, project=rule.rule.project, rule_id=str(rule_id))
    messages.success(request, _("The rule takes no more runs. What it queued stays."))
    return redirect(f"{reverse('corrections:rule_list')}?project={rule.rule.project_id}")


def _writable(request: PageRequest, project_id: UUID) -> Project:
    return project_for(request.caller, Action.WRITE, project_id)


def _is_saved(request: PageRequest) -> bool:
    """A form is sent to be saved, or only to be looked at."""
    return request.method == "POST" and request.POST.get("step") == "save"


def _form(request: PageRequest, project: Project, rule: CorrectingRuleVersion | None = None) -> RuleForm:
    groups = [(str(group.id), group.name) for group in live_groups_in(project).order_by("name", "id")]
    if rule is not None and rule.group is not None and str(rule.group_id) not in dict(groups):
        groups.append((str(rule.group_id), rule.group.name))  # retired since
    return RuleForm(posted(request), groups=groups, initial=rule_as_it_is(rule) if rule else {})


def _form_page(
    request: PageRequest, project: Project, form: RuleForm, rule: CorrectingRuleVersion | None
) -> HttpResponse:
    context: dict[str, Any] = {
        "form": form,
        "project": project,
        "rule": rule,
        "preview": _preview(project, form, rule),
        "preview_problem": _preview_problem(form),
        "looks_back": LOOKS_BACK,
    }
    if request.htmx and request.htmx.target == PREVIEW:
        return render_page(request, FORM_PAGE, fragment=PREVIEW_PART, context=context)
    context["subjects"] = sorted({subject for subject, _version in subjects_seen(request.caller, project.id)})
    code = HTTPStatus.UNPROCESSABLE_ENTITY if _is_saved(request) else HTTPStatus.OK
    return render_page(request, FORM_PAGE, fragment=FORM_PART, context=context, status=code)


def _preview(project: Project, form: RuleForm, rule: CorrectingRuleVersion | None) -> Preview | None:
    """What the rule as typed would have taken; before anything is typed, as it is."""
    if not form.is_bound:
        when, sample = (read_when(rule.when), rule.sample) if rule else (RuleWhen(), 1.0)
    elif not form.errors.keys().isdisjoint(PREVIEWED):
        return None
    else:
        when, sample = form.when(), form.sample
    try:
        return preview_of(project, checked_when(when), sample, LOOKS_BACK, rule.rule_id if rule else None)
    except InvalidError:
        return None


def _preview_problem(form: RuleForm) -> str:
    if not form.is_bound:
        return ""
    for name in PREVIEWED:
        if name in form.errors:
            return str(form.errors[name][0])
    try:
        checked_when(form.when())
    except InvalidError as refusal:
        return refusal.message
    return ""
