"""Setting up workspaces, people, services and what they may do."""

from django.db import transaction
from django.utils.translation import gettext as _

from kindgi_site import clock
from kindgi_site.callers import ReviewerRole, Role
from kindgi_site.errors import Code, ConflictError, InvalidError, NotFoundError
from kindgi_site.workspaces.models import (
    Membership,
    Person,
    Project,
    ProjectRole,
    Reviewer,
    ServiceAccount,
    Workspace,
)

DEFAULT_PROJECT_SLUG = "default"


@transaction.atomic
def create_workspace(*, slug: str, name: str = "") -> tuple[Workspace, Project]:
    """A workspace with its Default project. ConflictError `slug-conflict` when the slug is taken."""
    if Workspace.objects.filter(slug=slug).exists():
        raise ConflictError(Code.SLUG_CONFLICT, _("There is a workspace “%(slug)s” already.") % {"slug": slug})
    workspace = Workspace.objects.create(slug=slug, name=name or slug)
    project = Project.objects.create(workspace=workspace, name=_("Default"), slug=DEFAULT_PROJECT_SLUG, is_default=True)
    return workspace, project


@transaction.atomic
def add_person(*, workspace: Workspace, username: str, password: str | None, is_admin: bool = False) -> Person:
    """Make a person a member of a workspace, creating them when they are new anywhere.

    A known person keeps their password. InvalidError when they are a member already.
    """
    person = Person.objects.filter(username=username).first()
    if person is None:
        person = Person.objects.create_user(username=username, password=password)
    if person.memberships.filter(workspace=workspace).exists():
        raise InvalidError(Code.BAD_INPUT, _("“%(name)s” is a member of this workspace already.") % {"name": username})
    Membership.objects.create(person=person, workspace=workspace, is_admin=is_admin)
    return person


def set_project_role(*, project: Project, principal: Person | ServiceAccount, role: Role) -> ProjectRole:
    """Give a principal that one role in a project, in place of any other."""
    owner = {"person": principal} if isinstance(principal, Person) else {"service": principal}
    given, _created = ProjectRole.objects.update_or_create(project=project, **owner, defaults={"role": role})
    return given


def set_reviewer_role(
    *, workspace: Workspace, person: Person, role: ReviewerRole, display_name: str | None = None
) -> Reviewer:
    """Put a person on the roster, or change their place on it; a deactivated one is active again.

    Without a display name the one they have stays.
    """
    named = {} if display_name is None else {"display_name": display_name}
    reviewer, _created = Reviewer.objects.update_or_create(
        workspace=workspace, person=person, defaults={"role": role, "deactivated_at": None, **named}
    )
    return reviewer


def deactivate_reviewer(*, reviewer: Reviewer) -> None:
    """They keep their place and give no role any more; one who is deactivated keeps the time."""
    Reviewer.objects.filter(pk=reviewer.pk, deactivated_at__isnull=True).update(deactivated_at=clock.now())


def service_account(*, workspace: Workspace, name: str) -> ServiceAccount:
    """The service account of that name, made when there is none."""
    return ServiceAccount.objects.get_or_create(workspace=workspace, name=name)[0]


def project_of(workspace: Workspace, slug: str | None) -> Project:
    """A project by slug, or the Default project; NotFoundError `project-not-found`."""
    found = workspace.projects.filter(slug=slug) if slug else workspace.projects.filter(is_default=True)
    project = found.first()
    if project is None:
        raise NotFoundError(
            Code.PROJECT_NOT_FOUND,
            _("There is no project “%(slug)s” in this workspace.") % {"slug": slug or DEFAULT_PROJECT_SLUG},
        )
    return project


def make_workspace_admin(*, workspace: Workspace, person: Person) -> None:
    """Make a member an administrator of the workspace; one who is stays one."""
    Membership.objects.filter(workspace=workspace, person=person).update(is_admin=True)


def make_service_admin(*, service: ServiceAccount) -> None:
    """Make a service account an administrator of its workspace."""
    service.is_workspace_admin = True
    service.save(update_fields=["is_workspace_admin"])


def set_rate_limit(*, workspace: Workspace, requests_per_minute: int | None) -> None:
    """None lifts the limit."""
    workspace.requests_per_minute = requests_per_minute
    workspace.save(update_fields=["requests_per_minute"])
