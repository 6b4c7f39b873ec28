"""Hand cases: what people add to an agent's test set beside the corrections that are in it."""

from typing import ClassVar

from django.db import models
from django.db.models import Index, Q, UniqueConstraint
from django.utils.translation import gettext_lazy as _

from corrections.marks import Subject
from corrections.vocabulary import SubjectKind
from kindgi_site import clock
from kindgi_site.keys import new_id
from kindgi_site.stored_json import StoredJson


class HandCase(models.Model):
    """A case of an agent's live test set that somebody added (contract 15, decision 6).

    `run_id` is the run it was copied from, if any; `source_kind` and `source_run_id` are set by
    promotion and drafts only. `is_incomplete`: its `expect` says nothing yet, and it is not frozen.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey("workspaces.Workspace", models.PROTECT, related_name="+")
    project = models.ForeignKey("workspaces.Project", models.PROTECT, related_name="+")
    agent_id = models.CharField(_("agent"), max_length=200)
    agent_version = models.CharField(_("version"), max_length=100)
    run_id = models.UUIDField(_("run id"), null=True)
    input = StoredJson(null=True)
    output = StoredJson(null=True)
    context = StoredJson(null=True)
    segments = StoredJson(null=True)
    calls = StoredJson(null=True)
    called_tools = StoredJson(null=True)
    expect = StoredJson()
    is_incomplete = models.BooleanField(default=False)
    expert = models.BooleanField(default=False)
    note = models.TextField(_("note"), blank=True)
    source_kind = models.CharField(max_length=13, blank=True)
    source_run_id = models.CharField(max_length=200, blank=True)
    promoted_run_id = models.UUIDField(null=True)
    created_by_kind = models.CharField(max_length=7)
    created_by_id = models.CharField(max_length=100)
    created_at = models.DateTimeField(_("made"), default=clock.now)
    updated_at = models.DateTimeField(_("changed"), default=clock.now)
    unregistered_at = models.DateTimeField(_("removed"), null=True)

    class Meta:
        verbose_name = _("hand case")
        verbose_name_plural = _("hand cases")
        ordering: ClassVar = ["-created_at", "-id"]
        constraints: ClassVar = [
            UniqueConstraint(
                fields=["project", "agent_id", "promoted_run_id"],
                condition=Q(unregistered_at__isnull=True, promoted_run_id__isnull=False),
                name="one_live_case_of_a_promoted_run",
            )
        ]
        indexes: ClassVar = [
            Index(fields=["project", "agent_id", "-created_at", "-id"], name="hand_cases_of_agent"),
            Index(fields=["workspace", "run_id"], name="hand_cases_of_run"),
        ]

    def __str__(self) -> str:
        return self.case_id

    @property
    def case_id(self) -> str:
        return f"case-{self.id}"

    @property
    def subject(self) -> Subject:
        return Subject(SubjectKind.AGENT, self.agent_id, self.agent_version)
