"""A test run as people read it: how each case stands, why, and the totals with their denominators."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from corrections.presenters.text import json_words, plain
from corrections.presenters.trees import value_html
from testsets.models import TestRun, TestRunCase
from testsets.presenters.cases import CaseShown, case_row
from testsets.presenters.numbers import number, points_words, share_words, weight_words, whole
from testsets.queries.pages import Sayers
from testsets.queries.run_pages import Stand
from testsets.rules.grading import Outcome
from testsets.rules.standing import Standing

SIGNS = {
    Standing.REGRESSED: "✗",
    Standing.FIXED: "✓",
    Standing.STILL_WRONG: "✗",
    Standing.NEW_WRONG: "✗",
    Standing.NEW_RIGHT: "✓",
    Standing.STILL_RIGHT: "✓",
    Standing.NOT_MEASURABLE: "–",
    Standing.ERROR: "!",
    Standing.ERASED: "⊘",
}


@dataclass(frozen=True, slots=True)
class StandingShown:
    """One kind of standing with how many cases stand so. `tone` is the class that colours it."""

    name: str
    words: str
    sign: str
    tone: str
    count: int = 0


@dataclass(frozen=True, slots=True)
class PathShown:
    path: SafeString
    wanted: SafeString | str
    got: SafeString | str


@dataclass(frozen=True, slots=True)
class FailureShown:
    tool: str
    words: str
    paths: list[PathShown]


@dataclass(frozen=True, slots=True)
class GradeShown:
    """How one run did one case. `lines` are reasons without arguments, such as a judge's."""

    outcome: str
    failures: list[FailureShown]
    lines: list[str]
    score: str


@dataclass(frozen=True, slots=True)
class GradedCase:
    standing: StandingShown
    case: CaseShown
    grade: GradeShown
    before: GradeShown | None


@dataclass(frozen=True, slots=True)
class MetricShown:
    name: str
    of_what: str
    now: str
    recorded: str
    delta: str
    cases: str
    recorded_cases: str
    spread: str


@dataclass(frozen=True, slots=True)
class Totals:
    """`right` of `measured`; `strip` are the parts of a bar a hundred wide."""

    right: int
    measured: int
    share: str
    total: int
    counts: list[StandingShown]
    strip: list[tuple[str, float, float]]
    before_right: int
    before_measured: int


def standing_shown(standing: Standing, count: int = 0) -> StandingShown:
    words = {
        Standing.REGRESSED: _("regressed"),
        Standing.FIXED: _("fixed"),
        Standing.STILL_WRONG: _("still wrong"),
        Standing.NEW_WRONG: _("new, wrong"),
        Standing.NEW_RIGHT: _("new, right"),
        Standing.STILL_RIGHT: _("still right"),
        Standing.NOT_MEASURABLE: _("not measurable"),
        Standing.ERROR: _("error"),
        Standing.ERASED: _("erased"),
    }
    tone = "right" if standing.is_right else "wrong" if standing.is_wrong else "none"
    return StandingShown(name_of(standing), words[standing], SIGNS[standing], tone, count)


def name_of(standing: Standing) -> str:
    """As it stands in an address."""
    return standing.value.replace(",", "").replace(" ", "-")


STAND_NAMES = frozenset(map(name_of, Standing))


def totals(stands: Sequence[Stand]) -> Totals:
    counted = Counter(stand.standing for stand in stands)
    right = sum(count for standing, count in counted.items() if standing.is_right)
    measured = right + sum(count for standing, count in counted.items() if standing.is_wrong)
    before = Counter(stand.before for stand in stands)
    return Totals(
        right=right,
        measured=measured,
        share=share_words(right / measured if measured else None),
        total=len(stands),
        counts=[standing_shown(standing, counted[standing]) for standing in Standing if counted[standing]],
        strip=list(_strip(counted, len(stands))),
        before_right=before[Outcome.RIGHT.value],
        before_measured=before[Outcome.RIGHT.value] + before[Outcome.WRONG.value],
    )


_IN_STRIP = (
    Standing.STILL_RIGHT,
    Standing.NEW_RIGHT,
    Standing.FIXED,
    Standing.REGRESSED,
    Standing.STILL_WRONG,
    Standing.NEW_WRONG,
    Standing.ERROR,
    Standing.NOT_MEASURABLE,
    Standing.ERASED,
)


def _strip(counted: Mapping[Standing, int], total: int) -> Iterator[tuple[str, float, float]]:
    """(name, start, width) of each part, what is right to the left."""
    start = 0.0
    for standing in _IN_STRIP:
        if counted.get(standing):
            width = counted[standing] * 100 / total
            yield name_of(standing), round(start, 3), round(width, 3)
            start += width


def graded_case(
    stand: Stand, case: TestRunCase, before: TestRunCase | None, sayers: Sayers, raw_url: str, *, k: int
) -> GradedCase:
    called: list[str] = case.frozen.called_tools.value if case.frozen.called_tools else []
    return GradedCase(
        standing=standing_shown(stand.standing),
        case=case_row(case.frozen, sayers),
        grade=grade_shown(case, called, k, raw_url),
        before=grade_shown(before, called, k, raw_url) if before is not None else None,
    )


def grade_shown(case: TestRunCase, called: Sequence[str], k: int, raw_url: str) -> GradeShown:
    """`called` are the tools of the run that people corrected."""
    result: Mapping[str, Any] = case.result.value if case.result else {}
    return GradeShown(
        outcome=case.outcome,
        failures=[_failure(failure, called, raw_url) for failure in result.get("decisions", {}).get("failures", ())],
        lines=list(_lines(result)),
        score=_score_words(result, k),
    )


def _failure(failure: Mapping[str, Any], called: Sequence[str], raw_url: str) -> FailureShown:
    lacks = failure["tool"] in called
    words = {
        "missing": _("was not called"),
        "different": _("was called otherwise"),
        "forbidden": _("must not be called"),
        "tools-differ": _("was not called, as it was before") if lacks else _("was called, as it was not before"),
    }
    paths = [
        PathShown(
            path=_breakable(plain(path["path"]).removeprefix("/") or _("arguments")),
            wanted=value_html(path["wanted"], raw_url) if "wanted" in path else _("nothing"),
            got=value_html(path["got"], raw_url) if "got" in path else _("nothing"),
        )
        for path in failure.get("paths", ())
    ]
    return FailureShown(plain(failure["tool"]), words.get(failure["kind"], plain(failure["kind"])), paths)


def _breakable(path: str) -> SafeString:
    """A path in a narrow column goes on in the next line after a slash, not in the middle of a name."""
    return format_html_join(SafeString("/<wbr>"), "{}", ((part,) for part in path.split("/")))


def _lines(result: Mapping[str, Any]) -> Iterator[str]:
    if "error" in result:
        error = plain(str(result["error"]))
        yield _("No output was handed in for it.") if error == "no output submitted" else error
    if "stopped" in result:
        yield _("It was stopped: %(reason)s") % {"reason": plain(str(result["stopped"].get("reason", "")))}
    answer = result.get("answer", {})
    if answer.get("outcome") == Outcome.WRONG:
        who = _("The judge found the answer wrong") if answer.get("by") == "judge" else _("The answer is wrong")
        yield f"{who}: {plain(answer['reason'])}" if answer.get("reason") else f"{who}."
    if answer.get("outcome") == Outcome.UNGRADED:
        yield _("Nobody judged the answer.")
    if result.get("decisions", {}).get("outcome") == Outcome.UNGRADED:
        yield _("Which tools were called is not known.")
    if result.get("items", {}).get("outcome") == Outcome.WRONG:
        yield _("Its first items hold one that does not belong, or none that does.")


def _score_words(result: Mapping[str, Any], k: int) -> str:
    """The first repetition's score on its items, with what it is of."""
    scores = result.get("candidate", ())
    if "items" not in result or not scores:
        return ""
    score = scores[0]
    words = _("Among its first %(k)d, %(right)s of %(total)s right by weight; %(corrected)s of its %(items)s corrected")
    items = whole(score["items"])
    return words % {
        "k": k,
        "right": weight_words(number(score["topK"]["yesWeight"]) or 0),
        "total": weight_words(number(score["topK"]["totalWeight"]) or 0),
        "corrected": whole(score["correctedItems"]),
        "items": ngettext("%(count)d item", "%(count)d items", items) % {"count": items},
    }


def metrics_shown(run: TestRun) -> list[MetricShown]:
    """Those that speak of any item, each saying what it is a share of."""
    summary = run.summary.value if run.summary else {}
    found = summary.get("metrics", {})
    shown = [_metric(name, metric) for name, metric in found.items()]
    return shown if any(number(metric["weight"]) for metric in found.values()) else []


def _metric(name: str, metric: Mapping[str, Any]) -> MetricShown:
    k = whole(metric.get("k"))
    names = {
        "weightedYesShare": (_("Right items"), _("of the weight of its corrected items")),
        "correctedCoverage": (_("Corrected items"), _("of all the items it shows")),
        "weightedPrecisionAtK": (
            _("Right among the first %(k)d") % {"k": k},
            _("of the corrected items among the first %(k)d, by weight") % {"k": k},
        ),
    }
    title, of_what = names.get(name, (plain(name), ""))
    spread = number(metric.get("spread"))
    return MetricShown(
        name=title,
        of_what=of_what,
        now=share_words(number(metric["candidate"])),
        recorded=share_words(number(metric["baseline"])),
        delta=points_words(number(metric["delta"])),
        cases=_denominator(metric["n"], metric["weight"]),
        recorded_cases=_denominator(metric["baselineN"], metric["baselineWeight"]),
        spread="" if spread is None else share_words(spread),
    )


def _denominator(cases: Any, weight: Any) -> str:
    count = whole(cases)
    words = ngettext("%(count)d case, weight %(weight)s", "%(count)d cases, weight %(weight)s", count)
    return words % {"count": count, "weight": weight_words(number(weight) or 0)}


def status_words(status: str) -> str:
    names = {
        "pending": _("pending"),
        "running": _("waiting for outputs"),
        "completed": _("completed"),
        "failed": _("failed"),
        "cancelled": _("cancelled"),
    }
    return names.get(status, status)


@dataclass(frozen=True, slots=True)
class RunRow:
    """A test run in a list. `right` of `measured` are the stored totals."""

    run: TestRun
    subject: str
    version: str
    status: str
    right: int
    measured: int
    cases: int
    share: str
    width: float


def run_row(run: TestRun) -> RunRow:
    summary = run.summary.value if run.summary else {}
    outcomes = summary.get("outcomes", {})
    right = whole(outcomes.get("right"))
    measured = right + whole(outcomes.get("wrong"))
    return RunRow(
        run=run,
        subject=plain(run.subject_id),
        version=plain(run.subject_version),
        status=status_words(run.status),
        right=right,
        measured=measured,
        cases=whole(summary.get("cases")),
        share=share_words(right / measured if measured else None),
        width=round(right * 100 / measured, 2) if measured else 0,
    )


def example_line(run: TestRun, case_id: str | None) -> str:
    """A line of a file of outputs, of a case that lacks one."""
    calls = [{"toolId": "…", "arguments": {}}]
    repetition = {"repetition": 0} if run.repetitions > 1 else {}
    return json_words({"caseId": case_id or "…"} | repetition | {"output": {"content": "…"}, "calls": calls})


def stand_filter(stands: Sequence[Stand], name: str) -> list[Stand]:
    kept = [stand for stand in stands if name_of(stand.standing) == name]
    return kept if name else list(stands)


def facts_of(run: TestRun) -> list[tuple[str, str]]:
    facts = []
    if run.repetitions > 1:
        facts.append((_("repetitions"), str(run.repetitions)))
    if run.group_weights == "experts-only":
        facts.append((_("words that count"), _("experts’ only")))
    if run.sample is not None:
        part = str(run.sample.value.get("part", ""))
        facts.append((_("sample"), _("held out") if part == "hold-out" else _("for searching")))
    if run.rescore_of_id:
        facts.append((_("cases without newer corrections"), str(run.not_rescored)))
    if run.erased_cases:
        facts.append((_("erased before it began"), str(run.erased_cases)))
    return facts
