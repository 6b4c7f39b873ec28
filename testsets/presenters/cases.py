"""A frozen case: what came in, what is expected of the next run, and who says so."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from corrections.drafts import CorrectionDraft
from corrections.presenters.history import maker_name
from corrections.presenters.sentences import sentences
from corrections.presenters.text import cut, first_words, plain, shortened_id
from corrections.rules.weights import WEIGHT_WITHOUT_GROUP, ItemSum
from corrections.vocabulary import Verdict
from kindgi_site.exact_json import dumps
from kindgi_site.markdown import markdown_html
from testsets.models import TestCase
from testsets.presenters.numbers import weight_words
from testsets.queries.pages import CASE_PREFIX, Sayers
from testsets.rules.cases import Case, GroupWeights, narrowed, read_case

LONGEST_LINE = 160
HEAD = 1500


@dataclass(frozen=True, slots=True)
class Sayer:
    """Somebody behind a case. `weight` is what the word counted when it was frozen, else what it counts now."""

    who: str
    group: str
    is_expert: bool
    weight: str
    at: datetime | None
    why: str
    should_say: str

    @property
    def should_say_html(self) -> SafeString:
        return markdown_html(self.should_say)


@dataclass(frozen=True, slots=True)
class CaseShown:
    """One case in a list. `expected` are its plain sentences."""

    case_id: str
    short_id: str
    words: str
    version: str
    is_erased: bool
    is_expert: bool
    is_by_hand: bool
    expected: list[SafeString]
    who: str
    state: str = ""
    run_id: str = ""
    sayers: list[Sayer] = field(default_factory=list)


def case_row(case: TestCase, sayers: Sayers) -> CaseShown:
    assert case.wire is not None
    tools: list[str] | None = case.called_tools.value if case.called_tools else None
    return wire_row(case.wire.value, tools, sayers, is_erased=case.erased_at is not None)


def wire_row(
    wire: Mapping[str, Any], tools: Sequence[str] | None, sayers: Sayers, *, is_erased: bool = False, state: str = ""
) -> CaseShown:
    """From a case's wire form, frozen already or as it would be."""
    case = read_case(wire, tools)
    return CaseShown(
        case_id=case.case_id,
        short_id=shortened_id(case.case_id.removeprefix(CASE_PREFIX)),
        words="" if is_erased else input_words(wire["input"]),
        version=plain(str(wire["subject"]["version"])),
        is_erased=is_erased,
        is_expert=case.expert or any(item.expert and item.expert.total_weight for item in case.items),
        is_by_hand=case.case_id.startswith(CASE_PREFIX),
        expected=[] if is_erased else expected(case),
        who=who_words(case, sayers),
        state=state,
        run_id=str(wire.get("runId", "")),
        sayers=list(sayers_shown(case, sayers)),
    )


def input_words(given: Any) -> str:
    return cut(first_words(dumps(given)[:HEAD]), LONGEST_LINE)


def sayer_ids(wire: Mapping[str, Any]) -> list[str]:
    """The corrections, and the hand case, that a case rests on: each once, newest first."""
    found = dict.fromkeys(entry["correctionId"] for entry in wire.get("corrections", ()))
    for item in wire["items"]:
        found |= dict.fromkeys(item.get("correctionIds", ()))
    if "expect" in wire:
        found = {wire["caseId"]: None} | found
    return list(found)


def expected(case: Case) -> list[SafeString]:
    """What a run must do to pass: of a frozen case its one expectation, of a built one everybody's."""
    if case.expect is not None:
        return sentences(case.expect.draft(), case.called_tools)
    said: dict[str, SafeString] = {}
    for entry in case.corrections:
        draft = CorrectionDraft(decisions=Verdict.WRONG, should_call=entry.calls, must_not_call=entry.not_called)
        said |= {str(sentence): sentence for sentence in sentences(draft, None)}
    leaning = _leaning(case.items)
    return [*said.values(), *([leaning] if leaning else [])]


def _leaning(items: Sequence[ItemSum]) -> SafeString | None:
    """How the people lean on its items, added up."""
    belong = sum(item.leans_yes for item in items)
    not_belong = sum(item.leans_no for item in items)
    parts = []
    if belong:
        parts.append(ngettext("%(count)d item belongs", "%(count)d items belong", belong) % {"count": belong})
    if not_belong:
        words = ngettext("%(count)d does not", "%(count)d do not", not_belong) % {"count": not_belong}
        parts.append(words)
    if len(items) > belong + not_belong:
        undecided = len(items) - belong - not_belong
        words = ngettext("%(count)d is undecided", "%(count)d are undecided", undecided) % {"count": undecided}
        parts.append(words)
    return format_html(_("By what people said, {said}."), said=", ".join(parts)) if parts else None


def who_words(case: Case, sayers: Sayers) -> str:
    """Who it rests on, short."""
    shown = {sayer.who for sayer in sayers_shown(case, sayers)}
    if len(shown) == 1:
        return next(iter(shown))
    return ngettext("%(count)d person", "%(count)d people", len(shown)) % {"count": len(shown)} if shown else ""


def sayers_shown(case: Case, sayers: Sayers) -> Iterator[Sayer]:
    """Everybody behind a case, newest first."""
    weights = _weights(case)
    ids = dict.fromkeys(entry.correction_id for entry in case.corrections)
    for item in case.items:
        ids |= dict.fromkeys(item.correction_ids or ())
    if case.expect is not None:
        ids = {case.case_id: None} | ids
    for name in ids:
        if name in sayers.corrections or name in sayers.hand_cases:
            yield _sayer(name, case, sayers, weights.get(name, ""))


def _sayer(name: str, case: Case, sayers: Sayers, weight: str) -> Sayer:
    if name in sayers.hand_cases:
        hand = sayers.hand_cases[name]
        who = sayers.names.get(hand.created_by_id) or _("A program")
        return Sayer(who, "", case.expert, weight or weight_words(1), hand.created_at, plain(hand.note), "")
    correction = sayers.corrections[name]
    return Sayer(
        who=maker_name(correction, sayers.names),
        group=correction.group.name if correction.group else "",
        is_expert=correction.expert,
        weight=weight or weight_words(correction.group.weight if correction.group else WEIGHT_WITHOUT_GROUP),
        at=correction.created_at,
        why=plain(correction.why),
        should_say=plain(correction.should_say),
    )


def _weights(case: Case) -> dict[str, str]:
    """What each correction counted when frozen: known where it was the only one to speak of some item."""
    found: dict[str, str] = {}
    for item in case.items:
        ids = item.correction_ids
        if ids is None:
            found[case.case_id] = weight_words(item.total_weight)
        elif len(ids) == 1:
            found[ids[0]] = weight_words(item.total_weight)
    return found


def experts_case(case: Case, *, experts_only: bool) -> Case:
    return narrowed(case, GroupWeights.EXPERTS_ONLY if experts_only else GroupWeights.AS_RECORDED)
