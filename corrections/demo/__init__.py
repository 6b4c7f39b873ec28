"""The demo: a shop's runs, the people who look at them, and what they said so far."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from corrections.api.bodies import correction_draft, run_draft
from corrections.drafts import AssertableBy, GroupDraft, RuleDraft, RuleWhen
from corrections.marks import Party
from corrections.models import CorrectorGroup
from corrections.services.agents import set_owner
from corrections.services.correcting_rules import create_rule
from corrections.services.groups import create_group
from corrections.services.recording import record_correction
from corrections.services.runs import ingest_run
from corrections.vocabulary import ScopeKind
from kindgi_site.api.documents import Document, read_document
from kindgi_site.callers import Caller, ReviewerRole, Role
from kindgi_site.errors import Code, InvalidError
from kindgi_site.workspaces.models import Person, Project, Workspace
from kindgi_site.workspaces.queries.callers import caller_of_membership, memberships_of
from kindgi_site.workspaces.services import people

SLUG = "demo"
PASSWORD = "demo"  # noqa: S105 - everybody may know it: it opens a demo only
ADMIN, OWNER = "admin", "owen"
ORDERS, CLAIMS = "orders.support", "claims.intake"
SUPPORT_LEADS, CLAIMS_EXPERTS, CUSTOMERS = "Support leads", "Claims experts", "Customers' words"

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Colleague:
    name: str
    does: str
    role: Role
    reviewer_role: ReviewerRole


COLLEAGUES = (
    Colleague("ana", "reviewer", Role.EDITOR, ReviewerRole.STANDARD),
    Colleague("ben", "senior reviewer, speaks for the claims experts", Role.EDITOR, ReviewerRole.SENIOR),
    Colleague("owen", "owns the agents", Role.ADMIN, ReviewerRole.STANDARD),
)
# Whose corrections of which agent's runs are said for a group.
SPOKEN_FOR = {("ben", CLAIMS): CLAIMS_EXPERTS, ("owen", ORDERS): SUPPORT_LEADS}


@transaction.atomic
def load() -> Workspace:
    """The demo's workspace; made, with all that is in it, when there is none.

    InvalidError when somebody has one of its names: they would get rights that nobody gave them.
    """
    workspace = Workspace.objects.filter(slug=SLUG).first()
    if workspace is not None:
        return workspace
    _check_names_free()
    workspace, project = people.create_workspace(slug=SLUG, name="Hollis & Wren")
    admin = _admin(workspace)
    for colleague in COLLEAGUES:
        _join(project, colleague)
    groups = _groups(admin, project)
    _owned(admin, project)
    subjects = dict(_ingested(project))
    _record_all(workspace, subjects, groups)
    return workspace


def _check_names_free() -> None:
    names = [ADMIN, *(colleague.name for colleague in COLLEAGUES)]
    taken = Person.objects.filter(username__in=names).values_list("username", flat=True)
    if taken:
        raise InvalidError(
            Code.BAD_INPUT, _("There are people of these names already: %(names)s.") % {"names": ", ".join(taken)}
        )


def _admin(workspace: Workspace) -> Caller:
    """Administers the workspace, and the admin site too."""
    person = people.add_person(workspace=workspace, username=ADMIN, password=PASSWORD, is_admin=True)
    Person.objects.filter(id=person.id).update(is_staff=True, is_superuser=True)
    return _caller(person, workspace)


def _join(project: Project, colleague: Colleague) -> None:
    workspace = project.workspace
    person = people.add_person(workspace=workspace, username=colleague.name, password=PASSWORD)
    people.set_project_role(project=project, principal=person, role=colleague.role)
    people.set_reviewer_role(workspace=workspace, person=person, role=colleague.reviewer_role)


def _groups(admin: Caller, project: Project) -> dict[str, CorrectorGroup]:
    drafts = (
        GroupDraft(
            name=CUSTOMERS,
            weight=0.5,
            scope_kind=ScopeKind.TENANT,
            description="What a customer wrote to us about an answer, put down in their name.",
        ),
        GroupDraft(
            name=SUPPORT_LEADS,
            weight=2,
            scope_kind=ScopeKind.PROJECT,
            project_id=project.id,
            description="Those who answer for what support says and does.",
        ),
        GroupDraft(
            name=CLAIMS_EXPERTS,
            weight=3,
            scope_kind=ScopeKind.AGENT,
            project_id=project.id,
            agent_id=CLAIMS,
            description="Senior reviewers who know the policies by heart.",
            assertable_by=AssertableBy(min_reviewer_role=ReviewerRole.SENIOR),
        ),
    )
    return {draft.name: create_group(caller=admin, draft=draft) for draft in drafts}


def _owned(admin: Caller, project: Project) -> None:
    """Owen owns the agents, and every claim is put before the claims experts."""
    owen = caller_named(project.workspace, OWNER)
    for agent_id in (ORDERS, CLAIMS):
        set_owner(caller=admin, project_id=project.id, agent_id=agent_id, owner=Party(owen.kind, owen.id))
    group = CorrectorGroup.objects.get(workspace=project.workspace, name=CLAIMS_EXPERTS)
    rule = RuleDraft(name="Every finished claim", when=RuleWhen(agent_ids=(CLAIMS,)), group_id=str(group.id))
    create_rule(caller=admin, project=project, draft=rule)


def caller_named(workspace: Workspace, username: str) -> Caller:
    """A colleague, as services know them."""
    return _caller(workspace.people.get(username=username), workspace)


def _ingested(project: Project) -> Iterator[tuple[str, str]]:
    """Each run's id and what it is a run of."""
    shop = Caller(workspace_id=project.workspace_id, kind="service", id="demo", is_workspace_admin=True, via="command")
    for document in _documents("runs.jsonl"):
        run_id = _taken_out(document, "runId")
        document.value["projectId"] = str(project.id)
        run, _is_new = ingest_run(caller=shop, draft=run_draft(UUID(run_id), document))
        yield run_id, run.subject_id


def _record_all(workspace: Workspace, subjects: dict[str, str], groups: dict[str, CorrectorGroup]) -> None:
    callers = {
        person.username: _caller(person, workspace)
        for person in workspace.people.filter(username__in=[colleague.name for colleague in COLLEAGUES])
    }
    for document in _documents("corrections.jsonl"):
        name = _taken_out(document, "by")
        group = SPOKEN_FOR.get((name, subjects[document.value["runId"]]))
        if group:
            document.value["correctorGroupId"] = str(groups[group].id)
        run_id, draft = correction_draft(document)
        record_correction(caller=callers[name], run_id=run_id, draft=draft)


def _documents(name: str) -> Iterator[Document]:
    with (_HERE / name).open("rb") as lines:
        yield from map(read_document, lines)


def _taken_out(document: Document, name: str) -> str:
    """A member that only the demo's files have."""
    value: Any = document.value.pop(name)
    return str(value)


def _caller(person: Person, workspace: Workspace) -> Caller:
    return caller_of_membership(memberships_of(person).get(workspace=workspace))
