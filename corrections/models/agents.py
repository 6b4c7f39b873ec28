"""Agents, as far as people are concerned with them: who owns one."""

from typing import ClassVar

from django.db import models
from django.db.models import UniqueConstraint
from django.utils.translation import gettext_lazy as _

from corrections.marks import Party
from kindgi_site import clock
from kindgi_site.keys import new_id


class AgentOwner(models.Model):
    """Who decides on the wrong decisions of an agent in a project (contract 16.4)."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    project = models.ForeignKey("workspaces.Project", models.PROTECT, related_name="+")
    agent_id = models.CharField(_("agent"), max_length=200)
    owner_kind = models.CharField(max_length=7)
    owner_id = models.CharField(max_length=100)
    updated_at = models.DateTimeField(_("changed"), default=clock.now)

    class Meta:
        verbose_name = _("agent owner")
        verbose_name_plural = _("agent owners")
        constraints: ClassVar = [UniqueConstraint(fields=["project", "agent_id"], name="one_owner_of_an_agent")]

    def __str__(self) -> str:
        return f"{self.agent_id}: {self.owner_kind} {self.owner_id}"

    @property
    def owner(self) -> Party:
        return Party(self.owner_kind, self.owner_id)
