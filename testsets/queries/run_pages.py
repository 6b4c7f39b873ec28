"""What the pages of test runs show: how each case stands against another run of the same set."""

from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from kindgi_site.callers import Caller
from testsets.models import TestRun, TestRunCase, TestRunOutput
from testsets.queries.test_runs import COMPLETED, run_cases, test_runs_readable_by
from testsets.rules.grading import Outcome
from testsets.rules.standing import Standing, standing_of

PAGE_SIZE = 30
OFFERED = 50


def runs_for_page(caller: Caller) -> QuerySet[TestRun]:
    return test_runs_readable_by(caller).select_related("project")


def comparable_runs(caller: Caller, run: TestRun) -> list[TestRun]:
    """The newest finished runs of the same set, newest first: what it can be laid beside."""
    return list(_finished_with_its_set(caller, run).exclude(id=run.id).defer("summary")[:OFFERED])


def previous_of(caller: Caller, run: TestRun) -> TestRun | None:
    """The newest finished run before this one, in its project, of another version of the same agent or flow."""
    of_same = _finished_with_its_set(caller, run).filter(
        project=run.project_id,
        subject_kind=run.subject_kind,
        subject_id=run.subject_id,
        started_at__lte=run.started_at,
    )
    return of_same.exclude(subject_version=run.subject_version).defer("summary").first()


def _finished_with_its_set(caller: Caller, run: TestRun) -> QuerySet[TestRun]:
    return test_runs_readable_by(caller).filter(
        version__test_set=run.version.test_set_id, status=COMPLETED, dry_run=False
    )


@dataclass(frozen=True, slots=True)
class Stand:
    """How one case stands, without its content."""

    id: UUID
    case_id: str
    standing: Standing
    before: str | None


def stands_of(run: TestRun, against: TestRun | None) -> list[Stand]:
    """Every case of a finished run, worst first, else in the order of the set; two statements."""
    outputs = TestRunOutput.objects.filter(run_case=OuterRef("pk"))
    rows = run_cases(run).annotate(
        has_output=Exists(outputs.filter(output__isnull=False)),
        is_stopped=Exists(outputs.filter(stopped__isnull=False)),
    )
    earlier = dict(against.cases.values_list("case_id", "outcome")) if against else {}
    order = list(Standing)
    stands = [
        Stand(
            id=key,
            case_id=case_id,
            standing=_standing(outcome, earlier.get(case_id), erased=erased_at is not None, ran=has or stopped),
            before=earlier.get(case_id),
        )
        for key, case_id, outcome, erased_at, has, stopped in rows.values_list(
            "id", "case_id", "outcome", "erased_at", "has_output", "is_stopped"
        )
    ]
    return sorted(stands, key=lambda stand: order.index(stand.standing))


def _standing(outcome: str, before: str | None, *, erased: bool, ran: bool) -> Standing:
    if erased:
        return Standing.ERASED
    return standing_of({"outcome": outcome or Outcome.UNGRADED} | ({} if ran else {"error": ""}), before)


def cases_shown(stands: list[Stand]) -> dict[UUID, TestRunCase]:
    """The cases of one page with their frozen ones joined."""
    return TestRunCase.objects.select_related("frozen").in_bulk([stand.id for stand in stands])


def same_cases_in(run: TestRun, case_ids: list[str]) -> dict[str, TestRunCase]:
    """The same cases as another run graded them."""
    return {case.case_id: case for case in run.cases.filter(case_id__in=case_ids)}


@dataclass(frozen=True, slots=True)
class Progress:
    """Of the cases that a run waits for: how many have every repetition in, how many none.

    `example` is one that still lacks something.
    """

    cases: int
    done: int
    without: int
    example: str | None


def progress_of(run: TestRun) -> Progress:
    """In one statement; erased cases are not waited for."""
    outputs = TestRunOutput.objects.filter(run_case=OuterRef("pk")).order_by()
    counted = outputs.values("run_case").annotate(count=Count("id")).values("count")
    cases = run.cases.filter(erased_at__isnull=True).annotate(handed=Coalesce(Subquery(counted), 0))
    found = cases.aggregate(
        cases=Count("id"),
        done=Count("id", filter=Q(handed__gte=run.repetitions)),
        without=Count("id", filter=Q(handed=0)),
        example=Min("case_id", filter=Q(handed__lt=run.repetitions)),
    )
    return Progress(**found)


def runs_of_agent(caller: Caller, project_id: UUID, agent_id: str) -> list[TestRun]:
    """The newest test runs of an agent."""
    runs = test_runs_readable_by(caller).filter(project=project_id, subject_kind="agent", subject_id=agent_id)
    return list(runs[:5])
