"""Test sets: a name fixed to a project, its versions, and their frozen cases."""

from typing import ClassVar

from django.db import models
from django.db.models import UniqueConstraint
from django.utils.translation import gettext_lazy as _

from kindgi_site import clock
from kindgi_site.keys import new_id
from kindgi_site.stored_json import StoredJson


class TestSet(models.Model):
    """The caller's own name for a set, tied to its project for good (contract 14.1)."""

    __test__ = False

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey("workspaces.Workspace", models.PROTECT, related_name="+")
    project = models.ForeignKey("workspaces.Project", models.PROTECT, related_name="+")
    name = models.CharField(_("id"), max_length=200)
    created_at = models.DateTimeField(_("created"), default=clock.now)

    class Meta:
        verbose_name = _("test set")
        verbose_name_plural = _("test sets")
        constraints: ClassVar = [UniqueConstraint(fields=["workspace", "name"], name="test_set_id_once_in_workspace")]

    def __str__(self) -> str:
        return self.name


class TestSetVersion(models.Model):
    """One published version; `major`, `minor`, `patch` are its parts, for ordering.

    `frozen_agent_id` names the agent whose live set it froze, if that is how it was made.
    """

    __test__ = False

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    test_set = models.ForeignKey(TestSet, models.PROTECT, related_name="versions")
    version = models.CharField(_("version"), max_length=100)
    major = models.PositiveBigIntegerField()
    minor = models.PositiveBigIntegerField()
    patch = models.PositiveBigIntegerField()
    kind = models.CharField(_("kind"), max_length=12)
    description = models.TextField(_("description"), blank=True)
    spec = StoredJson()
    frozen_agent_id = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(_("created"), default=clock.now)
    unregistered_at = models.DateTimeField(_("unregistered"), null=True)

    class Meta:
        verbose_name = _("version")
        verbose_name_plural = _("versions")
        constraints: ClassVar = [UniqueConstraint(fields=["test_set", "version"], name="version_once_in_test_set")]
        indexes: ClassVar = [
            models.Index(fields=["test_set", "-major", "-minor", "-patch"], name="versions_highest_first")
        ]

    def __str__(self) -> str:
        return f"{self.test_set} {self.version}"


class TestCase(models.Model):
    """A frozen case: `wire` is its whole object for the wire, written once and rewritten only by erasure.

    `called_tools` are the names the corrected run called, in order; null when unknown.
    """

    __test__ = False

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    version = models.ForeignKey(TestSetVersion, models.PROTECT, related_name="cases")
    position = models.PositiveIntegerField()
    case_id = models.CharField(max_length=200)
    run_id = models.UUIDField(null=True)
    expert = models.BooleanField(default=False)
    wire = StoredJson()
    called_tools = StoredJson(null=True)
    erased_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("test case")
        verbose_name_plural = _("test cases")
        constraints: ClassVar = [
            UniqueConstraint(fields=["version", "position"], name="one_case_each_position"),
            UniqueConstraint(fields=["version", "case_id"], name="case_id_once_in_version"),
        ]
        indexes: ClassVar = [models.Index(fields=["run_id"], name="cases_of_run")]

    def __str__(self) -> str:
        return self.case_id
