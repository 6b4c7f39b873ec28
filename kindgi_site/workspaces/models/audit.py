"""The audit record: every write, by whom and when, and the seals that make a changed row show."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from kindgi_site import clock
from kindgi_site.keys import new_id
from kindgi_site.workspaces.models.workspaces import Workspace


class AuditSeal(models.Model):
    """A batch of entries, sealed: `digest` is over the batch and the seal before it."""

    number = models.BigAutoField(primary_key=True)
    sealed_at = models.DateTimeField(_("sealed"), default=clock.now)
    entries = models.PositiveIntegerField(_("entries"))
    previous = models.CharField(max_length=64, blank=True)
    digest = models.CharField(max_length=64)

    class Meta:
        verbose_name = _("audit seal")
        verbose_name_plural = _("audit seals")

    def __str__(self) -> str:
        return f"{self.number}: {self.digest[:12]}"


class AuditEntry(models.Model):
    """One write. Ids and names of fields only, never what was written: erasing must not reach in here.

    Only `seal` is ever set afterwards, once, outside the writes' path.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, models.PROTECT, related_name="+")
    at = models.DateTimeField(_("when"), default=clock.now)
    by_kind = models.CharField(max_length=7)
    by_id = models.CharField(max_length=100)
    via = models.CharField(_("through"), max_length=7)
    key_id = models.UUIDField(_("API key"), null=True)
    action = models.CharField(_("what"), max_length=60)
    target_kind = models.CharField(max_length=30)
    target_id = models.CharField(max_length=300)
    fields = models.TextField(_("fields"), blank=True)
    request_id = models.CharField(_("request"), max_length=200, blank=True)
    seal = models.ForeignKey(AuditSeal, models.PROTECT, null=True, related_name="sealed")

    class Meta:
        verbose_name = _("audit entry")
        verbose_name_plural = _("audit entries")
        ordering: ClassVar = ["-at", "-id"]
        indexes: ClassVar = [
            models.Index(fields=["workspace", "-at", "-id"], name="audit_newest"),
            models.Index(fields=["id"], condition=models.Q(seal__isnull=True), name="audit_unsealed"),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.target_kind} {self.target_id}"
