"""API keys. Only a hash of a key is ever stored."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from kindgi_site import clock
from kindgi_site.keys import new_id
from kindgi_site.workspaces.models.people import REVIEWER_ROLES, Person, ServiceAccount
from kindgi_site.workspaces.models.workspaces import Project, Workspace


class ApiKey(models.Model):
    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, models.PROTECT, related_name="api_keys")
    person = models.ForeignKey(Person, models.CASCADE, null=True, blank=True, related_name="api_keys")
    service = models.ForeignKey(ServiceAccount, models.CASCADE, null=True, blank=True, related_name="api_keys")
    digest = models.CharField(max_length=64, unique=True, editable=False)
    role = models.CharField(_("role"), max_length=10, choices=[("admin", "admin"), ("member", "member")])
    reviewer_role = models.CharField(_("reviewer role"), max_length=10, choices=REVIEWER_ROLES, blank=True)
    capabilities = models.JSONField(_("capabilities"), default=list, blank=True)
    label = models.CharField(_("label"), max_length=200, blank=True)
    project = models.ForeignKey(Project, models.CASCADE, null=True, blank=True, related_name="api_keys")
    created_by = models.CharField(_("created by"), max_length=100, blank=True)
    created_at = models.DateTimeField(_("created"), default=clock.now, editable=False)
    expires_at = models.DateTimeField(_("expires"), null=True, blank=True)
    revoked_at = models.DateTimeField(_("revoked"), null=True, blank=True)
    last_used_at = models.DateTimeField(_("last used"), null=True, blank=True, editable=False)

    class Meta:
        verbose_name = _("API key")
        verbose_name_plural = _("API keys")
        constraints = [
            models.CheckConstraint(
                condition=~Q(person__isnull=False, service__isnull=False), name="key_of_one_principal_at_most"
            )
        ]

    def __str__(self) -> str:
        return self.label or str(self.person or self.service or self.id)

    @property
    def is_expired(self) -> bool:
        return self.expires_at is not None and self.expires_at <= clock.now()

    @property
    def principal(self) -> dict[str, str] | None:
        """Whom it acts for, as the wire says it; None for a key that is a service of its own."""
        if self.person_id is not None:
            return {"kind": "user", "id": str(self.person_id)}
        if self.service_id is not None:
            return {"kind": "service-account", "id": str(self.service_id)}
        return None
