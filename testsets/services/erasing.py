"""Forget what erased runs said: in built cases, hand cases and test runs (contract 12.3)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from corrections.models import Correction
from kindgi_site import clock
from kindgi_site.exact_json import canonical
from kindgi_site.stored_json import JsonText
from kindgi_site.workspaces.services.idempotency import withhold_answers
from testsets.models import HandCase, TestCase, TestRun, TestRunCase, TestRunOutput
from testsets.queries.test_runs import TERMINAL
from testsets.services.grading import ERASED, NO_OUTPUT, finish

CHUNK = 100
# What stays of a case, beside `erased`: nothing of it was said in the run.
_KEPT = ("caseId", "runId", "subject", "expert")


def erase_in_test_sets(workspace_id: UUID, run_ids: Sequence[UUID]) -> dict[str, int]:
    """Clear what stands here of erased runs, inside the caller's transaction; returns how many of what.

    Their cases in every version, hand cases made from them, and what test runs gave for those
    cases or took from the runs themselves. A running test run that then waits for nothing finishes.
    """
    at = clock.now()
    hand_cases = _hand_cases(workspace_id, run_ids)
    by_hand = [case.case_id for case in hand_cases]
    cases = _erase_cases(workspace_id, run_ids, by_hand, at)
    outputs = _erase_in_test_runs(cases, at)
    outputs += _clear_outputs_of(workspace_id, run_ids)
    return {
        "testCases": len(cases),
        "handCases": _empty(hand_cases, at),
        "testRunOutputs": outputs,
        "answers": withhold_answers(workspace_id, sorted({*by_hand, *(case.case_id for case in cases)})),
    }


def erase_texts_in_test_sets(workspace_id: UUID, corrections: Sequence[Correction]) -> dict[str, int]:
    """Clear copies of what corrections say whose runs stay: reasons, what should be said, wanted arguments.

    The cases stay, and expect what the corrections then do. A copy is known by its text.
    """
    said: dict[UUID, _Texts] = {}
    for correction in corrections:
        said.setdefault(correction.run_id, _Texts()).add(correction)
    changed: list[TestCase] = []
    _held_runs(TestRunCase.objects.filter(frozen__run_id__in=said, test_run__workspace=workspace_id))
    rows = TestCase.objects.filter(run_id__in=said, version__test_set__workspace=workspace_id, erased_at__isnull=True)
    for cases in _in_chunks(rows):
        for case in cases:
            case.wire = JsonText.of(said[case.run_id].taken_from(case.wire.value))
        TestCase.objects.bulk_update(cases, ["wire"])
        changed += cases
    for hand_cases in _in_chunks(HandCase.objects.filter(workspace=workspace_id, run_id__in=said)):
        for hand in hand_cases:
            hand.expect = JsonText.of(said[hand.run_id].taken_from({"expect": hand.expect.value})["expect"])
        HandCase.objects.bulk_update(hand_cases, ["expect"])
    graded = TestRunCase.objects.filter(frozen__in=[case.id for case in changed], result__isnull=False)
    for run_cases in _in_chunks(graded):
        for run_case in run_cases:
            run_case.result = JsonText.of(_without_paths(run_case.result.value))
        TestRunCase.objects.bulk_update(run_cases, ["result"])
    return {"answers": withhold_answers(workspace_id, [case.case_id for case in changed])}


@dataclass
class _Texts:
    """What some corrections of one run say in words."""

    words: set[str] = field(default_factory=set)
    args: set[str] = field(default_factory=set)

    def add(self, correction: Correction) -> None:
        self.words |= {correction.why, correction.should_say} - {""}
        if correction.should_call is not None:
            self.args |= {canonical(call["args"]) for call in correction.should_call.value}

    def taken_from(self, case: dict[str, Any]) -> dict[str, Any]:
        """A case's wire object, or part of it, without them."""
        said = dict(case)
        for item in said.get("items", ()):
            item["reasons"] = [reason for reason in item["reasons"] if reason["reason"] not in self.words]
        answer = said.get("expect", {}).get("answer", {})
        for name in ("why", "shouldSay"):
            if answer.get(name) in self.words:
                del answer[name]
        wanted = said.get("expect", {}).get("decisions", {}).get("shouldCall", [])
        for call in [*wanted, *(call for entry in said.get("corrections", ()) for call in entry["calls"])]:
            if canonical(call["args"]) in self.args:
                call["args"] = {}
        return said


def _hand_cases(workspace_id: UUID, run_ids: Sequence[UUID]) -> list[HandCase]:
    """Those not emptied before; removed ones too: they were frozen perhaps."""
    names = [str(run_id) for run_id in run_ids]
    made_from = Q(run_id__in=run_ids) | Q(source_run_id__in=names)
    rows = HandCase.objects.select_for_update().filter(made_from, workspace=workspace_id, input__isnull=False)
    return list(rows.order_by("id").only("id", "unregistered_at"))


def _empty(hand_cases: Iterable[HandCase], at: datetime) -> int:
    cases = HandCase.objects.filter(id__in=[case.id for case in hand_cases])
    cases.filter(unregistered_at__isnull=True).update(unregistered_at=at, updated_at=at)
    nothing = dict.fromkeys(("input", "output", "context", "segments", "calls", "called_tools"))
    return cases.update(**nothing, expect=JsonText("{}"), note="", is_incomplete=True)


def _erase_cases(workspace_id: UUID, run_ids: Sequence[UUID], by_hand: Sequence[str], at: datetime) -> list[TestCase]:
    of_runs = Q(run_id__in=run_ids)
    if by_hand:
        of_runs |= Q(case_id__in=by_hand)
    rows = TestCase.objects.filter(of_runs, version__test_set__workspace=workspace_id, erased_at__isnull=True)
    erased: list[TestCase] = []
    for cases in _in_chunks(rows):
        for case in cases:
            case.wire, case.called_tools, case.erased_at = _erased_wire(case), None, at
        TestCase.objects.bulk_update(cases, ["wire", "called_tools", "erased_at"])
        erased += cases
    return erased


def _erased_wire(case: TestCase) -> JsonText:
    assert case.wire is not None
    said = case.wire.value
    kept = {name: said[name] for name in _KEPT if name in said}
    return JsonText.of(kept | {"input": None, "output": None, "items": [], "erased": True})


def _erase_in_test_runs(cases: Sequence[TestCase], at: datetime) -> int:
    """Test runs that are over keep their scores; those at work leave the cases out from here on."""
    ids = [case.id for case in cases]
    in_runs = TestRunCase.objects.filter(frozen__in=ids, erased_at__isnull=True)
    runs = _held_runs(in_runs)
    cleared = 0
    for run_cases in _in_chunks(in_runs.filter(test_run__in=runs)):
        outputs = TestRunOutput.objects.filter(run_case__in=[case.id for case in run_cases])
        over = [case for case in run_cases if runs[case.test_run_id].status in TERMINAL]
        cleared += outputs.count()
        _clear(outputs.filter(run_case__in=[case.id for case in over]))
        outputs.exclude(run_case__in=[case.id for case in over]).delete()
        for case in run_cases:
            case.erased_at, case.result = at, _without_words(case.result)
        TestRunCase.objects.bulk_update(run_cases, ["erased_at", "result"])
    for run in runs.values():
        if run.status not in TERMINAL:
            _wait_for_the_rest(run)
    return cleared


def _held_runs(run_cases: QuerySet[TestRunCase]) -> dict[UUID, TestRun]:
    """The test runs of some cases, their rows held in one order, as whoever grades them holds its own first."""
    held = TestRun.objects.select_for_update(of=("self",)).filter(id__in=run_cases.values("test_run"))
    return {run.id: run for run in held.select_related("version__test_set").order_by("id")}


def _wait_for_the_rest(run: TestRun) -> None:
    """A running test run whose row is held: without the erased cases it may be waiting for nothing."""
    left = run.cases.filter(erased_at__isnull=True)
    run.remaining = left.count() * run.repetitions - TestRunOutput.objects.filter(run_case__in=left).count()
    if run.remaining == 0:
        finish(run)
    else:
        run.save(update_fields=["remaining"])


def _clear_outputs_of(workspace_id: UUID, run_ids: Sequence[UUID]) -> int:
    """What the erased runs themselves gave as outputs of a test run."""
    theirs = TestRunOutput.objects.filter(
        run_case__test_run__workspace=workspace_id, run_id__in=[str(run_id) for run_id in run_ids]
    ).exclude(fingerprint=ERASED)
    cases = TestRunCase.objects.filter(id__in=list(theirs.values_list("run_case", flat=True)), result__isnull=False)
    for run_cases in _in_chunks(cases):
        for case in run_cases:
            case.result = _without_words(case.result)
        TestRunCase.objects.bulk_update(run_cases, ["result"])
    return _clear(theirs)


def _clear(outputs: QuerySet[TestRunOutput]) -> int:
    """They still stand for a repetition that was handed in; verdicts on them stay, words go."""
    count = 0
    for rows in _in_chunks(outputs):
        for row in rows:
            row.output = row.calls = None
            row.answer, row.judged = _verdict_only(row.answer), _verdict_only(row.judged)
            row.stopped = None if row.stopped is None else JsonText.of({"reason": ERASED})
            row.error = "" if row.stopped else ERASED
            row.fingerprint = ERASED
        fields = ["output", "calls", "answer", "judged", "stopped", "error", "fingerprint"]
        count += TestRunOutput.objects.bulk_update(rows, fields)
    return count


def _verdict_only(stored: JsonText | None) -> JsonText | None:
    return None if stored is None else JsonText.of({"verdict": stored.value["verdict"]})


def _without_words(result: JsonText | None) -> JsonText | None:
    """A stored result with its scores and outcomes, but nothing that an output, a judge or a caller worded.

    `changes` goes whole: its keys and pointers are the outputs' own words.
    """
    if result is None:
        return None
    said: dict[str, Any] = {name: value for name, value in result.value.items() if name != "changes"}
    if said.get("error", NO_OUTPUT) != NO_OUTPUT:
        said["error"] = ERASED
    if "stopped" in said:
        said["stopped"] = {"reason": ERASED}
    if "answer" in said:
        said["answer"] = {name: value for name, value in said["answer"].items() if name != "reason"}
    return JsonText.of(_without_paths(said))


def _without_paths(result: dict[str, Any]) -> dict[str, Any]:
    """Without the arguments that were wanted and made."""
    decisions = result.get("decisions", {})
    if "failures" not in decisions:
        return result
    failures = [{"kind": failure["kind"], "tool": failure["tool"]} for failure in decisions["failures"]]
    return result | {"decisions": decisions | {"failures": failures}}


def _in_chunks(rows: QuerySet[Any]) -> Iterator[list[Any]]:
    """A hundred at a time, in order of their ids; which ones is fixed at the start."""
    ids = list(rows.order_by("id").values_list("id", flat=True))
    for start in range(0, len(ids), CHUNK):
        by_id = rows.model.objects.in_bulk(ids[start : start + CHUNK])
        yield [by_id[row_id] for row_id in ids[start : start + CHUNK]]
