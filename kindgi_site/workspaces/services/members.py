"""Who belongs to a workspace and what they may do, set at its pages by its administrators."""

from typing import Literal
from uuid import UUID

from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.db import transaction
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.utils.translation import gettext as _

from kindgi_site.callers import Caller, Role
from kindgi_site.errors import Code, ConflictError, ForbiddenError, InvalidError
from kindgi_site.workspaces.models import ApiKey, Membership, Person, ProjectRole, Reviewer, ServiceAccount, Workspace
from kindgi_site.workspaces.permissions import check_workspace_admin
from kindgi_site.workspaces.queries.members import member_of, service_of
from kindgi_site.workspaces.queries.projects import project_in_workspace
from kindgi_site.workspaces.services.audit import record_write
from kindgi_site.workspaces.services.keys import revoke_key
from kindgi_site.workspaces.services.people import deactivate_reviewer, set_project_role


class WelcomeTokens(PasswordResetTokenGenerator):
    """Tokens that end with the first password, after three days, and once a person is not this workspace's alone.

    Whoever minted a link could otherwise open with it what its person came to elsewhere in the meantime.
    """

    def _make_hash_value(self, user: Person, timestamp: int) -> str:
        belongs = sorted(str(workspace_id) for workspace_id in user.memberships.values_list("workspace_id", flat=True))
        runs_the_site = user.is_staff or user.is_superuser
        return f"{super()._make_hash_value(user, timestamp)}{belongs}{runs_the_site}"


WELCOME_TOKENS = WelcomeTokens()

PrincipalKind = Literal["user", "service-account"]


@transaction.atomic
def invite_person(*, caller: Caller, username: str, is_admin: bool = False) -> Person:
    """A new person without a password, as a member; they set one by way of `welcome_token`.

    InvalidError when the name is taken, here or elsewhere: nobody becomes a member without knowing.
    """
    check_workspace_admin(caller)
    if Person.objects.filter(username__iexact=username).exists():
        raise InvalidError(Code.BAD_INPUT, _("The name “%(name)s” is taken.") % {"name": username}, field="username")
    person = Person.objects.create_user(username=username)
    Membership.objects.create(person=person, workspace_id=caller.workspace_id, is_admin=is_admin)
    record_write(caller, "members.invite", "person", person.id, ["username", "isAdmin"])
    return person


@transaction.atomic
def welcome_token(*, caller: Caller, person_id: UUID) -> tuple[str, str]:
    """(id, token) of a link with which a member sets their password, once.

    ForbiddenError for who belongs to other workspaces too, or runs the site: their password is not this
    workspace's affair.
    """
    check_workspace_admin(caller)
    person = member_of(caller, person_id).person
    if person.is_staff or person.is_superuser or person.memberships.count() > 1:
        raise ForbiddenError(
            Code.PERMISSION_DENIED, _("This person’s password is set by whoever runs the site, not by a workspace.")
        )
    record_write(caller, "members.welcome", "person", person.id, ["password"])
    return urlsafe_base64_encode(force_bytes(person.pk)), WELCOME_TOKENS.make_token(person)


@transaction.atomic
def set_member_admin(*, caller: Caller, person_id: UUID, is_admin: bool) -> Membership:
    """ConflictError when nobody would be left to administer. Holds the workspace's row."""
    check_workspace_admin(caller)
    _hold(caller)
    membership = member_of(caller, person_id)
    if membership.is_admin == is_admin:
        return membership
    _check_not_last(caller, membership)
    membership.is_admin = is_admin
    membership.save(update_fields=["is_admin"])
    record_write(caller, "members.update", "person", person_id, ["isAdmin"])
    return membership


@transaction.atomic
def remove_member(*, caller: Caller, person_id: UUID) -> Person:
    """They belong to it no more: their roles go, their keys are revoked, their place on the roster is deactivated."""
    check_workspace_admin(caller)
    _hold(caller)
    membership = member_of(caller, person_id)
    _check_not_last(caller, membership)
    person = membership.person
    ProjectRole.objects.filter(person=person, project__workspace=caller.workspace_id).delete()
    for key in ApiKey.objects.filter(person=person, workspace=caller.workspace_id, revoked_at__isnull=True):
        revoke_key(key=key)
    for place in Reviewer.objects.filter(person=person, workspace=caller.workspace_id):
        deactivate_reviewer(reviewer=place)
    membership.delete()
    record_write(caller, "members.remove", "person", person_id)
    return person


@transaction.atomic
def set_role(*, caller: Caller, kind: PrincipalKind, principal_id: UUID, project_id: UUID, role: Role | None) -> None:
    """Give a member or a service account that one role in a project, or none."""
    check_workspace_admin(caller)
    principal: Person | ServiceAccount
    principal = member_of(caller, principal_id).person if kind == "user" else service_of(caller, principal_id)
    project = project_in_workspace(caller.workspace_id, project_id)
    if role is None:
        owner = {"person": principal} if kind == "user" else {"service": principal}
        ProjectRole.objects.filter(project=project, **owner).delete()
    else:
        set_project_role(project=project, principal=principal, role=role)
    record_write(caller, "project-roles.set", kind, principal_id, ["role"])


@transaction.atomic
def create_service(*, caller: Caller, name: str) -> ServiceAccount:
    """InvalidError when the workspace has one of this name."""
    check_workspace_admin(caller)
    _hold(caller)
    if ServiceAccount.objects.filter(workspace=caller.workspace_id, name=name).exists():
        words = _("There is a service account “%(name)s” already.") % {"name": name}
        raise InvalidError(Code.BAD_INPUT, words, field="name")
    service = ServiceAccount.objects.create(workspace_id=caller.workspace_id, name=name)
    record_write(caller, "service-accounts.create", "service-account", service.id, ["name"])
    return service


def _hold(caller: Caller) -> None:
    Workspace.objects.select_for_update(no_key=True).get(id=caller.workspace_id)


def _check_not_last(caller: Caller, membership: Membership) -> None:
    others = Membership.objects.filter(workspace=caller.workspace_id, is_admin=True).exclude(pk=membership.pk)
    if membership.is_admin and not others.exists():
        raise ConflictError(
            Code.INVALID_TRANSITION, _("The workspace needs an administrator: make somebody else one first.")
        )
