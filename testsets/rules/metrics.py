"""Scores of outputs, and the metrics that pool them over the cases of a test run (contract 17.5)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from corrections.rules.outputs import Item
from corrections.rules.weights import ItemSum, added, plain
from testsets.rules.items import CaseItems, ranked


class MetricName(StrEnum):
    YES_SHARE = "weightedYesShare"
    COVERAGE = "correctedCoverage"
    PRECISION_AT_K = "weightedPrecisionAtK"


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One output against what a case says of its items; uncorrected items add to neither weight.

    `fresh_weight` is what corrections made since, on the test run's own runs, added: None but in a rescore.
    """

    yes_weight: float = 0.0
    total_weight: float = 0.0
    items: int = 0
    corrected_items: int = 0
    top_yes_weight: float = 0.0
    top_total_weight: float = 0.0
    fresh_weight: float | None = None

    def wire(self) -> dict[str, Any]:
        return {
            "yesWeight": plain(self.yes_weight),
            "totalWeight": plain(self.total_weight),
            "items": self.items,
            "correctedItems": self.corrected_items,
            "topK": {"yesWeight": plain(self.top_yes_weight), "totalWeight": plain(self.top_total_weight)},
        }


@dataclass(frozen=True, slots=True)
class ScoredCase:
    """`candidate` has a score for each repetition that gave an output, in their order."""

    baseline: Score
    candidate: tuple[Score, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    candidate: float | None
    spread: float | None = None
    n: int
    weight: float
    baseline: float | None
    baseline_n: int
    baseline_weight: float
    k: int | None = None
    fresh_weight: float | None = None

    @property
    def delta(self) -> float | None:
        return None if self.candidate is None or self.baseline is None else self.candidate - self.baseline

    def wire(self) -> dict[str, Any]:
        said: dict[str, Any] = {"candidate": _plain(self.candidate)}
        if self.spread is not None:
            said["spread"] = plain(self.spread)
        said |= {
            "n": self.n,
            "weight": plain(self.weight),
            "baseline": _plain(self.baseline),
            "baselineN": self.baseline_n,
            "baselineWeight": plain(self.baseline_weight),
            "delta": _plain(self.delta),
            "direction": "higher",
        }
        if self.k is not None:
            said["k"] = self.k
        if self.fresh_weight is not None:
            said["freshWeight"] = plain(self.fresh_weight)
        return said


def score(
    output_items: Sequence[Item], case_items: CaseItems[ItemSum], k: int, fresh: Mapping[str, ItemSum] | None = None
) -> Score:
    """`fresh` are sums of corrections made on the very run that gave the output: they fill in what the case lacks."""
    matched: dict[str, ItemSum] = {}
    fresh_weights: list[float] = []
    for item in output_items:
        found = case_items.same_as(item)
        if found is None and fresh and item.key in fresh:
            found = fresh[item.key]
            fresh_weights.append(found.total_weight)
        if found is not None:
            matched[item.pointer] = found
    top = [matched[item.pointer] for item in ranked(output_items, k) if item.pointer in matched]
    return Score(
        yes_weight=added(found.yes_weight for found in matched.values()),
        total_weight=added(found.total_weight for found in matched.values()),
        items=len(output_items),
        corrected_items=len(matched),
        top_yes_weight=added(found.yes_weight for found in top),
        top_total_weight=added(found.total_weight for found in top),
        fresh_weight=None if fresh is None else added(fresh_weights),
    )


def metrics(cases: Sequence[ScoredCase], *, k: int) -> dict[MetricName, Metric]:
    """Each metric pooled over the cases that have a score in at least one repetition."""
    scored = [case for case in cases if case.candidate]
    return {name: _metric(name, scored, k) for name in MetricName}


def wire_metrics(found: Mapping[MetricName, Metric]) -> dict[str, Any]:
    return {name.value: metric.wire() for name, metric in found.items()}


@dataclass(frozen=True, slots=True)
class _Pool:
    value: float | None
    n: int
    weight: float
    fresh: float | None


def _metric(name: MetricName, cases: Sequence[ScoredCase], k: int) -> Metric:
    repetitions = range(max((len(case.candidate) for case in cases), default=0))
    pools = [_pooled(name, [case.candidate[r] for case in cases if r < len(case.candidate)]) for r in repetitions]
    values = [pool.value for pool in pools if pool.value is not None]
    baseline = _pooled(name, [case.baseline for case in cases])
    fresh = [pool.fresh for pool in pools if pool.fresh is not None]
    is_precision = name == MetricName.PRECISION_AT_K
    return Metric(
        candidate=_mean(values) if values else None,
        spread=max(values) - min(values) if len(values) > 1 else None,
        n=sum(any(_parts(name, score)[1] > 0 for score in case.candidate) for case in cases),
        weight=_mean([pool.weight for pool in pools]),
        baseline=baseline.value,
        baseline_n=baseline.n,
        baseline_weight=baseline.weight,
        k=k if is_precision else None,
        fresh_weight=_mean(fresh) if fresh and not is_precision else None,
    )


def _pooled(name: MetricName, scores: Sequence[Score]) -> _Pool:
    parts = [part for part in (_parts(name, score) for score in scores) if part[1] > 0]
    denominator = added([part[1] for part in parts])
    fresh = [score.fresh_weight for score in scores if score.fresh_weight is not None]
    return _Pool(
        value=added([part[0] for part in parts]) / denominator if parts else None,
        n=len(parts),
        weight=added([part[2] for part in parts]),
        fresh=added(fresh) if fresh else None,
    )


def _parts(name: MetricName, score: Score) -> tuple[float, float, float]:
    """(numerator, denominator, weight of the evidence) of one output."""
    match name:
        case MetricName.YES_SHARE:
            return score.yes_weight, score.total_weight, score.total_weight
        case MetricName.COVERAGE:
            return score.corrected_items, score.items, score.total_weight
        case MetricName.PRECISION_AT_K:
            return score.top_yes_weight, score.top_total_weight, score.top_total_weight


def _mean(values: Sequence[float]) -> float:
    return added(values) / len(values) if values else 0.0


def _plain(value: float | None) -> int | float | None:
    return None if value is None else plain(value)
