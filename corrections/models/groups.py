"""Corrector groups: whose word counts how much, and who may speak for them."""

from typing import ClassVar

from django.db import models
from django.db.models import Index, Q, UniqueConstraint
from django.utils.translation import gettext_lazy as _

from corrections.models.runs import choices
from corrections.vocabulary import ScopeKind
from kindgi_site import clock
from kindgi_site.callers import ReviewerRole
from kindgi_site.keys import new_id


class CorrectorGroup(models.Model):
    """A kind of corrector in one scope (contract, section 9).

    It is restricted when any of `min_reviewer_role`, `principal_kinds`, `principal_ids` is set.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey("workspaces.Workspace", models.PROTECT, related_name="+")
    scope_kind = models.CharField(_("covers"), max_length=7, choices=choices(ScopeKind))
    project = models.ForeignKey("workspaces.Project", models.PROTECT, null=True, blank=True, related_name="+")
    agent_id = models.CharField(_("agent"), max_length=200, blank=True)
    name = models.CharField(_("name"), max_length=100)
    weight = models.FloatField(_("weight"))
    description = models.TextField(_("description"), blank=True)
    min_reviewer_role = models.CharField(
        _("lowest reviewer role"), max_length=10, choices=choices(ReviewerRole), blank=True
    )
    principal_kinds = models.JSONField(_("kinds of caller"), default=list, blank=True)
    principal_ids = models.JSONField(_("callers"), default=list, blank=True)
    created_at = models.DateTimeField(_("created"), default=clock.now, editable=False)
    updated_at = models.DateTimeField(_("changed"), default=clock.now, editable=False)
    unregistered_at = models.DateTimeField(_("retired"), null=True, blank=True)

    class Meta:
        verbose_name = _("corrector group")
        verbose_name_plural = _("corrector groups")
        constraints: ClassVar = [
            UniqueConstraint(
                fields=["workspace", "name"],
                condition=Q(unregistered_at__isnull=True, scope_kind="tenant"),
                name="live_group_name_once_in_workspace",
            ),
            UniqueConstraint(
                fields=["project", "scope_kind", "agent_id", "name"],
                condition=Q(unregistered_at__isnull=True, project__isnull=False),
                name="live_group_name_once_in_project",
            ),
            models.CheckConstraint(condition=Q(weight__gte=0), name="group_weight_not_negative"),
            models.CheckConstraint(
                condition=Q(scope_kind="tenant", project__isnull=True, agent_id="")
                | Q(scope_kind="project", project__isnull=False, agent_id="")
                | (Q(scope_kind="agent", project__isnull=False) & ~Q(agent_id="")),
                name="group_scope_is_whole",
            ),
        ]
        indexes: ClassVar = [Index(fields=["workspace", "-created_at", "-id"], name="groups_newest")]

    def __str__(self) -> str:
        return self.name

    @property
    def is_restricted(self) -> bool:
        return bool(self.min_reviewer_role or self.principal_kinds or self.principal_ids)
