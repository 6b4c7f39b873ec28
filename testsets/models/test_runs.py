"""Test runs: a version of a test set, the outputs handed in for its cases, and how they were graded."""

from typing import ClassVar

from django.db import models
from django.db.models import Index, Q, UniqueConstraint
from django.utils.translation import gettext_lazy as _

from corrections.marks import Subject
from kindgi_site import clock
from kindgi_site.keys import new_id
from kindgi_site.stored_json import StoredJson
from testsets.models.sets import TestCase, TestSetVersion


class TestRun(models.Model):
    """One grading of an agent's or a flow's version (contract 17).

    `project` is where it runs, the set's own being the version's. `remaining` counts repetitions
    without an output. `summary` is the wire's, stored when it finishes.
    """

    __test__ = False

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey("workspaces.Workspace", models.PROTECT, related_name="+")
    project = models.ForeignKey("workspaces.Project", models.PROTECT, related_name="+")
    version = models.ForeignKey(TestSetVersion, models.PROTECT, related_name="runs")
    subject_kind = models.CharField(_("kind"), max_length=5)
    subject_id = models.CharField(_("agent or flow"), max_length=200)
    subject_version = models.CharField(_("version"), max_length=100)
    status = models.CharField(_("status"), max_length=9)
    dry_run = models.BooleanField(default=False)
    repetitions = models.PositiveSmallIntegerField(default=1)
    k = models.PositiveSmallIntegerField(default=10)
    group_weights = models.CharField(max_length=12)
    reads = models.CharField(max_length=8)
    sample = StoredJson(null=True)
    correlation_id = models.CharField(max_length=200, blank=True)
    rescore_of = models.ForeignKey("self", models.PROTECT, null=True, related_name="rescores")
    remaining = models.PositiveIntegerField(default=0)
    erased_cases = models.PositiveIntegerField(default=0)
    not_rescored = models.PositiveIntegerField(default=0)
    cancel_reason = models.TextField(blank=True)
    error = models.TextField(blank=True)
    summary = StoredJson(null=True)
    requested_by_kind = models.CharField(max_length=7)
    requested_by_id = models.CharField(max_length=100)
    started_at = models.DateTimeField(_("started"), default=clock.now)
    completed_at = models.DateTimeField(_("completed"), null=True)

    class Meta:
        verbose_name = _("test run")
        verbose_name_plural = _("test runs")
        ordering: ClassVar = ["-started_at", "-id"]
        indexes: ClassVar = [
            Index(fields=["workspace", "-started_at", "-id"], name="test_runs_newest"),
            Index(fields=["version", "-started_at", "-id"], name="test_runs_of_version"),
            Index(
                fields=["project", "subject_kind", "subject_id", "subject_version", "status"],
                name="test_runs_of_subject",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.version} with {self.subject_id} {self.subject_version}"

    @property
    def subject(self) -> Subject:
        return Subject(self.subject_kind, self.subject_id, self.subject_version)


class TestRunCase(models.Model):
    """A case in a test run, `frozen` being the set's. `result` is its wire object in `perCase`, stored at the end.

    `settles` (`right`, `wrong` or '') is what it says of the correction behind a frozen case.
    """

    __test__ = False

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    test_run = models.ForeignKey(TestRun, models.CASCADE, related_name="cases")
    frozen = models.ForeignKey(TestCase, models.PROTECT, related_name="+")
    position = models.PositiveIntegerField()
    case_id = models.CharField(max_length=200)
    outcome = models.CharField(max_length=8, blank=True)
    settles = models.CharField(max_length=5, blank=True)
    result = StoredJson(null=True)
    erased_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("case of a test run")
        verbose_name_plural = _("cases of a test run")
        ordering: ClassVar = ["position"]
        constraints: ClassVar = [UniqueConstraint(fields=["test_run", "case_id"], name="case_once_in_test_run")]
        indexes: ClassVar = [
            Index(fields=["test_run", "position"], name="cases_of_test_run"),
            Index(fields=["case_id"], name="gradings_of_case"),
        ]

    def __str__(self) -> str:
        return f"{self.case_id}: {self.outcome}"


class TestRunOutput(models.Model):
    """What one repetition of a case gave. `fingerprint` is of the whole entry as canonical JSON.

    `answer` is the verdict handed in with it, `judged` the configured judge's: both `{verdict, reason?}`.
    """

    __test__ = False

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    run_case = models.ForeignKey(TestRunCase, models.CASCADE, related_name="outputs")
    repetition = models.PositiveSmallIntegerField(default=0)
    run_id = models.CharField(max_length=200, blank=True)
    output = StoredJson(null=True)
    calls = StoredJson(null=True)
    answer = StoredJson(null=True)
    judged = StoredJson(null=True)
    model = StoredJson(null=True)
    diverged = models.BooleanField(default=False)
    refused_writes = models.PositiveIntegerField(default=0)
    stopped = StoredJson(null=True)
    error = models.TextField(blank=True)
    fingerprint = models.CharField(max_length=64)
    created_at = models.DateTimeField(_("handed in"), default=clock.now)

    class Meta:
        verbose_name = _("output")
        verbose_name_plural = _("outputs")
        constraints: ClassVar = [UniqueConstraint(fields=["run_case", "repetition"], name="one_output_of_a_repetition")]
        indexes: ClassVar = [Index(fields=["run_id"], condition=~Q(run_id=""), name="outputs_of_run")]

    def __str__(self) -> str:
        return f"{self.run_case_id} {self.repetition}"
