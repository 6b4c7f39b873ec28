"""Which cases a sampled test run takes: a stable share held out, and the others (contract 17.6)."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from corrections.rules.positions import position
from corrections.rules.weights import ItemSum
from testsets.drafts import Sample, SamplePart


@dataclass(frozen=True, slots=True)
class Sampled:
    """A case as sampling sees it; `was_doubted` puts it into the first of the two strata."""

    case_id: str
    was_doubted: bool


def was_doubted(items: Iterable[ItemSum]) -> bool:
    """Whether somebody whose word counts said no to some item; by the weights as recorded, experts or not."""
    return any(item.yes_weight < item.total_weight for item in items)


def sampled(cases: Sequence[Sampled], sample: Sample) -> list[str]:
    """The ids of the cases in the sample's part, in the order of the cases."""
    out = held_out(cases, sample.seed, sample.hold_out_share)
    wanted = sample.part == SamplePart.HOLD_OUT
    return [case.case_id for case in cases if (case.case_id in out) == wanted]


def held_out(cases: Iterable[Sampled], seed: str, share: float) -> set[str]:
    strata: tuple[list[str], list[str]] = ([], [])
    for case in cases:
        strata[case.was_doubted].append(case.case_id)
    return {case_id for stratum in strata for case_id in _first(stratum, seed, share)}


def _first(case_ids: list[str], seed: str, share: float) -> list[str]:
    count = len(case_ids)
    if count < 2:
        return []
    wanted = math.floor(count * share + 0.5)
    ordered = sorted(case_ids, key=lambda case_id: (position(seed, case_id), case_id))
    return ordered[: min(count - 1, max(1, wanted))]
