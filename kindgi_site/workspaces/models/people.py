"""People, service accounts, their roles in projects, and the roster of reviewers."""

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import Q, UniqueConstraint
from django.utils.translation import gettext_lazy as _

from kindgi_site import clock
from kindgi_site.callers import ReviewerRole, Role
from kindgi_site.keys import new_id
from kindgi_site.workspaces.models.workspaces import Project, Workspace

ROLES = [(role.value, role.value) for role in Role]
REVIEWER_ROLES = [(role.value, role.value) for role in ReviewerRole]


class Person(AbstractUser):
    """Someone who signs in. The id is the wire id of `madeBy` and never changes hands."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspaces = models.ManyToManyField(Workspace, through="Membership", related_name="people")

    class Meta(AbstractUser.Meta):
        verbose_name = _("person")  # type: ignore[assignment]
        verbose_name_plural = _("people")  # type: ignore[assignment]

    def __str__(self) -> str:
        return self.get_full_name() or self.username

    @property
    def told_apart(self) -> str:
        """Their name, with the one they sign in with beside it: two people may have one full name."""
        full = self.get_full_name()
        return f"{full} ({self.username})" if full else self.username


class Membership(models.Model):
    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    person = models.ForeignKey(Person, models.CASCADE, related_name="memberships")
    workspace = models.ForeignKey(Workspace, models.PROTECT, related_name="memberships")
    is_admin = models.BooleanField(_("workspace admin"), default=False)
    created_at = models.DateTimeField(_("created"), default=clock.now, editable=False)

    class Meta:
        verbose_name = _("membership")
        verbose_name_plural = _("memberships")
        constraints = [UniqueConstraint(fields=["person", "workspace"], name="one_membership_each")]

    def __str__(self) -> str:
        return f"{self.person} in {self.workspace}"


class ServiceAccount(models.Model):
    """A program that acts under its own name, whichever of its keys it uses."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, models.PROTECT, related_name="service_accounts")
    name = models.CharField(_("name"), max_length=200)
    is_workspace_admin = models.BooleanField(_("workspace admin"), default=False)
    created_at = models.DateTimeField(_("created"), default=clock.now, editable=False)

    class Meta:
        verbose_name = _("service account")
        verbose_name_plural = _("service accounts")
        constraints = [UniqueConstraint(fields=["workspace", "name"], name="service_name_once_in_workspace")]

    def __str__(self) -> str:
        return self.name


class ProjectRole(models.Model):
    """What one person or one service account may do in one project."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    project = models.ForeignKey(Project, models.CASCADE, related_name="roles")
    person = models.ForeignKey(Person, models.CASCADE, null=True, blank=True, related_name="project_roles")
    service = models.ForeignKey(ServiceAccount, models.CASCADE, null=True, blank=True, related_name="project_roles")
    role = models.CharField(_("role"), max_length=10, choices=ROLES)

    class Meta:
        verbose_name = _("project role")
        verbose_name_plural = _("project roles")
        constraints = [
            models.CheckConstraint(
                condition=Q(person__isnull=False, service__isnull=True) | Q(person__isnull=True, service__isnull=False),
                name="role_of_person_or_service",
            ),
            UniqueConstraint(fields=["project", "person"], name="one_role_each_person"),
            UniqueConstraint(fields=["project", "service"], name="one_role_each_service"),
        ]

    def __str__(self) -> str:
        return f"{self.person or self.service}: {self.role}"


class Reviewer(models.Model):
    """A place on the roster of reviewers; a deactivated one gives no role (contract, section 10)."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, models.PROTECT, related_name="reviewers")
    person = models.ForeignKey(Person, models.CASCADE, related_name="reviewer_places")
    role = models.CharField(_("role"), max_length=10, choices=REVIEWER_ROLES)
    display_name = models.CharField(_("display name"), max_length=200, blank=True)
    created_at = models.DateTimeField(_("created"), default=clock.now, editable=False)
    deactivated_at = models.DateTimeField(_("deactivated"), null=True, blank=True)

    class Meta:
        verbose_name = _("reviewer")
        verbose_name_plural = _("reviewers")
        constraints = [UniqueConstraint(fields=["workspace", "person"], name="one_reviewer_each")]

    def __str__(self) -> str:
        return self.display_name or str(self.person)
