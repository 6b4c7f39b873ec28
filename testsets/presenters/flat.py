"""Cases and corrections as flat rows for spreadsheets, in which nothing is ever a formula."""

import re
from collections.abc import Iterable, Mapping, Sequence
from html import unescape
from typing import Any

from django.utils.html import strip_tags

from corrections.drafts import CorrectionDraft
from corrections.models import Correction
from corrections.presenters.history import maker_name
from corrections.presenters.sentences import sentences
from corrections.presenters.text import json_words, plain
from corrections.queries.said import said_of
from corrections.vocabulary import Verdict
from kindgi_site.clock import wire_time
from kindgi_site.exact_json import JsonText
from testsets.models import TestCase
from testsets.presenters.cases import expected, sayers_shown
from testsets.queries.pages import Sayers
from testsets.rules.cases import read_case

# The last four are the wide forms of the first, which some spreadsheets take for them.
_SIGNS = "=+\\-@\uff1d\uff0b\uff0d\uff20"
_STARTS_A_FORMULA = re.compile(f"^(?=[{_SIGNS}\t\r\n])|(?<=[;\t\r\n])(?=[{_SIGNS}])")
CASE_COLUMNS = (
    "caseId",
    "runId",
    "kind",
    "subject",
    "version",
    "erased",
    "expert",
    "expected",
    "decisions",
    "shouldCall",
    "mustNotCall",
    "answer",
    "shouldSay",
    "why",
    "itemsRight",
    "itemsWrong",
    "authors",
    "groups",
    "weights",
    "times",
    "input",
    "output",
)
CORRECTION_COLUMNS = (
    "id",
    "runId",
    "agent",
    "version",
    "status",
    "sortedTo",
    "expected",
    "decisions",
    "shouldCall",
    "mustNotCall",
    "answer",
    "shouldSay",
    "why",
    "itemsRight",
    "itemsWrong",
    "author",
    "group",
    "expert",
    "weight",
    "time",
)


def cell(value: object) -> str:
    """A text that a spreadsheet takes for a text: what would begin a formula in it gets an apostrophe before it.

    Some part cells at semicolons, and then at line ends too, as no cell begins with a quotation mark to them.
    """
    return plain(_STARTS_A_FORMULA.sub("'", "" if value is None else str(value)))


def case_cells(case: TestCase, sayers: Sayers) -> list[str]:
    assert case.wire is not None
    wire: Mapping[str, Any] = case.wire.value
    tools: list[str] | None = case.called_tools.value if case.called_tools else None
    read = read_case(wire, tools)
    is_erased = case.erased_at is not None
    said = read.expect.draft() if read.expect else CorrectionDraft()
    calls = said.should_call or tuple(call for entry in read.corrections for call in entry.calls)
    never = said.must_not_call or tuple(tool for entry in read.corrections for tool in entry.not_called)
    people = list(sayers_shown(read, sayers))
    reasons = [reason.text for item in read.items for reason in item.reasons]
    values = (
        case.case_id,
        wire.get("runId", ""),
        wire["subject"]["kind"],
        wire["subject"]["id"],
        wire["subject"]["version"],
        _yes(is_erased),
        _yes(read.expert),
        "" if is_erased else _words(expected(read)),
        said.decisions or ("wrong" if read.corrections else ""),
        _calls(calls),
        ", ".join(dict.fromkeys(never)),
        said.answer or "",
        said.should_say or "",
        said.why or "; ".join(dict.fromkeys(reasons)),
        sum(item.leans_yes for item in read.items),
        sum(item.leans_no for item in read.items),
        "; ".join(person.who for person in people),
        "; ".join(person.group or "–" for person in people) if any(person.group for person in people) else "",
        "; ".join(person.weight for person in people),
        "; ".join(wire_time(person.at) for person in people if person.at),
        "" if is_erased else json_words(wire["input"]),
        "" if is_erased else json_words(wire["output"]),
    )
    return [cell(value) for value in values]


def correction_cells(correction: Correction, names: Mapping[str, str]) -> list[str]:
    draft = said_of(correction)
    verdicts = [item.verdict for item in draft.items]
    values = (
        correction.id,
        correction.run_id,
        correction.subject_id,
        correction.subject_version,
        correction.status,
        correction.sorted_to,
        _words(sentences(draft, None)),
        correction.decisions,
        _stored(correction.should_call),
        ", ".join(draft.must_not_call),
        correction.answer,
        correction.should_say,
        correction.why,
        verdicts.count(Verdict.RIGHT),
        verdicts.count(Verdict.WRONG),
        maker_name(correction, names),
        correction.group.name if correction.group else "",
        _yes(correction.expert),
        correction.group.weight if correction.group else 1,
        wire_time(correction.created_at),
    )
    return [cell(value) for value in values]


def correction_wire(correction: Correction, names: Mapping[str, str]) -> JsonText:
    """One correction as a JSON object, without the copy of its run."""
    said: dict[str, Any] = {
        "id": str(correction.id),
        "runId": str(correction.run_id),
        "agent": {"id": correction.subject_id, "version": correction.subject_version},
        "status": correction.status,
        "madeBy": {"kind": correction.made_by_kind, "id": correction.made_by_id},
        "author": maker_name(correction, names),
        "createdAt": wire_time(correction.created_at),
    }
    optional = {
        "sortedTo": correction.sorted_to,
        "decisions": correction.decisions,
        "shouldCall": correction.should_call,
        "mustNotCall": correction.must_not_call,
        "answer": correction.answer,
        "shouldSay": correction.should_say,
        "why": correction.why,
        "items": correction.items,
        "group": correction.group and {"id": str(correction.group_id), "name": correction.group.name},
        "weight": correction.group.weight if correction.group else 1,
        "expert": correction.expert,
    }
    return JsonText.of(said | {name: value for name, value in optional.items() if value})


def waiting_case(wire: JsonText, remaining: int) -> JsonText:
    """A stored case with the repetitions still missing written behind its last field."""
    return JsonText(f'{wire.text.rstrip()[:-1]},"remaining":{remaining}}}')


def one_line(stored: JsonText) -> str:
    """The text on one line: outside its strings JSON may hold line ends, and only there."""
    return stored.text.replace("\r", " ").replace("\n", " ") + "\n"


def _words(sentences_said: Iterable[object]) -> str:
    return " ".join(unescape(strip_tags(str(sentence))) for sentence in sentences_said)


def _calls(calls: Sequence[Any]) -> str:
    return json_words([{"tool": call.tool, "args": call.args} for call in calls]) if calls else ""


def _stored(stored: JsonText | None) -> str:
    return "" if stored is None else json_words(stored.value)


def _yes(value: object) -> str:
    return "yes" if value else ""
