"""Adding the corrections of one run up: votes on its items, their weights, the calls expected (contract 13)."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from corrections.drafts import CorrectedItem, CorrectionDraft, ExpectedCall
from corrections.rules.expectations import Expectation, read_calls, read_whole, wire_call
from corrections.rules.outputs import answer_of
from corrections.vocabulary import SubjectKind, Verdict
from kindgi_site.exact_json import Number

WEIGHT_WITHOUT_GROUP = 1.0
_LARGEST = sys.float_info.max


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """A live correction that counts. `expert` is what it was when recorded, not what its group is now."""

    correction_id: str
    said: CorrectionDraft
    expert: bool = False


@dataclass(frozen=True, slots=True)
class AnswerPlace:
    """The item an answer's verdict is a vote on, and where it stands in the output when it can be found."""

    key: str
    pointer: str | None = None


@dataclass(frozen=True, slots=True)
class Vote:
    key: str
    says_yes: bool
    pointer: str | None = None
    rank: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Reason:
    says_yes: bool
    text: str
    corrector_group_id: str | None = None
    expert: bool = False

    def wire(self) -> dict[str, Any]:
        said: dict[str, Any] = {"verdict": "yes" if self.says_yes else "no", "reason": self.text}
        if self.corrector_group_id is not None:
            said["correctorGroupId"] = self.corrector_group_id
        return said | _expert_mark(expert=self.expert)


@dataclass(frozen=True, slots=True)
class ExpertSum:
    """`correction_ids` is None in hand cases, which no correction stands behind."""

    yes_weight: float = 0.0
    total_weight: float = 0.0
    correction_ids: tuple[str, ...] | None = ()

    def wire(self) -> dict[str, Any]:
        weights = {"yesWeight": plain(self.yes_weight), "totalWeight": plain(self.total_weight)}
        return weights | _ids(self.correction_ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemSum:
    """One item with the votes on it added up. Hand cases have no `correction_ids`, and `expert` only if made by one."""

    key: str
    pointer: str | None = None
    rank: int | None = None
    yes: int
    no: int
    yes_weight: float
    total_weight: float
    expert: ExpertSum | None = ExpertSum()
    correction_ids: tuple[str, ...] | None = ()
    reasons: tuple[Reason, ...] = ()

    @property
    def leans_yes(self) -> bool:
        return self.yes_weight * 2 > self.total_weight

    @property
    def leans_no(self) -> bool:
        return self.yes_weight * 2 < self.total_weight

    def wire(self) -> dict[str, Any]:
        said: dict[str, Any] = {"key": self.key}
        if self.pointer is not None:
            said["pointer"] = self.pointer
        if self.rank is not None:
            said["rank"] = self.rank
        said |= {"yes": self.yes, "no": self.no}
        said |= {"yesWeight": plain(self.yes_weight), "totalWeight": plain(self.total_weight)}
        if self.expert is not None:
            said["expert"] = self.expert.wire()
        return said | _ids(self.correction_ids) | {"reasons": [reason.wire() for reason in self.reasons]}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedDecisions:
    """The calls one correction says should, or must not, have been made."""

    correction_id: str
    corrector_group_id: str | None = None
    expert: bool = False
    calls: tuple[ExpectedCall, ...] = ()
    not_called: tuple[str, ...] = ()

    def wire(self) -> dict[str, Any]:
        said: dict[str, Any] = {"correctionId": self.correction_id}
        if self.corrector_group_id is not None:
            said["correctorGroupId"] = self.corrector_group_id
        said |= _expert_mark(expert=self.expert)
        return said | {"calls": [wire_call(call) for call in self.calls], "notCalled": list(self.not_called)}


def answer_place(subject_kind: str, output: Any) -> AnswerPlace:
    found = answer_of(subject_kind, output)
    key = "output" if subject_kind == SubjectKind.FLOW else "answer"
    return AnswerPlace(key, found.pointer if found else None)


def votes_of(said: CorrectionDraft, place: AnswerPlace) -> list[Vote]:
    """At most one for each key: a verdict on the answer gives way to one among the items."""
    return _votes(said, place, item_reason=said.why)


def item_sums(counted: Iterable[Counted], weights: Mapping[str, float], place: AnswerPlace) -> list[ItemSum]:
    """Corrections newest first; `weights` of groups as they are now, retired ones included."""
    cast: dict[str, list[_Cast]] = {}
    for correction in counted:
        weight = _weight(correction.said.corrector_group_id, weights)
        for vote in votes_of(correction.said, place):
            cast.setdefault(vote.key, []).append(_Cast(vote, correction, weight))
    return sorted((_summed(votes) for votes in cast.values()), key=_rank)


def hand_item_sums(expect: Expectation, place: AnswerPlace, *, expert: bool) -> list[ItemSum]:
    """Of a hand case: each verdict once, with weight 1. The answer's reason is not one for the items."""
    votes = _votes(expect.draft(), place, item_reason=None)
    return sorted((_by_hand(vote, expert=expert) for vote in votes), key=_rank)


def expected_decisions(counted: Iterable[Counted]) -> list[ExpectedDecisions]:
    """Of each correction, newest first, that says the decisions were wrong."""
    return [
        ExpectedDecisions(
            correction_id=correction.correction_id,
            corrector_group_id=correction.said.corrector_group_id,
            expert=correction.expert,
            calls=correction.said.should_call,
            not_called=correction.said.must_not_call,
        )
        for correction in counted
        if correction.said.decisions == Verdict.WRONG
    ]


def read_item_sum(value: Mapping[str, Any]) -> ItemSum:
    """From the parsed wire form, as a stored case holds it."""
    return ItemSum(
        key=value["key"],
        pointer=value.get("pointer"),
        rank=read_whole(value.get("rank")),
        yes=read_whole(value["yes"]) or 0,
        no=read_whole(value["no"]) or 0,
        yes_weight=_read_weight(value["yesWeight"]),
        total_weight=_read_weight(value["totalWeight"]),
        expert=_read_expert(value.get("expert")),
        correction_ids=_read_ids(value),
        reasons=tuple(
            Reason(reason["verdict"] == "yes", reason["reason"], reason.get("correctorGroupId"), "expert" in reason)
            for reason in value["reasons"]
        ),
    )


def read_expected_decisions(value: Mapping[str, Any]) -> ExpectedDecisions:
    return ExpectedDecisions(
        correction_id=value["correctionId"],
        corrector_group_id=value.get("correctorGroupId"),
        expert="expert" in value,
        calls=read_calls(value["calls"]),
        not_called=tuple(value["notCalled"]),
    )


def plain(weight: float) -> int | float:
    """A weight for the wire: a whole one without a point (contract 4.2)."""
    return int(weight) if abs(weight) < 1e21 and weight == int(weight) else weight


def added(weights: Iterable[float]) -> float:
    """Plain additions in order, as the contract has them; `sum` corrects rounding errors from Python 3.12 on.

    They stop at the largest double: beyond it is Infinity, which is no JSON.
    """
    total = 0.0
    for weight in weights:
        total += weight
    return min(total, _LARGEST)


@dataclass(frozen=True, slots=True)
class _Cast:
    vote: Vote
    by: Counted
    weight: float


def _votes(said: CorrectionDraft, place: AnswerPlace, *, item_reason: str | None) -> list[Vote]:
    reason = _reason(item_reason)
    votes = [_item_vote(item, reason) for item in said.items]
    if said.answer is not None and all(vote.key != place.key for vote in votes):
        why = _reason(said.why, said.should_say)
        votes.append(Vote(place.key, said.answer == Verdict.RIGHT, place.pointer, reason=why))
    return votes


def _item_vote(item: CorrectedItem, reason: str | None) -> Vote:
    return Vote(item.key, item.verdict == Verdict.RIGHT, item.pointer, item.rank, reason)


def _reason(*texts: str | None) -> str | None:
    return next((text for text in texts if text and not text.isspace()), None)


def _weight(group_id: str | None, weights: Mapping[str, float]) -> float:
    return WEIGHT_WITHOUT_GROUP if group_id is None else weights.get(group_id, WEIGHT_WITHOUT_GROUP)


def _summed(casts: Sequence[_Cast]) -> ItemSum:
    newest = casts[0].vote
    experts = [cast for cast in casts if cast.by.expert]
    yes = sum(cast.vote.says_yes for cast in casts)
    return ItemSum(
        key=newest.key,
        pointer=newest.pointer,
        rank=newest.rank,
        yes=yes,
        no=len(casts) - yes,
        yes_weight=added(cast.weight for cast in casts if cast.vote.says_yes),
        total_weight=added(cast.weight for cast in casts),
        expert=ExpertSum(
            added(cast.weight for cast in experts if cast.vote.says_yes),
            added(cast.weight for cast in experts),
            tuple(cast.by.correction_id for cast in experts),
        ),
        correction_ids=tuple(cast.by.correction_id for cast in casts),
        reasons=tuple(
            Reason(cast.vote.says_yes, cast.vote.reason, cast.by.said.corrector_group_id, cast.by.expert)
            for cast in casts
            if cast.vote.reason is not None
        ),
    )


def _by_hand(vote: Vote, *, expert: bool) -> ItemSum:
    yes = int(vote.says_yes)
    return ItemSum(
        key=vote.key,
        pointer=vote.pointer,
        rank=vote.rank,
        yes=yes,
        no=1 - yes,
        yes_weight=float(yes),
        total_weight=1.0,
        expert=ExpertSum(float(yes), 1.0, None) if expert else None,
        correction_ids=None,
        reasons=() if vote.reason is None else (Reason(vote.says_yes, vote.reason, expert=expert),),
    )


def _rank(item: ItemSum) -> tuple[bool, int]:
    return item.rank is None, item.rank or 0


def _expert_mark(*, expert: bool) -> dict[str, bool]:
    # Clients take it for a constant: it is true or not there.
    return {"expert": True} if expert else {}


def _ids(correction_ids: tuple[str, ...] | None) -> dict[str, list[str]]:
    return {} if correction_ids is None else {"correctionIds": list(correction_ids)}


def _read_ids(value: Mapping[str, Any]) -> tuple[str, ...] | None:
    return tuple(value["correctionIds"]) if "correctionIds" in value else None


def _read_expert(value: Mapping[str, Any] | None) -> ExpertSum | None:
    if value is None:
        return None
    return ExpertSum(_read_weight(value["yesWeight"]), _read_weight(value["totalWeight"]), _read_ids(value))


def _read_weight(value: Number | float) -> float:
    return float(value.text) if isinstance(value, Number) else float(value)
