"""Which version of an agent is live in a project, and how it came to be (contract 16)."""

from typing import ClassVar

from django.db import models
from django.db.models import Index, UniqueConstraint
from django.utils.translation import gettext_lazy as _

from corrections.marks import Party
from kindgi_site import clock
from kindgi_site.keys import new_id


class LiveChange(models.Model):
    """One pin, unpin or move of Latest. Versions before and after are the live ones; '' means none."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey("workspaces.Workspace", models.PROTECT, related_name="+")
    project = models.ForeignKey("workspaces.Project", models.PROTECT, related_name="+")
    agent_id = models.CharField(_("agent"), max_length=200)
    action = models.CharField(_("what"), max_length=6)
    how = models.CharField(max_length=9)
    from_version = models.CharField(max_length=100, blank=True)
    to_version = models.CharField(max_length=100, blank=True)
    live = models.BooleanField(_("changed what is live"))
    requested_by_kind = models.CharField(max_length=7)
    requested_by_id = models.CharField(max_length=100)
    reason = models.TextField(_("reason"), blank=True)
    created_at = models.DateTimeField(_("when"), default=clock.now)

    class Meta:
        verbose_name = _("live change")
        verbose_name_plural = _("live changes")
        ordering: ClassVar = ["-created_at", "-id"]
        indexes: ClassVar = [Index(fields=["project", "agent_id", "-created_at", "-id"], name="live_changes_of_agent")]

    def __str__(self) -> str:
        return f"{self.agent_id}: {self.action} {self.to_version}"

    @property
    def requested_by(self) -> Party:
        return Party(self.requested_by_kind, self.requested_by_id)


class LiveVersion(models.Model):
    """What a project runs of an agent now: `pinned`, else `latest`; '' means none.

    `change` is the change that made it live.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    project = models.ForeignKey("workspaces.Project", models.PROTECT, related_name="+")
    agent_id = models.CharField(_("agent"), max_length=200)
    pinned = models.CharField(max_length=100, blank=True)
    latest = models.CharField(max_length=100, blank=True)
    change = models.ForeignKey(LiveChange, models.PROTECT, null=True, related_name="+")

    class Meta:
        verbose_name = _("live version")
        verbose_name_plural = _("live versions")
        constraints: ClassVar = [UniqueConstraint(fields=["project", "agent_id"], name="one_live_version_of_an_agent")]

    def __str__(self) -> str:
        return f"{self.agent_id}: {self.version}"

    @property
    def version(self) -> str:
        return self.pinned or self.latest

    @property
    def via(self) -> str:
        return "live" if self.pinned else "latest"
