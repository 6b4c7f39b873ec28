"""What the pages of test sets show, in a fixed number of statements however many rows there are."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from corrections.models import Correction, CorrectionEvent, CorrectorGroup, RunCopy
from corrections.queries.corrections import as_uuid, corrections_readable_by
from corrections.queries.run_pages import names_of
from corrections.vocabulary import Status, SubjectKind
from kindgi_site.callers import Caller
from kindgi_site.exact_json import is_storable
from kindgi_site.stored_json import JsonText
from kindgi_site.workspaces.models import Project
from testsets.models import HandCase, TestCase, TestRun, TestSet, TestSetVersion
from testsets.queries.sets import HIGHEST_FIRST, latest_versions, set_not_found

PAGE_SIZE = 30
MOST_VERSIONS = 200
RECENT = 200
CASE_PREFIX = "case-"


@dataclass(frozen=True, slots=True)
class Page:
    """Rows, and what the next page starts after; None on the last one."""

    rows: list[Any]
    next: object = None


def page_of(rows: Iterable[Any], next_of: Any, most: int = PAGE_SIZE) -> Page:
    """`rows` holds one more than a page when there is a next one."""
    found = list(rows)
    return Page(found[:most], next_of(found[most - 1]) if len(found) > most else None)


def sets_for_list(caller: Caller, *, after: str = "") -> Page:
    """Sets by id, each at its latest version with how many cases and versions it has."""
    versions = latest_versions(caller, with_retired=True).select_related("test_set__project")
    if after and is_storable(after):
        versions = versions.filter(sort_name__gt=after)
    siblings = TestSetVersion.objects.filter(test_set=OuterRef("test_set")).order_by()
    counted = siblings.values("test_set").annotate(count=Count("id")).values("count")
    rows = with_case_count(versions).annotate(version_count=Subquery(counted))
    return page_of(rows[: PAGE_SIZE + 1], lambda version: version.test_set.name)


def with_case_count(versions: QuerySet[TestSetVersion]) -> QuerySet[Any]:
    cases = TestCase.objects.filter(version=OuterRef("pk")).order_by()
    counted = cases.values("version").annotate(count=Count("id")).values("count")
    return versions.annotate(case_count=Coalesce(Subquery(counted), Value(0)))


def versions_for_page(test_set: TestSet) -> list[Any]:
    """Highest first, unregistered ones too, with how many cases and test runs each has."""
    runs = TestRun.objects.filter(version=OuterRef("pk")).order_by()
    counted = runs.values("version").annotate(count=Count("id")).values("count")
    versions = with_case_count(test_set.versions.select_related("test_set").order_by(*HIGHEST_FIRST))
    return list(versions.annotate(run_count=Coalesce(Subquery(counted), Value(0)))[:MOST_VERSIONS])


def cases_page(version: TestSetVersion, start: int) -> Page:
    """Cases from a position on."""
    cases = version.cases.filter(position__gte=start).order_by("position")
    return page_of(cases[: PAGE_SIZE + 1], lambda case: case.position + 1)


def case_in(version: TestSetVersion, case_id: str) -> TestCase:
    """NotFoundError when the version has no such case."""
    found = version.cases.filter(case_id=case_id).first() if is_storable(case_id) else None
    if found is None:
        raise set_not_found(version.test_set.name, version.version)
    return found


def case_neighbours(case: TestCase) -> tuple[str | None, str | None]:
    """The ids of the cases before and after."""
    places = (case.position - 1, case.position + 1)
    beside = TestCase.objects.filter(version=case.version_id, position__in=places)
    found = dict(beside.values_list("position", "case_id"))
    return found.get(places[0]), found.get(places[1])


@dataclass(frozen=True, slots=True)
class Sayers:
    """The corrections and hand cases behind some cases, by id, and the names of whoever made them."""

    corrections: dict[str, Correction]
    hand_cases: dict[str, HandCase]
    names: dict[str, str]


def sayers_of(workspace_id: UUID, ids: Iterable[str]) -> Sayers:
    """In three statements; the ids are those of corrections and of hand cases (`case-…`)."""
    wanted = set(ids)
    hand_keys = {as_uuid(name.removeprefix(CASE_PREFIX)) for name in wanted if name.startswith(CASE_PREFIX)}
    keys = {as_uuid(name) for name in wanted if not name.startswith(CASE_PREFIX)}
    shown = ("group", "group_id", "expert", "why", "should_say", "created_at", "status", "participant_id", "run_id")
    corrections = Correction.objects.filter(workspace=workspace_id, id__in=[key for key in keys if key]).select_related(
        "group"
    )
    found = {
        str(row.id): row
        for row in corrections.order_by().only("made_by_kind", "made_by_id", *shown, "group__name", "group__weight")
    }
    hands = HandCase.objects.filter(workspace=workspace_id, id__in=[key for key in hand_keys if key])
    by_hand = {
        row.case_id: row for row in hands.order_by().only("created_by_kind", "created_by_id", "created_at", "note")
    }
    makers = [row.made_by_id for row in found.values()] + [row.created_by_id for row in by_hand.values()]
    return Sayers(found, by_hand, names_of(makers))


def calls_of_case(workspace_id: UUID, case: TestCase) -> JsonText | None:
    """The calls of the run behind a case: they are kept beside it, not on its wire."""
    if case.case_id.startswith(CASE_PREFIX):
        key = as_uuid(case.case_id.removeprefix(CASE_PREFIX))
        hands = HandCase.objects.filter(workspace=workspace_id, id__in=[key] if key else [])
        return hands.values_list("calls", flat=True).first()
    copies = RunCopy.objects.filter(workspace=workspace_id, run_id__in=[case.run_id] if case.run_id else [])
    return copies.values_list("calls", flat=True).first()


def groups_for_building(caller: Caller) -> QuerySet[CorrectorGroup]:
    groups = CorrectorGroup.objects.filter(workspace=caller.workspace_id).order_by("name", "id")
    readable = caller.readable_project_ids
    return groups if readable is None else groups.filter(Q(project__isnull=True) | Q(project__in=readable))


UNDONE = (Status.OPEN, Status.BEING_FIXED, Status.WITH_OWNER)


def corrections_to_fix(project: Project, agent_id: str, most: int) -> list[Correction]:
    """What a new version may be said to fix, newest first, with the copies' tools and input and the groups."""
    corrections = Correction.objects.filter(
        workspace=project.workspace_id,
        project=project,
        subject_kind=SubjectKind.AGENT,
        subject_id=agent_id,
        unregistered_at__isnull=True,
        status__in=UNDONE,
    )
    corrections = corrections.select_related("group", "copy").order_by("-created_at", "-id")
    return list(corrections.defer("copy__output", "copy__context", "copy__segments", "copy__calls")[:most])


def settled_by(cause: str, since: datetime, *, project_id: UUID, agent_id: str, most: int) -> list[CorrectionEvent]:
    """What a test run made of an agent's corrections, with these joined, newest first."""
    return list(_settled(project_id, agent_id).filter(cause=cause, at__gte=since)[:most])


def settled_between(
    project_id: UUID, agent_id: str, since: datetime, until: datetime | None, *, most: int
) -> list[CorrectionEvent]:
    """What live changes and test runs made of an agent's corrections in some time, newest first."""
    events = _settled(project_id, agent_id).filter(at__gte=since)
    return list((events if until is None else events.filter(at__lt=until))[:most])


def _settled(project_id: UUID, agent_id: str) -> QuerySet[CorrectionEvent]:
    events = CorrectionEvent.objects.filter(
        action__in=("fixed", "reopened"),
        correction__project=project_id,
        correction__subject_kind=SubjectKind.AGENT,
        correction__subject_id=agent_id,
    )
    events = events.select_related("correction__copy", "correction__group").order_by("-at", "-id")
    return events.defer(*(f"correction__copy__{part}" for part in ("output", "context", "segments", "calls")))


def corrections_for_download(caller: Caller, project_id: UUID, agent_id: str) -> QuerySet[Correction]:
    """The live corrections of an agent, newest first."""
    corrections = corrections_readable_by(caller).filter(
        project=project_id, subject_kind=SubjectKind.AGENT, subject_id=agent_id, unregistered_at__isnull=True
    )
    return corrections.select_related("group")


def in_batches(rows: QuerySet[Any], ids: Sequence[Any], size: int) -> Iterable[list[Any]]:
    """Rows by id, `size` at a time, in the order of the ids."""
    for start in range(0, len(ids), size):
        chunk = ids[start : start + size]
        found = rows.in_bulk(chunk)
        yield [found[key] for key in chunk if key in found]


def versions_of_agent(project_id: UUID, agent_id: str) -> list[TestSetVersion]:
    """The newest versions frozen from an agent's set, with their sets."""
    frozen = TestSetVersion.objects.filter(test_set__project=project_id, frozen_agent_id=agent_id)
    return list(frozen.select_related("test_set").order_by("-created_at", "-id")[:5])
