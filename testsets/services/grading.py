"""Grade a test run's outputs, store the result, and settle the corrections behind its cases (contract 17.4, 17.5)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from corrections.models import Correction, RunCopy
from corrections.queries.corrections import as_uuid
from corrections.queries.said import counted, group_weights, live_corrections_of
from corrections.rules.weights import ItemSum, answer_place, item_sums
from corrections.vocabulary import SubjectKind
from kindgi_site import clock
from kindgi_site.stored_json import JsonText
from testsets.models import LiveVersion, TestRun, TestRunCase, TestRunOutput
from testsets.queries.test_runs import COMPLETED, gradings_of, run_cases, with_outputs
from testsets.rules.cases import GroupWeights, experts_items, narrowed
from testsets.rules.grading import CaseGrade, Outcome, Parts, grade_case
from testsets.rules.metrics import ScoredCase, metrics, wire_metrics
from testsets.services.judging import case_of, submission_of
from testsets.services.live import locked_live_row, settle

CHUNK = 100
FAILED = "failed"
NO_OUTPUT = "no output submitted"
ERASED = "erased"  # stands where a text was

FreshSums = Mapping[str, Mapping[str, ItemSum]]


def finish(run: TestRun) -> None:
    """Grade what was handed in and end the run, whose row the caller holds. What is missing counts as an error."""
    _finish_with(run, fresh=None)


def finish_rescore(new: TestRun, old: TestRun) -> None:
    """Copy a run's cases and outputs into a new one and grade them with what was said since."""
    _copy_outputs(new, old)
    fresh = _fresh_sums(new)
    new.not_rescored = _count_without(new, fresh)
    _finish_with(new, fresh=fresh)


def _finish_with(run: TestRun, *, fresh: FreshSums | None) -> None:
    tally = _graded(run, fresh=fresh)
    # Held from before the run counts as finished: of a live change at the same moment, one sees what the other did.
    live = locked_live_row(run.project_id, run.subject_id) if run.subject_kind == SubjectKind.AGENT else None
    _end(run, tally)
    if live is not None and run.status == COMPLETED:
        _settle(run, live, tally)


@dataclass
class _Tally:
    """What the summary needs of all cases, gathered while each is graded."""

    cases: int = 0
    diverged: int = 0
    refused_writes: int = 0
    errors: int = 0
    stopped: int = 0
    scored: list[ScoredCase] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)
    decisions: Counter[str] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)
    versions: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    models: list[Any] = field(default_factory=list)
    settles: list[tuple[str, str]] = field(default_factory=list)


def _graded(run: TestRun, *, fresh: FreshSums | None) -> _Tally:
    tally = _Tally()
    for cases in _in_chunks(run):
        for case in cases:
            _grade_one(run, case, fresh, tally)
        # An upsert of rows that are there: a bulk_update would be an expression for each value.
        TestRunCase.objects.bulk_create(
            cases, update_conflicts=True, unique_fields=["id"], update_fields=["outcome", "settles", "result"]
        )
    return tally


def _in_chunks(run: TestRun) -> Iterator[list[TestRunCase]]:
    position = -1
    while True:
        chunk = list(with_outputs(run_cases(run).filter(erased_at__isnull=True, position__gt=position))[:CHUNK])
        if not chunk:
            return
        yield chunk
        position = chunk[-1].position


def _grade_one(run: TestRun, run_case: TestRunCase, fresh: FreshSums | None, tally: _Tally) -> None:
    outputs: list[TestRunOutput] = run_case.handed_in  # type: ignore[attr-defined]
    case = narrowed(case_of(run_case), run.group_weights)
    submissions = [submission_of(output, _fresh_of(output, fresh)) for output in outputs]
    grade = grade_case(case, submissions, k=run.k)
    is_stopped = any(output.stopped is not None for output in outputs)
    is_error = not is_stopped and not any(output.output is not None for output in outputs)
    run_case.outcome = grade.outcome
    run_case.settles = _settled(run, grade, outputs)
    run_case.result = JsonText.of(_case_wire(run_case, grade, outputs, is_error=is_error))
    _count(tally, run_case, grade, outputs, is_error=is_error, is_stopped=is_stopped)


def _settled(run: TestRun, grade: CaseGrade, outputs: list[TestRunOutput]) -> str:
    """One wrong repetition settles a case; to be right takes every repetition the run asked for."""
    is_short = len(outputs) < run.repetitions
    return "" if grade.settles is None or (grade.settles == Outcome.RIGHT and is_short) else grade.settles


def _fresh_of(output: TestRunOutput, fresh: FreshSums | None) -> dict[str, ItemSum] | None:
    return None if fresh is None else dict(fresh.get(output.run_id, {}))


def _case_wire(
    run_case: TestRunCase, grade: CaseGrade, outputs: list[TestRunOutput], *, is_error: bool
) -> dict[str, Any]:
    wire = run_case.frozen.wire
    assert wire is not None
    said: dict[str, Any] = {
        "caseId": run_case.case_id,
        "runIds": [output.run_id for output in outputs if output.run_id],
        "baseline": grade.baseline.wire(),
        "candidate": [score.wire() for score in grade.scores],
    }
    if grade.changes is not None:
        said["changes"] = grade.changes.wire()
    said |= {
        "diverged": any(output.diverged for output in outputs),
        "refusedWrites": sum(output.refused_writes for output in outputs),
        "noContext": "context" not in wire.value,
        "approvalSkipped": False,
    }
    if is_error:
        said["error"] = next((output.error for output in outputs if output.error), NO_OUTPUT)
    stopped = next((output.stopped for output in outputs if output.stopped is not None), None)
    if stopped is not None:
        said["stopped"] = stopped
    return said | grade.wire()


def _count(
    tally: _Tally,
    run_case: TestRunCase,
    grade: CaseGrade,
    outputs: list[TestRunOutput],
    *,
    is_error: bool,
    is_stopped: bool,
) -> None:
    tally.cases += 1
    tally.diverged += any(output.diverged for output in outputs)
    tally.refused_writes += sum(output.refused_writes for output in outputs)
    tally.errors += is_error
    tally.stopped += is_stopped
    tally.scored.append(ScoredCase(grade.baseline, grade.scores))
    tally.outcomes[grade.outcome] += 1
    _count_parts(tally, grade.parts)
    if run_case.settles:
        tally.settles.append((run_case.case_id, run_case.settles))
    wire = run_case.frozen.wire
    assert wire is not None
    subject = wire.value["subject"]
    tally.versions[subject["kind"], subject["id"], subject["version"]] += 1
    for output in outputs:
        if output.model is not None and output.model.value not in tally.models:
            tally.models.append(output.model.value)


def _count_parts(tally: _Tally, parts: Parts) -> None:
    if parts.decisions is not None:
        tally.decisions[parts.decisions.outcome] += 1
    if parts.answer is not None:
        tally.answers[parts.answer.outcome] += 1


def _end(run: TestRun, tally: _Tally) -> None:
    run.completed_at = clock.now()
    run.remaining = 0
    status = _status(tally)
    run.status = FAILED if status == FAILED else COMPLETED
    run.summary = JsonText.of(_summary(run, tally, status))
    run.save()


def _status(tally: _Tally) -> str:
    if not tally.errors:
        return COMPLETED
    return "partial" if tally.errors < tally.cases else FAILED


def _summary(run: TestRun, tally: _Tally, status: str) -> dict[str, Any]:
    said: dict[str, Any] = {
        "testRunId": str(run.id),
        "status": status,
        "completedAt": clock.wire_time(run.completed_at or clock.now()),
        "testSet": {"id": run.version.test_set.name, "version": run.version.version},
        "candidate": {"kind": run.subject_kind, **_named(run.subject_kind, run.subject_id, run.subject_version)},
        "baseline": {
            "kind": "recorded",
            "versions": [_named(*subject) | {"cases": count} for subject, count in tally.versions.items()],
        },
        "scope": {"projectId": str(run.project_id)},
        "cases": tally.cases,
        "diverged": tally.diverged,
        "refusedWrites": tally.refused_writes,
        "errors": tally.errors,
        "stopped": tally.stopped,
    }
    erased = run.erased_cases + run_cases(run).filter(erased_at__isnull=False).count()
    if erased:
        said["erased"] = erased
    if run.rescore_of_id is not None:
        said |= {"rescoreOf": str(run.rescore_of_id), "notRescored": run.not_rescored}
    said |= {"reads": run.reads, "groupWeights": run.group_weights}
    if run.sample is not None:
        said["sample"] = run.sample
    return said | {
        "sampling": {"models": tally.models},
        "repetitions": run.repetitions,
        "metrics": wire_metrics(metrics(tally.scored, k=run.k)),
        "decisions": _counts(tally.decisions),
        "answers": _counts(tally.answers),
        "outcomes": _counts(tally.outcomes),
    }


def _named(kind: str, subject_id: str, version: str) -> dict[str, Any]:
    return {"agentId" if kind == SubjectKind.AGENT else "flowId": subject_id, "version": version}


def _counts(counter: Counter[str]) -> dict[str, int]:
    return {outcome.value: counter[outcome] for outcome in Outcome}


def _settle(run: TestRun, live: LiveVersion, tally: _Tally) -> None:
    """The second of the two moments of 16.3: a run of the version that is live has finished."""
    if live.change is None or live.version != run.subject_version:
        return
    settle(run.project_id, run.subject_id, live.change, gradings_of(tally.settles), cause=f"test-run:{run.id}")


def _copy_outputs(new: TestRun, old: TestRun) -> None:
    for cases in _in_chunks(old):
        copies = [
            TestRunCase(test_run=new, frozen=case.frozen, position=case.position, case_id=case.case_id)
            for case in cases
        ]
        TestRunCase.objects.bulk_create(copies)
        outputs: list[TestRunOutput] = []
        for case, copy in zip(cases, copies, strict=True):
            outputs += [_copied(output, copy) for output in case.handed_in]  # type: ignore[attr-defined]
        TestRunOutput.objects.bulk_create(outputs)


def _copied(output: TestRunOutput, case: TestRunCase) -> TestRunOutput:
    kept = (
        "repetition",
        "run_id",
        "output",
        "calls",
        "answer",
        "judged",
        "model",
        "diverged",
        "refused_writes",
        "stopped",
        "error",
        "fingerprint",
    )
    return TestRunOutput(run_case=case, **{name: getattr(output, name) for name in kept})


def _fresh_sums(run: TestRun) -> FreshSums:
    """What people say now of the runs behind the outputs: sums of items by key, by run id."""
    names = TestRunOutput.objects.filter(run_case__test_run=run).exclude(run_id="").values_list("run_id", flat=True)
    keys = {key for name in names if (key := as_uuid(name)) is not None}
    copies = RunCopy.objects.filter(workspace=run.workspace_id, run_id__in=keys, erased_at__isnull=True)
    by_id = {copy.id: copy for copy in copies.defer("input", "context", "calls", "called_tools")}
    weights = group_weights(run.workspace_id)
    experts_only = run.group_weights == GroupWeights.EXPERTS_ONLY
    said: dict[UUID, list[Correction]] = {copy_id: [] for copy_id in by_id}
    for correction in live_corrections_of(by_id):
        said[correction.copy_id].append(correction)
    sums = {copy_id: _sums(by_id[copy_id], each, weights) for copy_id, each in said.items()}
    return {
        str(by_id[copy_id].run_id): {item.key: item for item in (experts_items(each) if experts_only else each)}
        for copy_id, each in sums.items()
    }


def _sums(copy: RunCopy, corrections: Iterable[Correction], weights: dict[str, float]) -> list[ItemSum]:
    place = answer_place(copy.subject_kind, copy.output.value if copy.output else None)
    return item_sums(map(counted, corrections), weights, place)


def _count_without(run: TestRun, fresh: FreshSums) -> int:
    """Cases none of whose outputs came from a run that somebody corrected since."""
    rows = TestRunOutput.objects.filter(run_case__test_run=run).values_list("run_case", "run_id")
    corrected = {case for case, run_id in rows if fresh.get(run_id)}
    return run_cases(run).count() - len(corrected)
