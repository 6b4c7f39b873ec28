"""Corrections: what one caller says was right or wrong about one run."""

from typing import ClassVar

from django.db import models
from django.db.models import Index, Q, UniqueConstraint
from django.utils.translation import gettext_lazy as _

from corrections.marks import Link, Note, Party, Sorting, Subject, VersionMark
from corrections.models.groups import CorrectorGroup
from corrections.models.runs import RunCopy, choices
from corrections.vocabulary import LinkKind, SortedTo, Status, SubjectKind, Verdict
from kindgi_site import clock
from kindgi_site.keys import new_id
from kindgi_site.stored_json import StoredJson


class Correction(models.Model):
    """One correction (contract 7.1). An empty text means: not said.

    `has_right` and `has_wrong` say whether any of its verdicts is right or wrong, for lists.
    `participant_id` is '' when none, so that the uniqueness of live rows holds for it too;
    `participant_slot` stands in for one that was erased.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey("workspaces.Workspace", models.PROTECT, related_name="+")
    project = models.ForeignKey("workspaces.Project", models.PROTECT, related_name="+")
    copy = models.ForeignKey(RunCopy, models.PROTECT, related_name="corrections")
    run_id = models.UUIDField(_("run id"))
    subject_kind = models.CharField(_("kind"), max_length=5, choices=choices(SubjectKind))
    subject_id = models.CharField(_("agent or flow"), max_length=200)
    subject_version = models.CharField(_("version"), max_length=100)

    decisions = models.CharField(_("decisions"), max_length=5, choices=choices(Verdict), blank=True)
    should_call = StoredJson(null=True)
    must_not_call = StoredJson(null=True)
    answer = models.CharField(_("answer"), max_length=5, choices=choices(Verdict), blank=True)
    should_say = models.TextField(blank=True)
    why = models.TextField(blank=True)
    items = StoredJson(null=True)
    has_right = models.BooleanField()
    has_wrong = models.BooleanField()

    group = models.ForeignKey(CorrectorGroup, models.PROTECT, null=True, related_name="corrections")
    expert = models.BooleanField(default=False)
    made_by_kind = models.CharField(max_length=7)
    made_by_id = models.CharField(max_length=100)
    participant_id = models.CharField(max_length=256, blank=True)
    participant_slot = models.CharField(max_length=36, blank=True)

    status = models.CharField(_("status"), max_length=11, choices=choices(Status))
    sorted_to = models.CharField(_("sorted to"), max_length=9, choices=choices(SortedTo), blank=True)
    sorted_by_kind = models.CharField(max_length=7, blank=True)
    sorted_by_id = models.CharField(max_length=100, blank=True)
    sorted_reason = models.TextField(blank=True)
    sorted_at = models.DateTimeField(null=True)
    link_kind = models.CharField(max_length=16, choices=choices(LinkKind), blank=True)
    link_target = models.TextField(blank=True)
    fixed_how = models.CharField(max_length=14, blank=True)
    fixed_version = models.CharField(max_length=100, blank=True)
    fixed_by_kind = models.CharField(max_length=7, blank=True)
    fixed_by_id = models.CharField(max_length=100, blank=True)
    fixed_at = models.DateTimeField(null=True)
    reopened_how = models.CharField(max_length=14, blank=True)
    reopened_version = models.CharField(max_length=100, blank=True)
    reopened_by_kind = models.CharField(max_length=7, blank=True)
    reopened_by_id = models.CharField(max_length=100, blank=True)
    reopened_at = models.DateTimeField(null=True)
    note_text = models.TextField(blank=True)
    note_by_kind = models.CharField(max_length=7, blank=True)
    note_by_id = models.CharField(max_length=100, blank=True)
    note_at = models.DateTimeField(null=True)

    created_at = models.DateTimeField(_("made"), default=clock.now)
    updated_at = models.DateTimeField(_("changed"), default=clock.now)
    unregistered_at = models.DateTimeField(_("removed"), null=True)
    superseded_by = models.ForeignKey("self", models.PROTECT, null=True, related_name="superseded")

    class Meta:
        verbose_name = _("correction")
        verbose_name_plural = _("corrections")
        ordering: ClassVar = ["-created_at", "-id"]
        constraints: ClassVar = [
            UniqueConstraint(
                fields=["workspace", "run_id", "made_by_kind", "made_by_id", "participant_id", "participant_slot"],
                condition=Q(unregistered_at__isnull=True),
                name="one_live_correction_of_a_maker",
            ),
            models.CheckConstraint(
                condition=Q(status="removed", unregistered_at__isnull=False)
                | (~Q(status="removed") & Q(unregistered_at__isnull=True)),
                name="removed_has_its_time",
            ),
            models.CheckConstraint(
                condition=Q(sorted_to="", sorted_at__isnull=True) | (~Q(sorted_to="") & Q(sorted_at__isnull=False)),
                name="sorted_by_somebody",
            ),
            models.CheckConstraint(
                condition=~Q(status="with-owner") | Q(sorted_to="owner"), name="with_owner_is_sorted_to_owner"
            ),
            models.CheckConstraint(
                condition=~Q(status="fixed") | Q(fixed_at__isnull=False), name="fixed_in_some_version"
            ),
        ]
        indexes: ClassVar = [
            Index(
                fields=["workspace", "-created_at", "-id"],
                condition=Q(unregistered_at__isnull=True),
                name="live_corrections_newest",
            ),
            Index(fields=["workspace", "-created_at", "-id"], name="corrections_newest"),
            Index(fields=["workspace", "status", "-created_at", "-id"], name="corrections_by_status"),
            Index(fields=["workspace", "run_id", "-created_at", "-id"], name="corrections_of_run"),
            Index(
                fields=["workspace", "subject_kind", "subject_id", "-created_at", "-id"], name="corrections_of_subject"
            ),
            Index(
                fields=["project", "subject_kind", "subject_id", "status", "fixed_how"],
                condition=Q(unregistered_at__isnull=True),
                name="standing_of_subject",
            ),
            Index(
                fields=["workspace", "participant_id"],
                condition=~Q(participant_id=""),
                name="corrections_of_participant",
            ),
            Index(
                fields=["workspace", "made_by_kind", "made_by_id", "run_id"],
                condition=Q(unregistered_at__isnull=True),
                name="live_corrections_of_maker",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.id} on {self.run_id}"

    @property
    def is_live(self) -> bool:
        return self.unregistered_at is None

    @property
    def subject(self) -> Subject:
        return Subject(self.subject_kind, self.subject_id, self.subject_version)

    @property
    def made_by(self) -> Party:
        return Party(self.made_by_kind, self.made_by_id)

    @property
    def sorting(self) -> Sorting | None:
        if self.sorted_at is None:
            return None
        return Sorting(Party(self.sorted_by_kind, self.sorted_by_id), self.sorted_at, self.sorted_reason)

    @property
    def link(self) -> Link | None:
        return Link(self.link_kind, self.link_target) if self.link_kind else None

    @property
    def fixed_in(self) -> VersionMark | None:
        if self.fixed_at is None:
            return None
        by = Party.known(self.fixed_by_kind, self.fixed_by_id)
        return VersionMark(self.fixed_how, self.fixed_at, self.fixed_version, by)

    @property
    def reopened_in(self) -> VersionMark | None:
        if self.reopened_at is None:
            return None
        by = Party.known(self.reopened_by_kind, self.reopened_by_id)
        return VersionMark(self.reopened_how, self.reopened_at, self.reopened_version, by)

    @property
    def status_note(self) -> Note | None:
        if self.note_at is None:
            return None
        return Note(self.note_text, Party(self.note_by_kind, self.note_by_id), self.note_at)
