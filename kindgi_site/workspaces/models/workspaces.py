"""Workspaces, their projects, and the open window of their rate limit."""

from django.db import models
from django.db.models import Q, UniqueConstraint
from django.utils.translation import gettext_lazy as _

from kindgi_site import clock
from kindgi_site.keys import new_id


class Workspace(models.Model):
    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    slug = models.SlugField(_("slug"), max_length=100, unique=True)
    name = models.CharField(_("name"), max_length=200)
    requests_per_minute = models.PositiveIntegerField(_("API requests a minute"), null=True, blank=True)
    created_at = models.DateTimeField(_("created"), default=clock.now, editable=False)

    class Meta:
        verbose_name = _("workspace")
        verbose_name_plural = _("workspaces")

    def __str__(self) -> str:
        return self.name


class RateWindow(models.Model):
    """The minute in which a workspace's requests are being counted (contract 1.2)."""

    workspace = models.OneToOneField(Workspace, models.CASCADE, primary_key=True, related_name="rate_window")
    opened_at = models.DateTimeField()
    requests = models.PositiveIntegerField()

    def __str__(self) -> str:
        return f"{self.requests} since {self.opened_at}"


class Project(models.Model):
    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, models.PROTECT, related_name="projects")
    name = models.CharField(_("name"), max_length=200)
    slug = models.SlugField(_("slug"), max_length=100)
    is_default = models.BooleanField(_("Default project"), default=False)
    description = models.TextField(_("description"), blank=True)
    created_at = models.DateTimeField(_("created"), default=clock.now, editable=False)
    updated_at = models.DateTimeField(_("changed"), default=clock.now, editable=False)

    class Meta:
        verbose_name = _("project")
        verbose_name_plural = _("projects")
        constraints = [
            UniqueConstraint(fields=["workspace", "slug"], name="project_slug_once_in_workspace"),
            UniqueConstraint(fields=["workspace"], condition=Q(is_default=True), name="one_default_project"),
        ]

    def __str__(self) -> str:
        return self.name
