"""A run opened by somebody: everything its page and its panel are made of."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

from django.http import QueryDict
from django.urls import reverse

from corrections.forms import Correctable, CorrectionForm
from corrections.forms.earlier import items_not_shown, posted_before
from corrections.models import Correction, CorrectorGroup
from corrections.permissions import may_speak_for
from corrections.presenters.answers import answer_shown, answer_words, ranked_lists
from corrections.presenters.cards import LARGE_RESULT, card_of, gap_at, places
from corrections.presenters.corrections import calls_of
from corrections.presenters.history import history
from corrections.presenters.runs import closed_reason, run_head
from corrections.presenters.speech import conversation
from corrections.presenters.text import size_words
from corrections.presenters.trees import tree_html
from corrections.presenters.verdicts import verdict_so_far
from corrections.queries.groups import groups_covering
from corrections.queries.run_pages import (
    LONGEST_HISTORY,
    Evidence,
    corrections_of_run,
    evidence_of,
    names_of_makers,
    own_correction,
    tools_seen,
)
from corrections.rules.calls import Call, calls_made
from corrections.rules.outputs import answer_of, items_of
from kindgi_site.callers import Action, Caller
from kindgi_site.stored_json import JsonText

MAX_DIGITS = 6


@dataclass
class OpenRun:
    """One run as one caller sees it. What it is asked for twice is read once."""

    caller: Caller
    evidence: Evidence
    query: str = ""

    @classmethod
    def of(cls, caller: Caller, run_id: UUID, query: str = "") -> "OpenRun":
        return cls(caller, evidence_of(caller, run_id), query)

    @property
    def run_id(self) -> UUID:
        return self.evidence.source.run_id

    @cached_property
    def calls(self) -> list[Call] | None:
        evidence = self.evidence
        if evidence.copy:
            return calls_of(evidence.copy)
        kind = evidence.source.subject_kind
        return calls_made(kind, _value(evidence.output), _value(evidence.context), _value(evidence.calls))

    @cached_property
    def called(self) -> list[str] | None:
        copy = self.evidence.copy
        if copy is not None:
            return copy.called_tool_names
        return None if self.calls is None else [call.tool for call in self.calls]

    @cached_property
    def correctable(self) -> Correctable:
        kind, output = self.evidence.source.subject_kind, _value(self.evidence.output)
        items = [item for item in items_of(kind, output) if item.rank is not None]
        answer = answer_of(kind, output)
        return Correctable(self.calls, items, answer_words(answer.value) if answer else "")

    @cached_property
    def corrections(self) -> list[Correction]:
        return corrections_of_run(self.caller, self.run_id)

    @cached_property
    def mine(self) -> Correction | None:
        return own_correction(self.caller, self.run_id)

    @cached_property
    def groups(self) -> list[CorrectorGroup]:
        return [group for group in groups_covering(self.evidence.source) if may_speak_for(self.caller, group)]

    @cached_property
    def closed(self) -> str:
        may_write = self.caller.may(Action.WRITE, self.evidence.source.project_id)
        return closed_reason(self.evidence.run, self.evidence.copy, may_write=may_write)

    @property
    def is_gone(self) -> bool:
        """Whether what it was given, called and answered was erased, or dropped before anybody corrected it."""
        run, copy = self.evidence.run, self.evidence.copy
        if copy is not None:
            return copy.erased_at is not None
        return run is not None and bool(run.erased_at or run.purged_at)

    def form(self, posted: QueryDict | None = None) -> CorrectionForm:
        earlier = posted_before(self.mine, self.correctable) if self.mine else None
        return CorrectionForm(posted, self.correctable, groups=self.groups, earlier=earlier)

    def url(self, name: str, *args: object) -> str:
        address = reverse(f"corrections:{name}", args=[self.run_id, *args])
        return f"{address}?{self.query}" if self.query else address

    def panel_context(
        self, form: CorrectionForm, problems: Sequence[str] = (), *, is_refused: bool = False
    ) -> dict[str, Any]:
        """What `_run_panel.html` needs. While somebody is still filling it in, nothing is held against the form."""
        output = _value(self.evidence.output)
        raw_output = self.url("run_raw", "output")
        answer = answer_of(self.evidence.source.subject_kind, output)
        names = names_of_makers(self.corrections)
        return self.verdict_context(form, problems, is_refused=is_refused) | {
            "closed": self.closed,
            "is_gone": self.is_gone,
            "first_gap": gap_at(form.marks, 0),
            "places": list(places(self.calls or [], form.marks, self.url("run_raw", "calls"))),
            "calls_known": self.calls is not None,
            "answer": answer_shown(answer, self.correctable.items, raw_output),
            "lists": list(ranked_lists(form.items)),
            "output_json": self._json("output", self.evidence.output),
            "calls_json": self._json("calls", self.evidence.calls),
            "history": list(history(self.corrections, names, caller_id=self.caller.id, called=self.called)),
            "longest_history": LONGEST_HISTORY if len(self.corrections) >= LONGEST_HISTORY else 0,
            "tools": sorted({*tools_seen(self.caller, self.evidence.source.subject_id), *(self.called or [])}),
            "newest": form.said.get("newest", ""),
        }

    def verdict_context(
        self, form: CorrectionForm, problems: Sequence[str] = (), *, is_refused: bool = False
    ) -> dict[str, Any]:
        """What `_run_verdict.html` needs."""
        return {
            "form": form,
            "verdict": verdict_so_far(form, self.called, problems),
            "is_refused": is_refused,
            "mine": self.mine,
            "mine_not_shown": items_not_shown(self.mine, self.correctable) if self.mine else 0,
            "create_url": self.url("correction_create"),
            "check_url": self.url("correction_check"),
        }

    def place_context(self, form: CorrectionForm, problems: Sequence[str], name: str) -> dict[str, Any] | None:
        """What `_marked_place.html` needs of `card-<number>` or `gap-<at>`; None when there is no place of that name.

        Of a run of 400 calls the others are not made again.
        """
        kind, _dash, number = name.partition("-")
        at = int(number) if number.isdecimal() and len(number) <= MAX_DIGITS else -1
        shown: dict[str, Any]
        if kind == "card" and 1 <= at <= len(self.calls or []):
            assert self.calls
            shown = {"card": card_of(self.calls[at - 1], form.marks.cards[at - 1], self.url("run_raw", "calls"))}
        elif kind == "gap" and 0 <= at <= len(self.calls or []):
            shown = {"gap": gap_at(form.marks, at)}
        else:
            return None
        common = {"closed": self.closed, "newest": form.said.get("newest", "")}
        return self.verdict_context(form, problems) | common | shown

    def head_context(self) -> dict[str, Any]:
        """What the page shows around its panel."""
        evidence = self.evidence
        raw_input = self.url("run_raw", "input")
        failure = evidence.content.failure_message if evidence.content else ""
        return {
            "head": run_head(evidence.run, evidence.copy),
            "conversation": conversation(_value(evidence.input), _value(evidence.context), raw_input),
            "has_input": evidence.input is not None,
            "input_json": self._json("input", evidence.input),
            "context_json": self._json("context", evidence.context),
            "failure": failure,
            "run_id": self.run_id,
            "query": self.query,
        }

    def _json(self, part: str, stored: JsonText | None) -> dict[str, Any] | None:
        """A part as a fold; what is long comes when its fold is opened."""
        if stored is None:
            return None
        url, length = self.url("run_raw", part), len(stored.text)
        return {
            "size": size_words(length),
            "tree": tree_html(stored.value, url) if length <= LARGE_RESULT else None,
            "url": url,
            "part_url": self.url("run_part", part),
        }


def _value(stored: JsonText | None) -> Any:
    return None if stored is None else stored.value
