"""Correcting rules, and the runs they put into the correcting queue (contract, section 18)."""

from typing import ClassVar

from django.db import models
from django.db.models import Index, Q, UniqueConstraint
from django.utils.translation import gettext_lazy as _

from corrections.models.groups import CorrectorGroup
from corrections.models.runs import AGENT_TURN_FLOW, choices
from corrections.vocabulary import ItemState, RunStatus, SubjectKind
from kindgi_site import clock
from kindgi_site.keys import new_id


class CorrectingRule(models.Model):
    """A rule that says which runs of a project people should look at; `version` is the number that applies."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey("workspaces.Workspace", models.PROTECT, related_name="+")
    project = models.ForeignKey("workspaces.Project", models.PROTECT, related_name="+")
    version = models.PositiveIntegerField(_("version"), default=1)
    created_at = models.DateTimeField(_("created"), default=clock.now, editable=False)
    unregistered_at = models.DateTimeField(_("stopped"), null=True)

    class Meta:
        verbose_name = _("correcting rule")
        verbose_name_plural = _("correcting rules")
        indexes: ClassVar = [
            Index(fields=["project", "created_at", "id"], condition=Q(unregistered_at__isnull=True), name="live_rules"),
        ]

    def __str__(self) -> str:
        return f"{self.id} at {self.version}"


class CorrectingRuleVersion(models.Model):
    """What a rule says from one change to the next; a row is never changed.

    `when` is the contract's object of what was said. `created_by` is `user:<id>` or `service_account:<id>`.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    rule = models.ForeignKey(CorrectingRule, models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField(_("version"))
    name = models.CharField(_("name"), max_length=200)
    when = models.JSONField(_("takes"), default=dict)
    sample = models.FloatField(_("share"))
    max_open = models.PositiveIntegerField(_("at most open"), null=True)
    group = models.ForeignKey(CorrectorGroup, models.PROTECT, null=True, related_name="+")
    enabled = models.BooleanField(_("enabled"))
    created_by = models.CharField(max_length=120)
    created_at = models.DateTimeField(_("written"), default=clock.now)

    class Meta:
        verbose_name = _("version of a correcting rule")
        verbose_name_plural = _("versions of correcting rules")
        constraints: ClassVar = [UniqueConstraint(fields=["rule", "number"], name="rule_version_once")]

    def __str__(self) -> str:
        return f"{self.name} {self.number}"


class CorrectingItem(models.Model):
    """A run that some rule put into the queue: what it was and where it stands, never its content.

    `closed_by` is who dismissed or reopened it last, as `user:<id>` or `service_account:<id>`.
    `reason` is a person's words and goes with an erasure.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey("workspaces.Workspace", models.PROTECT, related_name="+")
    project = models.ForeignKey("workspaces.Project", models.PROTECT, related_name="+")
    run_id = models.UUIDField(_("run id"))
    subject_kind = models.CharField(_("kind"), max_length=5, choices=choices(SubjectKind))
    subject_id = models.CharField(_("agent or flow"), max_length=200)
    subject_version = models.CharField(_("version"), max_length=100)
    run_status = models.CharField(_("status of the run"), max_length=10, choices=choices(RunStatus))
    completed_at = models.DateTimeField(_("completed"))
    state = models.CharField(_("state"), max_length=9, choices=choices(ItemState), default=ItemState.OPEN)
    added_at = models.DateTimeField(_("added"), default=clock.now)
    closed_at = models.DateTimeField(_("closed"), null=True)
    closed_by = models.CharField(max_length=120, blank=True)
    reason = models.TextField(_("reason"), blank=True)

    class Meta:
        verbose_name = _("run to correct")
        verbose_name_plural = _("runs to correct")
        constraints: ClassVar = [
            UniqueConstraint(fields=["workspace", "run_id"], name="one_item_of_a_run"),
            models.CheckConstraint(
                condition=Q(state="open", closed_at__isnull=True) | (~Q(state="open") & Q(closed_at__isnull=False)),
                name="closed_item_has_its_time",
            ),
        ]
        indexes: ClassVar = [
            Index(fields=["project", "added_at", "run_id"], name="items_oldest"),
            Index(fields=["project", "state", "added_at", "run_id"], name="items_by_state"),
            Index(fields=["project", "subject_kind", "subject_id", "added_at", "run_id"], name="items_of_subject"),
        ]

    def __str__(self) -> str:
        return f"{self.state} {self.run_id}"

    @property
    def agent_id(self) -> str:
        return self.subject_id if self.subject_kind == SubjectKind.AGENT else ""

    @property
    def agent_version(self) -> str:
        return self.subject_version if self.subject_kind == SubjectKind.AGENT else ""

    @property
    def flow_id(self) -> str:
        return AGENT_TURN_FLOW if self.subject_kind == SubjectKind.AGENT else self.subject_id


class RuleMatch(models.Model):
    """That a rule, at one of its versions, is why a run is in the queue. `group` is whose correction it wants."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    item = models.ForeignKey(CorrectingItem, models.CASCADE, related_name="matches")
    rule = models.ForeignKey(CorrectingRule, models.PROTECT, related_name="matches")
    version = models.ForeignKey(CorrectingRuleVersion, models.PROTECT, related_name="matches")
    group = models.ForeignKey(CorrectorGroup, models.PROTECT, null=True, related_name="+")

    class Meta:
        constraints: ClassVar = [UniqueConstraint(fields=["item", "rule"], name="rule_once_in_item")]

    def __str__(self) -> str:
        return f"{self.item_id} by {self.rule_id}"


class RuleSkip(models.Model):
    """That a rule took a run but left it out, since `max_open` of its items were waiting.

    One row for each, so that they can be counted since any time. `agent_version` is '' for a flow's run.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    rule = models.ForeignKey(CorrectingRule, models.PROTECT, related_name="skips")
    version = models.ForeignKey(CorrectingRuleVersion, models.PROTECT, related_name="+")
    agent_version = models.CharField(max_length=100, blank=True)
    at = models.DateTimeField(_("when"), default=clock.now)

    class Meta:
        indexes: ClassVar = [Index(fields=["rule", "at"], name="skips_of_rule")]

    def __str__(self) -> str:
        return f"{self.rule_id} at {self.at}"
