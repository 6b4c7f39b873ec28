"""Receipts of erasures, in words."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _

from corrections.models import Erasure


@dataclass(frozen=True, slots=True)
class ErasureShown:
    erasure: Erasure
    of: str
    who: str
    counts: list[tuple[str, int]]
    total: int


def erasure_shown(erasure: Erasure, names: Mapping[str, str]) -> ErasureShown:
    kinds = {"run": _("A run"), "participant": _("An end user"), "conversation": _("A conversation")}
    places = {
        "runs": _("Runs, with what came in, what was called and what was answered"),
        "copies": _("Copies kept with corrections"),
        "corrections": _("Corrections: what they say in words; their verdicts stay"),
        "queue": _("Entries of the correcting queue"),
        "answers": _("Stored answers of the API"),
        "testCases": _("Frozen test cases"),
        "handCases": _("Test cases made by hand"),
        "testRunOutputs": _("Outputs in test runs"),
    }
    counts = [(places.get(name, name), number) for name, number in sorted(erasure.counts.items())]
    return ErasureShown(
        erasure=erasure,
        of=kinds.get(erasure.selector_kind, erasure.selector_kind),
        who=names.get(erasure.requested_by_id) or _("A program"),
        counts=counts,
        total=sum(erasure.counts.values()),
    )
