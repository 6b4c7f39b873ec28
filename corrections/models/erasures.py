"""Erasures: what was asked to be forgotten, and the receipt of what was cleared."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from corrections.marks import Party
from kindgi_site import clock
from kindgi_site.keys import new_id


class Erasure(models.Model):
    """One erasure. `selector` is kept only until it is completed: it may name a person (contract 12.2).

    `counts` is an object of whole numbers: how many of each thing were cleared.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey("workspaces.Workspace", models.PROTECT, related_name="+")
    selector_kind = models.CharField(_("of"), max_length=12)
    selector = models.CharField(max_length=256, blank=True)
    status = models.CharField(_("status"), max_length=10)
    requested_by_kind = models.CharField(max_length=7)
    requested_by_id = models.CharField(max_length=100)
    counts = models.JSONField(default=dict)
    attempts = models.PositiveSmallIntegerField(default=1)
    created_at = models.DateTimeField(_("asked for"), default=clock.now)
    completed_at = models.DateTimeField(_("completed"), null=True)

    class Meta:
        verbose_name = _("erasure")
        verbose_name_plural = _("erasures")
        ordering: ClassVar = ["-created_at", "-id"]
        indexes: ClassVar = [models.Index(fields=["workspace", "-created_at", "-id"], name="erasures_newest")]

    def __str__(self) -> str:
        return f"{self.selector_kind} {self.created_at}"

    @property
    def requested_by(self) -> Party:
        return Party(self.requested_by_kind, self.requested_by_id)

    @property
    def is_matchable(self) -> bool:
        """Whether the selector can still be compared with anything: it is not kept, so never."""
        return False

    @property
    def phase(self) -> str:
        """The contract's word for where it stands; ours is done in one step."""
        return "done" if self.completed_at else "clearing"
