"""Start a test run, take outputs in, and end it (contract 17.1, 17.3)."""

import math
from collections.abc import Callable, Mapping, Sequence
from uuid import UUID

from django.db import transaction

from corrections.rules.drafts import refusal
from corrections.rules.weights import read_item_sum
from corrections.services.erasure import hold_erasures
from kindgi_site import clock
from kindgi_site.callers import Action, Caller
from kindgi_site.errors import Code, ConflictError, InvalidError, UnprocessableError
from kindgi_site.exact_json import JsonText
from kindgi_site.keys import as_kept
from kindgi_site.workspaces.permissions import check_project_action
from kindgi_site.workspaces.services.audit import record_write
from testsets.drafts import OutputDraft, Sample, TestRunDraft
from testsets.models import TestCase, TestRun, TestRunCase, TestRunOutput, TestSet, TestSetVersion
from testsets.queries.sets import cases_of, latest_of, set_readable_by, version_readable_by
from testsets.queries.test_runs import COMPLETED, TERMINAL, run_cases, test_run_readable_by
from testsets.rules.sampling import Sampled, sampled, was_doubted
from testsets.rules.versions import CORRECTIONS
from testsets.services.grading import ERASED, finish, finish_rescore
from testsets.services.judging import Place, configured_judge, verdicts_on

RUNNING, CANCELLED = "running", "cancelled"
MAX_OUTPUTS = 100


@transaction.atomic
def start_test_run(*, caller: Caller, set_name: str, draft: TestRunDraft) -> TestRun:
    """Fix the list of cases and wait for their outputs; a dry run is over at once, with nothing graded."""
    test_set = set_readable_by(caller, set_name)
    check_project_action(caller, Action.EXECUTE, test_set.project_id)
    check_project_action(caller, Action.WRITE, draft.project_id)
    version = _version_to_grade(caller, test_set, draft)
    hold_erasures(caller.workspace_id)
    cases, erased = _cases_to_grade(version, draft.sample)
    _check_startable(draft, cases)
    at = clock.now()
    run = TestRun.objects.create(
        workspace_id=caller.workspace_id,
        project_id=draft.project_id,
        version=version,
        subject_kind=draft.subject_kind,
        subject_id=draft.subject_id,
        subject_version=draft.subject_version or "",
        status=COMPLETED if draft.dry_run else RUNNING,
        dry_run=draft.dry_run,
        repetitions=draft.repetitions,
        k=draft.k,
        group_weights=draft.group_weights,
        reads=draft.reads,
        sample=draft.sample_as_sent,
        correlation_id=draft.correlation_id,
        remaining=0 if draft.dry_run else len(cases) * draft.repetitions,
        erased_cases=erased,
        requested_by_kind=caller.kind,
        requested_by_id=caller.id,
        started_at=at,
        completed_at=at if draft.dry_run else None,
    )
    TestRunCase.objects.bulk_create(
        [TestRunCase(test_run=run, frozen=case, position=case.position, case_id=case.case_id) for case in cases],
        batch_size=500,
    )
    record_write(caller, "test-runs.start", "test-run", run.id, ["testSetVersion", "subject"])
    return run


def check_outputs(*, caller: Caller, run_id: UUID, outputs: Sequence[OutputDraft]) -> dict[int, str]:
    """Why some of the outputs would be refused, by their place among them; nothing is stored and nobody is judged."""
    run = test_run_readable_by(caller, run_id)
    check_project_action(caller, Action.EXECUTE, run.version.test_set.project_id)
    _check_running(run)
    cases = {case.case_id: case for case in run_cases(run)}
    known = _known_outputs(cases)
    reasons = {}
    for place, output in enumerate(outputs):
        try:
            _check_named(run, cases, output)
            _is_new(known, cases[output.case_id], output)
        except (InvalidError, ConflictError) as refused:
            reasons[place] = refused.message
    return reasons


def judge_outputs(
    *,
    caller: Caller,
    run_id: UUID,
    outputs: Sequence[OutputDraft],
    seconds: float = math.inf,
    still_at_it: Callable[[], None] = lambda: None,
) -> Mapping[Place, JsonText]:
    """What the configured judge says of those that are new, for `submit_outputs`; {} without a judge.

    Stores nothing, and is refused like handing them in. It may take long, `seconds` at most: never in a transaction.
    """
    if configured_judge() is None:
        return {}
    run = test_run_readable_by(caller, run_id)
    check_project_action(caller, Action.EXECUTE, run.version.test_set.project_id)
    cases = _named_cases(run, outputs)
    new = _new_rows(run, cases, outputs)
    return verdicts_on(new, cases.values(), seconds=seconds, still_at_it=still_at_it)


@transaction.atomic
def submit_outputs(
    *, caller: Caller, run_id: UUID, outputs: Sequence[OutputDraft], verdicts: Mapping[Place, JsonText]
) -> tuple[TestRun, int]:
    """Take outputs in, all of them or none; returns (the run, how many were accepted).

    The same output again is accepted silently, another one refused. An erased case's output is
    dropped. The last output finishes the run. `verdicts` are what `judge_outputs` said of them.
    """
    run = _locked(caller, run_id, Action.EXECUTE)
    fresh = _new_rows(run, _named_cases(run, outputs), outputs)
    for row in fresh:
        row.judged = verdicts.get((row.run_case_id, row.repetition))
    TestRunOutput.objects.bulk_create(fresh)
    run.remaining -= len(fresh)
    if run.remaining == 0:
        finish(run)
    else:
        run.save(update_fields=["remaining"])
    record_write(caller, "test-runs.submit", "test-run", run.id, ["outputs"])
    return run, len(outputs)


def _new_rows(run: TestRun, cases: dict[str, TestRunCase], outputs: Sequence[OutputDraft]) -> list[TestRunOutput]:
    """Unsaved, for the outputs that are not there yet; ConflictError when the run is over or another is there."""
    _check_running(run)
    known = _known_outputs(cases)
    fresh: list[TestRunOutput] = []
    for output in outputs:
        case = cases[output.case_id]
        if _is_new(known, case, output):
            fresh.append(_row(case, output))
    return fresh


@transaction.atomic
def complete_test_run(*, caller: Caller, run_id: UUID) -> TestRun:
    """End a run as it stands: a case without an output is an error."""
    run = _locked(caller, run_id, Action.EXECUTE)
    _check_running(run)
    finish(run)
    record_write(caller, "test-runs.complete", "test-run", run.id, ["status"])
    return run


@transaction.atomic
def cancel_test_run(*, caller: Caller, run_id: UUID, reason: str = "") -> TestRun:
    run = _locked(caller, run_id, Action.WRITE)
    _check_running(run)
    run.status, run.cancel_reason, run.completed_at = CANCELLED, reason, clock.now()
    run.save(update_fields=["status", "cancel_reason", "completed_at"])
    record_write(caller, "test-runs.cancel", "test-run", run.id, ["status"])
    return run


@transaction.atomic
def rescore_test_run(*, caller: Caller, run_id: UUID, project_id: UUID | None = None) -> TestRun:
    """A new run over the submitted outputs, with what people said since of the runs behind them."""
    hold_erasures(caller.workspace_id)
    old = _locked(caller, run_id, Action.ADMIN)
    check_project_action(caller, Action.WRITE, project_id or old.project_id)
    if not is_rescorable(old):
        raise ConflictError(
            Code.TEST_RUN_NOT_RESCORABLE, "Only a completed comparison can be scored again.", status=old.status
        )
    new = _copied(old, project_id or old.project_id, caller)
    finish_rescore(new, old)
    record_write(caller, "test-runs.rescore", "test-run", new.id, ["rescoreOf"])
    return new


def is_rescorable(run: TestRun) -> bool:
    """Whether it is a completed comparison."""
    return run.status == COMPLETED and not run.dry_run and run.version.kind == CORRECTIONS


def _copied(old: TestRun, project_id: UUID, caller: Caller) -> TestRun:
    return TestRun.objects.create(
        workspace_id=old.workspace_id,
        project_id=project_id,
        version=old.version,
        subject_kind=old.subject_kind,
        subject_id=old.subject_id,
        subject_version=old.subject_version,
        status=RUNNING,
        repetitions=old.repetitions,
        k=old.k,
        group_weights=old.group_weights,
        reads=old.reads,
        sample=old.sample,
        correlation_id=old.correlation_id,
        erased_cases=old.erased_cases + run_cases(old).filter(erased_at__isnull=False).count(),
        rescore_of=old,
        requested_by_kind=caller.kind,
        requested_by_id=caller.id,
        started_at=clock.now(),
    )


def _version_to_grade(caller: Caller, test_set: TestSet, draft: TestRunDraft) -> TestSetVersion:
    version = latest_of(test_set)
    if draft.set_version is not None:
        version = version_readable_by(caller, test_set.name, draft.set_version)
    if version.kind != CORRECTIONS:
        raise UnprocessableError(
            Code.DISPATCHER_NOT_REGISTERED,
            f"This server cannot grade test sets of kind {version.kind}.",
            testSetKind=version.kind,
        )
    return version


def _cases_to_grade(version: TestSetVersion, sample: Sample | None) -> tuple[list[TestCase], int]:
    """(the cases of the run, how many were left out because they are erased)."""
    every = list(cases_of(version).defer("called_tools") if sample else cases_of(version).defer("wire", "called_tools"))
    cases = [case for case in every if case.erased_at is None]
    erased = len(every) - len(cases)
    if sample is not None:
        taken = set(sampled([_as_sampled(case) for case in cases], sample))
        cases = [case for case in cases if case.case_id in taken]
    return cases, erased


def _as_sampled(case: TestCase) -> Sampled:
    assert case.wire is not None
    return Sampled(case.case_id, was_doubted(map(read_item_sum, case.wire.value["items"])))


def _check_startable(draft: TestRunDraft, cases: Sequence[TestCase]) -> None:
    problems = (
        (draft.subject_version is None, "Name the version of the agent or flow to be graded."),
        (not cases, "There is no case in this version to grade."),
        (not draft.is_against_recorded, "The baseline can only be what was recorded."),
    )
    for is_so, message in problems:
        if is_so:
            raise InvalidError(Code.DISPATCHER_INPUT_INVALID, message)


def _locked(caller: Caller, run_id: UUID, action: Action) -> TestRun:
    run = test_run_readable_by(caller, run_id)
    check_project_action(caller, action, run.version.test_set.project_id)
    locked = TestRun.objects.select_for_update(of=("self",)).select_related("version__test_set")
    return locked.get(id=run.id)


def _check_running(run: TestRun) -> None:
    if run.status in TERMINAL:
        raise ConflictError(
            Code.TEST_RUN_ALREADY_TERMINAL, "This test run is over.", runId=str(run.id), status=run.status
        )


def _named_cases(run: TestRun, outputs: Sequence[OutputDraft]) -> dict[str, TestRunCase]:
    names = {output.case_id for output in outputs}
    cases = {case.case_id: case for case in run_cases(run).filter(case_id__in=names).select_related("frozen")}
    for output in outputs:
        _check_named(run, cases, output)
    return cases


def _check_named(run: TestRun, cases: dict[str, TestRunCase], output: OutputDraft) -> None:
    if output.case_id not in cases:
        raise refusal(f"There is no case {output.case_id!r} in this test run.", "outputs")
    if output.repetition >= run.repetitions:
        raise refusal(f"This test run has {run.repetitions} repetitions, counted from 0.", "outputs")


def _known_outputs(cases: dict[str, TestRunCase]) -> dict[Place, str]:
    rows = TestRunOutput.objects.filter(run_case__in=[case.id for case in cases.values()])
    return {(case, number): mark for case, number, mark in rows.values_list("run_case", "repetition", "fingerprint")}


def _is_new(known: dict[Place, str], case: TestRunCase, output: OutputDraft) -> bool:
    """ConflictError when another one is there already. What an erased case gave is dropped, so it is never new."""
    if case.erased_at is not None:
        return False
    place = (case.id, output.repetition)
    stored = known.setdefault(place, "")
    if not stored:
        known[place] = output.fingerprint
        return True
    if stored not in (output.fingerprint, ERASED):
        raise ConflictError(
            Code.TEST_RUN_OUTPUT_EXISTS,
            "Another output of this case was handed in for this repetition.",
            caseId=output.case_id,
            repetition=output.repetition,
        )
    return False


def _row(case: TestRunCase, output: OutputDraft) -> TestRunOutput:
    return TestRunOutput(
        run_case=case,
        repetition=output.repetition,
        run_id=as_kept(output.run_id),
        output=output.output,
        calls=output.calls,
        answer=output.answer,
        model=output.model,
        diverged=output.diverged,
        refused_writes=output.refused_writes,
        stopped=output.stopped,
        error=output.error,
        fingerprint=output.fingerprint,
    )
