"""Runs as they were handed in, and the copies that corrections are made against."""

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Index, Q, UniqueConstraint
from django.utils.translation import gettext_lazy as _

from corrections.marks import Subject
from corrections.vocabulary import TERMINAL, RunStatus, SubjectKind
from kindgi_site import clock
from kindgi_site.keys import new_id
from kindgi_site.stored_json import JsonText, StoredJson

AGENT_TURN_FLOW = "agent.turn"


def choices(words: type) -> list[tuple[str, str]]:
    return [(word.value, word.value) for word in words]  # type: ignore[attr-defined]


class Run(models.Model):
    """One run of an agent or a flow. Its words are in `content`, so that lists never read them.

    `run_id` is the caller's own id, unique in a workspace; `id` is ours.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey("workspaces.Workspace", models.PROTECT, related_name="+")
    project = models.ForeignKey("workspaces.Project", models.PROTECT, related_name="+")
    run_id = models.UUIDField(_("run id"))
    subject_kind = models.CharField(_("kind"), max_length=5, choices=choices(SubjectKind))
    subject_id = models.CharField(_("agent or flow"), max_length=200)
    subject_version = models.CharField(_("version"), max_length=100)
    conversation_id = models.UUIDField(null=True)
    via = models.CharField(max_length=12, blank=True)
    status = models.CharField(_("status"), max_length=10, choices=choices(RunStatus))
    dry_run = models.BooleanField(default=False)
    started_at = models.DateTimeField(null=True)
    completed_at = models.DateTimeField(_("completed"), null=True)
    parent_run_id = models.CharField(max_length=200, blank=True)
    parent_node_id = models.CharField(max_length=200, blank=True)
    replay_of = models.CharField(max_length=200, blank=True)
    test_run_id = models.CharField(max_length=200, blank=True)
    participant_id = models.CharField(max_length=256, blank=True)
    segments = StoredJson(null=True)
    created_at = models.DateTimeField(_("received"), default=clock.now)
    updated_at = models.DateTimeField(_("changed"), default=clock.now)
    erased_at = models.DateTimeField(_("erased"), null=True)
    purged_at = models.DateTimeField(_("purged"), null=True)

    content: "RunContent"

    class Meta:
        verbose_name = _("run")
        verbose_name_plural = _("runs")
        ordering: ClassVar = ["-created_at", "-id"]
        constraints: ClassVar = [UniqueConstraint(fields=["workspace", "run_id"], name="run_id_once_in_workspace")]
        indexes: ClassVar = [
            Index(fields=["workspace", "-created_at", "-id"], name="runs_newest"),
            Index(fields=["workspace", "subject_kind", "subject_id", "-created_at", "-id"], name="runs_of_subject"),
            Index(fields=["project", "-created_at", "-id"], name="runs_of_project"),
            Index(fields=["project", "subject_kind", "subject_id"], name="subjects_of_project"),
            Index(fields=["workspace", "participant_id"], condition=~Q(participant_id=""), name="runs_of_participant"),
            Index(fields=["workspace", "conversation_id"], name="runs_of_conversation"),
            Index(fields=["workspace", "replay_of"], condition=~Q(replay_of=""), name="replays_of_run"),
            Index(fields=["workspace", "parent_run_id"], condition=~Q(parent_run_id=""), name="children_of_run"),
            Index(fields=["workspace", "test_run_id"], condition=~Q(test_run_id=""), name="runs_of_test_run"),
        ]

    def __str__(self) -> str:
        return f"{self.subject_id} {self.subject_version} {self.run_id}"

    @property
    def conversation_shown(self) -> uuid.UUID:
        """A turn that was handed in without a conversation is one of its own (docs/decisions/0007)."""
        return self.conversation_id or self.run_id

    @property
    def is_terminal(self) -> bool:
        return self.status in TERMINAL

    @property
    def is_agent_turn(self) -> bool:
        return self.subject_kind == SubjectKind.AGENT

    @property
    def subject(self) -> Subject:
        return Subject(self.subject_kind, self.subject_id, self.subject_version)


class RunContent(models.Model):
    """What a run took in and gave out, as JSON text; cleared by erasure."""

    run = models.OneToOneField(Run, models.CASCADE, primary_key=True, related_name="content")
    input = StoredJson(null=True)
    output = StoredJson(null=True)
    context = StoredJson(null=True)
    calls = StoredJson(null=True)
    failure_message = models.TextField(blank=True)

    def __str__(self) -> str:
        return str(self.run_id)


class RunTool(models.Model):
    """That a run called a tool at least once: what lists filter by and forms suggest from."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    run = models.ForeignKey(Run, models.CASCADE, related_name="tools")
    tool = models.CharField(max_length=200)

    class Meta:
        constraints: ClassVar = [UniqueConstraint(fields=["run", "tool"], name="tool_once_in_run")]
        indexes: ClassVar = [Index(fields=["tool", "run"], name="runs_calling_tool")]

    def __str__(self) -> str:
        return self.tool


class RunCopy(models.Model):
    """A run as it was when first corrected. Outlives the run; never changed but by erasure (contract 7.5).

    `context` is wire-ready and cut to its bounds. `calls` are the calls with their failures, and
    `called_tools` the names in the order called, null when unknown: both are never on the wire.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey("workspaces.Workspace", models.PROTECT, related_name="+")
    project = models.ForeignKey("workspaces.Project", models.PROTECT, related_name="+")
    run_id = models.UUIDField(_("run id"))
    subject_kind = models.CharField(_("kind"), max_length=5, choices=choices(SubjectKind))
    subject_id = models.CharField(_("agent or flow"), max_length=200)
    subject_version = models.CharField(_("version"), max_length=100)
    input = StoredJson(null=True)
    output = StoredJson(null=True)
    context = StoredJson(null=True)
    segments = StoredJson(null=True)
    calls = StoredJson(null=True)
    called_tools = StoredJson(null=True)
    is_replay = models.BooleanField(default=False)
    captured_at = models.DateTimeField(_("captured"), default=clock.now)
    erased_at = models.DateTimeField(_("erased"), null=True)

    class Meta:
        verbose_name = _("run copy")
        verbose_name_plural = _("run copies")
        constraints: ClassVar = [UniqueConstraint(fields=["workspace", "run_id"], name="one_copy_of_a_run")]
        indexes: ClassVar = [
            Index(
                fields=["project", "subject_kind", "subject_id", "-captured_at", "-run_id"], name="copies_of_subject"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.subject_id} {self.subject_version} {self.run_id}"

    @property
    def is_agent_turn(self) -> bool:
        return self.subject_kind == SubjectKind.AGENT

    @property
    def subject(self) -> Subject:
        return Subject(self.subject_kind, self.subject_id, self.subject_version)

    @property
    def called_tool_names(self) -> list[str] | None:
        names: JsonText | None = self.called_tools
        return None if names is None else list(names.value)
