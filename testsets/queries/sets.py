"""Test sets as callers may see them."""

from typing import Any

from django.db import connection
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce, Collate, Left

from kindgi_site.callers import Caller
from kindgi_site.errors import Code, GoneError, NotFoundError
from kindgi_site.exact_json import is_storable
from testsets.models import TestCase, TestSet, TestSetVersion
from testsets.rules.versions import parse_set_version

HIGHEST_FIRST = ("-major", "-minor", "-patch")


def sets_readable_by(caller: Caller) -> QuerySet[TestSet]:
    sets = TestSet.objects.filter(workspace=caller.workspace_id)
    readable = caller.readable_project_ids
    return sets if readable is None else sets.filter(project__in=readable)


def versions_readable_by(caller: Caller) -> QuerySet[TestSetVersion]:
    """Every version, with its set joined."""
    return TestSetVersion.objects.filter(test_set__in=sets_readable_by(caller)).select_related("test_set")


def latest_versions(caller: Caller, *, with_retired: bool = False) -> QuerySet[Any]:
    """One version of each set, by the set's id in code point order (`sort_name`): the highest that is registered.

    `with_retired` adds sets without one, as their highest version.
    """
    highest = TestSetVersion.objects.filter(test_set=OuterRef("test_set")).order_by(*HIGHEST_FIRST)
    chosen = Subquery(highest.filter(unregistered_at__isnull=True).values("id")[:1])
    shown = Coalesce(chosen, Subquery(highest.values("id")[:1])) if with_retired else chosen
    versions = versions_readable_by(caller).filter(id=shown)
    return versions.annotate(sort_name=by_code_point("test_set__name")).order_by("sort_name")


def named_like(versions: QuerySet[Any], beginning: str) -> QuerySet[Any]:
    """Those of sets whose id begins so. SQLite's LIKE, unlike PostgreSQL's, takes `a` for `A`."""
    if not is_storable(beginning):
        return versions.none()
    named: QuerySet[Any] = versions.annotate(beginning=Left("test_set__name", len(beginning)))
    return named.filter(beginning=beginning)


def by_code_point(field: str) -> Collate:
    """A text column in code point order, whatever the database's language."""
    return Collate(field, "C" if connection.vendor == "postgresql" else "BINARY")


def set_readable_by(caller: Caller, name: str) -> TestSet:
    # PostgreSQL does not even compare a text with NUL in it; no id has one.
    found = sets_readable_by(caller).filter(name=name).first() if is_storable(name) else None
    if found is None:
        raise set_not_found(name)
    return found


def latest_of(test_set: TestSet) -> TestSetVersion:
    """GoneError when every version was unregistered."""
    latest = test_set.versions.filter(unregistered_at__isnull=True).order_by(*HIGHEST_FIRST).first()
    if latest is None:
        raise GoneError(Code.TEST_SET_GONE, "Every version of this test set was unregistered.", testSetId=test_set.name)
    latest.test_set = test_set
    return latest


def versions_of(test_set: TestSet, *, with_unregistered: bool = False) -> QuerySet[TestSetVersion]:
    """Ascending."""
    versions = test_set.versions.select_related("test_set").order_by("major", "minor", "patch")
    return versions if with_unregistered else versions.filter(unregistered_at__isnull=True)


def after_version(versions: QuerySet[TestSetVersion], text: str) -> QuerySet[TestSetVersion]:
    """Those above a version."""
    mark = parse_set_version(text)
    assert mark is not None
    major, minor, patch = mark
    return versions.filter(
        Q(major__gt=major) | Q(major=major, minor__gt=minor) | Q(major=major, minor=minor, patch__gt=patch)
    )


def version_readable_by(caller: Caller, name: str, version: str) -> TestSetVersion:
    """Unregistered ones too; NotFoundError `test-set-not-found` for an unknown or malformed version as well."""
    versions = versions_readable_by(caller).filter(test_set__name=name, version=version)
    found = versions.first() if is_storable(name + version) else None
    if found is None:
        raise set_not_found(name, version)
    return found


def cases_of(version: TestSetVersion) -> QuerySet[TestCase]:
    """In stored order."""
    return version.cases.order_by("position")


def set_not_found(name: str, version: str | None = None) -> NotFoundError:
    return NotFoundError(Code.TEST_SET_NOT_FOUND, "There is no such test set.", testSetId=name, version=version)
