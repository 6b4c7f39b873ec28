"""Publish test set versions, take them back and put them back (contract 14.1, 14.2)."""

import re
from dataclasses import dataclass

from django.db import transaction

from corrections.rules.drafts import refusal
from kindgi_site import clock
from kindgi_site.callers import Action, Caller
from kindgi_site.errors import Code, ConflictError
from kindgi_site.stored_json import JsonText
from kindgi_site.workspaces.permissions import check_project_action
from kindgi_site.workspaces.services.audit import record_write
from testsets.drafts import VersionDraft
from testsets.models import TestSet, TestSetVersion
from testsets.queries.sets import set_not_found, version_readable_by
from testsets.rules.versions import SetVersion, parse_set_version

SET_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$")


@transaction.atomic
def publish_by_hand(*, caller: Caller, draft: VersionDraft) -> TestSetVersion:
    """Register a version of a set that this server has no cases for. The draft's shape was checked."""
    check_project_action(caller, Action.ADMIN, draft.project_id)
    version = new_version(caller=caller, draft=draft)
    record_write(caller, "test-sets.publish", "test-set-version", version.id, ["version", "kind"])
    return version


def new_version(*, caller: Caller, draft: VersionDraft) -> TestSetVersion:
    """Store a version, inside the caller's transaction, holding the set's row.

    ConflictError when the id belongs to another project, or the version exists, even unregistered.
    """
    parts = checked_version(draft.version)
    check_set_name(draft.set_name)
    test_set, _created = TestSet.objects.get_or_create(
        workspace_id=caller.workspace_id, name=draft.set_name, defaults={"project_id": draft.project_id}
    )
    test_set = TestSet.objects.select_for_update().get(id=test_set.id)
    if test_set.project_id != draft.project_id:
        raise ConflictError(
            Code.TEST_SET_PROJECT_MISMATCH, "This id belongs to another project.", testSetId=draft.set_name
        )
    if test_set.versions.filter(version=draft.version).exists():
        raise ConflictError(
            Code.TEST_SET_ALREADY_REGISTERED,
            "This version exists already.",
            testSetId=draft.set_name,
            version=draft.version,
        )
    return TestSetVersion.objects.create(
        test_set=test_set,
        version=draft.version,
        major=parts.major,
        minor=parts.minor,
        patch=parts.patch,
        kind=draft.kind,
        description=draft.description,
        spec=JsonText.of(draft.spec),
        frozen_agent_id=draft.frozen_agent_id,
    )


@dataclass(frozen=True, slots=True)
class Reinstated:
    version: TestSetVersion
    was_unregistered: bool


@transaction.atomic
def unregister_version(*, caller: Caller, set_name: str, version: str) -> TestSetVersion:
    """Take a version out of use; its cases and finished test runs stay. Unknown or out already: NotFoundError."""
    found = _locked(caller, set_name, version)
    if found.unregistered_at is not None:
        raise set_not_found(set_name, version)
    found.unregistered_at = clock.now()
    found.save(update_fields=["unregistered_at"])
    record_write(caller, "test-sets.unregister", "test-set-version", found.id, ["unregisteredAt"])
    return found


@transaction.atomic
def reinstate_version(*, caller: Caller, set_name: str, version: str) -> Reinstated:
    """Put a version back as it was; one that is in use is left as it is."""
    found = _locked(caller, set_name, version)
    was_unregistered = found.unregistered_at is not None
    if was_unregistered:
        found.unregistered_at = None
        found.save(update_fields=["unregistered_at"])
        record_write(caller, "test-sets.reinstate", "test-set-version", found.id, ["unregisteredAt"])
    return Reinstated(found, was_unregistered)


def checked_version(text: str) -> SetVersion:
    parts = parse_set_version(text)
    if parts is None:
        raise refusal("version is three numbers such as 1.2.0, without leading zeros.", "version")
    return parts


def check_set_name(name: str) -> None:
    if not SET_NAME.fullmatch(name):
        raise refusal(
            "A test set's id has 1 to 200 letters, digits, dots, hyphens and underscores, and starts with one"
            " of the first two.",
            "testSetId",
        )


def _locked(caller: Caller, set_name: str, version: str) -> TestSetVersion:
    found = version_readable_by(caller, set_name, version)
    check_project_action(caller, Action.ADMIN, found.test_set.project_id)
    return TestSetVersion.objects.select_for_update(of=("self",)).select_related("test_set").get(id=found.id)
