"""What one correction, or one hand case, expects of the next run: the `expect` of a frozen case (contract 15)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from corrections.drafts import CorrectedItem, CorrectionDraft, ExpectedCall
from corrections.vocabulary import Verdict
from kindgi_site import exact_json
from kindgi_site.exact_json import JsonText, Number


@dataclass(frozen=True, slots=True)
class DecisionsExpected:
    verdict: Verdict
    should_call: tuple[ExpectedCall, ...] = ()
    must_not_call: tuple[str, ...] = ()

    def wire(self) -> dict[str, Any]:
        said: dict[str, Any] = {"verdict": self.verdict.value}
        if self.should_call:
            said["shouldCall"] = [wire_call(call) for call in self.should_call]
        if self.must_not_call:
            said["mustNotCall"] = list(dict.fromkeys(self.must_not_call))
        return said


@dataclass(frozen=True, slots=True)
class AnswerExpected:
    verdict: Verdict
    should_say: str | None = None
    why: str | None = None

    def wire(self) -> dict[str, Any]:
        said: dict[str, Any] = {"verdict": self.verdict.value}
        if self.should_say is not None:
            said["shouldSay"] = self.should_say
        if self.why:
            said["why"] = self.why
        return said


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """A part that is None or empty was not said."""

    decisions: DecisionsExpected | None = None
    answer: AnswerExpected | None = None
    items: tuple[CorrectedItem, ...] = ()

    @property
    def is_empty(self) -> bool:
        return self.decisions is None and self.answer is None and not self.items

    def wire(self) -> dict[str, Any]:
        said: dict[str, Any] = {}
        if self.decisions:
            said["decisions"] = self.decisions.wire()
        if self.answer:
            said["answer"] = self.answer.wire()
        if self.items:
            said["items"] = [wire_item(item) for item in self.items]
        return said

    def draft(self) -> CorrectionDraft:
        """The correction that says the same, so that `check_draft` holds for hand cases too."""
        decisions, answer = self.decisions, self.answer
        return CorrectionDraft(
            decisions=decisions.verdict if decisions else None,
            should_call=decisions.should_call if decisions else (),
            must_not_call=decisions.must_not_call if decisions else (),
            answer=answer.verdict if answer else None,
            should_say=answer.should_say if answer else None,
            why=answer.why if answer else None,
            items=self.items,
        )


def expectation_of(said: CorrectionDraft) -> Expectation:
    decisions, answer = said.decisions, said.answer
    return Expectation(
        decisions=None if decisions is None else DecisionsExpected(decisions, said.should_call, said.must_not_call),
        answer=None if answer is None else AnswerExpected(answer, said.should_say, said.why),
        items=said.items,
    )


def read_expectation(value: Mapping[str, Any]) -> Expectation:
    """From the parsed wire form, as a stored case holds it."""
    decisions, answer = value.get("decisions"), value.get("answer")
    return Expectation(
        decisions=decisions
        and DecisionsExpected(
            Verdict(decisions["verdict"]),
            read_calls(decisions.get("shouldCall", ())),
            tuple(decisions.get("mustNotCall", ())),
        ),
        answer=answer and AnswerExpected(Verdict(answer["verdict"]), answer.get("shouldSay"), answer.get("why")),
        items=read_items(value.get("items", ())),
    )


def read_calls(values: Iterable[Mapping[str, Any]]) -> tuple[ExpectedCall, ...]:
    """From a parsed `shouldCall`, or the `calls` of an entry of `corrections`."""
    return tuple(_read_call(value["tool"], value.get("args", {})) for value in values)


def stored_calls(should_call: JsonText | None) -> tuple[ExpectedCall, ...]:
    """From a correction's stored text, each `args` with the very text that was sent."""
    return tuple(map(_stored_call, exact_json.elements(should_call.text))) if should_call else ()


def read_items(values: Iterable[Mapping[str, Any]]) -> tuple[CorrectedItem, ...]:
    return tuple(
        CorrectedItem(value["key"], Verdict(value["verdict"]), value.get("pointer"), read_whole(value.get("rank")))
        for value in values
    )


def _read_call(tool: str, args: dict[str, Any]) -> ExpectedCall:
    return ExpectedCall(tool, args, exact_json.dumps(args))


def _stored_call(text: str) -> ExpectedCall:
    parts = exact_json.members(text)
    args_text = parts.get("args", "{}")
    return ExpectedCall(exact_json.parse(parts["tool"]), exact_json.parse(args_text), args_text)


def read_whole(value: Number | int | None) -> int | None:
    return value.whole() if isinstance(value, Number) else value


def wire_call(call: ExpectedCall) -> dict[str, Any]:
    """Its `args` as the text that was sent."""
    return {"tool": call.tool, "args": JsonText.parsed(call.args_text, call.args)}


def wire_item(item: CorrectedItem) -> dict[str, Any]:
    said: dict[str, Any] = {"key": item.key}
    if item.pointer is not None:
        said["pointer"] = item.pointer
    if item.rank is not None:
        said["rank"] = item.rank
    return said | {"verdict": item.verdict.value}
