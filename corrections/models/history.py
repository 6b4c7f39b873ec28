"""What happened to a correction after it was recorded."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from corrections.marks import Party
from corrections.models.corrections import Correction
from kindgi_site import clock
from kindgi_site.keys import new_id


class CorrectionEvent(models.Model):
    """One step in a correction's life. Recording it is no step: the correction itself says who and when.

    `by_kind` is '' when the server acted by itself; `cause` then names what made it act, such as
    `live-change:<id>`. `note` is a person's words and goes with an erasure.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    correction = models.ForeignKey(Correction, models.PROTECT, related_name="events")
    at = models.DateTimeField(_("when"), default=clock.now)
    by_kind = models.CharField(max_length=7, blank=True)
    by_id = models.CharField(max_length=100, blank=True)
    action = models.CharField(_("what"), max_length=20)
    from_status = models.CharField(max_length=11, blank=True)
    to_status = models.CharField(max_length=11, blank=True)
    note = models.TextField(blank=True)
    cause = models.CharField(max_length=300, blank=True)

    class Meta:
        verbose_name = _("step")
        verbose_name_plural = _("steps")
        ordering: ClassVar = ["-at", "-id"]
        indexes: ClassVar = [models.Index(fields=["correction", "-at", "-id"], name="events_of_correction")]

    def __str__(self) -> str:
        return f"{self.action} {self.from_status} {self.to_status}"

    @property
    def by(self) -> Party | None:
        return Party.known(self.by_kind, self.by_id)
