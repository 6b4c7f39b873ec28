"""Test runs as callers may see them, and what they say of corrections."""

from collections.abc import Iterable
from uuid import UUID

from django.db.models import Count, OuterRef, Prefetch, QuerySet, Subquery
from django.db.models.functions import Coalesce

from corrections.queries.corrections import as_uuid
from corrections.vocabulary import SubjectKind
from kindgi_site.callers import Caller
from kindgi_site.errors import Code, NotFoundError
from kindgi_site.exact_json import JsonText
from testsets.models import TestRun, TestRunCase, TestRunOutput
from testsets.rules.grading import Outcome

COMPLETED = "completed"
TERMINAL = frozenset({COMPLETED, "failed", "cancelled"})


def test_runs_readable_by(caller: Caller) -> QuerySet[TestRun]:
    """Newest first, with their versions and sets joined. Readable where the set is."""
    runs = TestRun.objects.filter(workspace=caller.workspace_id).select_related("version__test_set")
    readable = caller.readable_project_ids
    if readable is not None:
        runs = runs.filter(version__test_set__project__in=readable)
    return runs.order_by("-started_at", "-id")


def test_run_readable_by(caller: Caller, run_id: UUID) -> TestRun:
    found = test_runs_readable_by(caller).filter(id=run_id).first()
    if found is None:
        raise NotFoundError(Code.TEST_RUN_NOT_FOUND, "There is no such test run.", runId=str(run_id))
    return found


def run_cases(run: TestRun) -> QuerySet[TestRunCase]:
    """In the order of the set."""
    return run.cases.order_by("position")


def with_outputs(cases: QuerySet[TestRunCase]) -> QuerySet[TestRunCase]:
    """Each with its frozen case and its outputs in order of repetition, in two statements."""
    outputs = Prefetch("outputs", TestRunOutput.objects.order_by("repetition"), to_attr="handed_in")
    return cases.select_related("frozen").prefetch_related(outputs)


def newest_gradings(project_id: UUID, agent_id: str, agent_version: str) -> dict[UUID, Outcome]:
    """What the newest finished grading at a version says of each correction it settles (contract 16.3).

    Cases erased since count too: their scores stay.
    """
    settled = TestRunCase.objects.filter(
        test_run__project=project_id,
        test_run__subject_kind=SubjectKind.AGENT,
        test_run__subject_id=agent_id,
        test_run__subject_version=agent_version,
        test_run__status=COMPLETED,
        test_run__dry_run=False,
    ).exclude(settles="")
    newest_first = settled.order_by("-test_run__completed_at", "-test_run__id").values_list("case_id", "settles")
    return gradings_of(newest_first)


def gradings_of(newest_first: Iterable[tuple[str, str]]) -> dict[UUID, Outcome]:
    """(case id, what it settles) pairs by the correction each frozen case is of; the first of each counts."""
    found: dict[UUID, Outcome] = {}
    for case_id, settles in newest_first:
        key = as_uuid(case_id)
        if key is not None:
            found.setdefault(key, Outcome(settles))
    return found


def cases_with_remaining(run: TestRun, *, after: int, most: int) -> list[tuple[int, JsonText, int]]:
    """(position, the case's wire text, repetitions without an output) of up to `most` cases after a position."""
    outputs = TestRunOutput.objects.filter(run_case=OuterRef("pk")).order_by()
    counted = outputs.values("run_case").annotate(count=Count("id")).values("count")
    rows = run_cases(run).filter(position__gt=after).annotate(handed=Coalesce(Subquery(counted), 0))
    is_over = run.status in TERMINAL
    return [
        (position, wire, 0 if is_over or erased_at is not None else run.repetitions - handed)
        for position, wire, erased_at, handed in rows.values_list("position", "frozen__wire", "erased_at", "handed")[
            :most
        ]
        if wire is not None
    ]
