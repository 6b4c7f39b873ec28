"""What is handed in for a case: an entry of /v1's body or a line of a file, read the same way (contract 17.3)."""

import hashlib
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers

from corrections.rules.drafts import refusal
from corrections.rules.runs import check_calls
from corrections.vocabulary import Verdict
from kindgi_site import exact_json
from kindgi_site.api.bodies import AnyJson, AnyObject, Flag, ListOf, Shape, Text, Whole, Word
from kindgi_site.api.errors import first_message
from kindgi_site.errors import InvalidError
from kindgi_site.exact_json import JsonText, NotJsonError, TooDeepError, canonical
from testsets.drafts import OutputDraft


class ModelBody(Shape):
    providerId = Text(non_blank=True, max_length=200)
    model = Text(non_blank=True, max_length=200)


class AnswerVerdictBody(Shape):
    verdict = Word(Verdict)
    reason = Text(required=False, max_length=4000)
    model = ModelBody(required=False)


class StoppedBody(Shape):
    reason = Text(max_length=4000)


class OutputBody(Shape):
    caseId = Text(non_blank=True, max_length=200)
    repetition = Whole(required=False, min_value=0, max_value=9)
    runId = Text(required=False, non_blank=True, max_length=200)
    output = AnyJson(required=False)
    calls = ListOf(child=AnyObject(), required=False)
    answer = AnswerVerdictBody(required=False)
    diverged = Flag(required=False)
    refusedWrites = Whole(required=False, min_value=0, max_value=1_000_000)
    stopped = StoppedBody(required=False)
    error = Text(required=False, non_blank=True, max_length=4000)
    model = ModelBody(required=False)


@dataclass(frozen=True, slots=True)
class Line:
    """A line that holds something: the output it is, or the problem that keeps it from being one."""

    number: int
    text: bytes
    output: OutputDraft | None = None
    problem: str = ""


def read_lines(source: Iterable[bytes]) -> Iterator[Line]:
    """The lines of a file of outputs, counted from 1; blank ones are passed over."""
    shape = OutputBody()
    for number, raw in enumerate(source, start=1):
        text = raw.removeprefix(BOM_UTF8).strip()
        if text:
            yield _line(shape, number, text)


def _line(shape: OutputBody, number: int, text: bytes) -> Line:
    try:
        return Line(number, text, _read(shape, text))
    except NotJsonError:
        problem = _("This is not JSON.")
    except TooDeepError:
        problem = _("This nests too deeply.")
    except serializers.ValidationError as invalid:
        problem = ": ".join(part for part in first_message(invalid.detail) if part)
    except InvalidError as invalid:
        problem = invalid.message
    return Line(number, text, problem=problem)


def _read(shape: OutputBody, line: bytes) -> OutputDraft:
    text, sent = exact_json.parse_bytes(line)
    if not isinstance(sent, dict):
        raise serializers.ValidationError(_("This is not a JSON object."))
    return output_draft(shape.to_internal_value(sent), sent, text)


def output_draft(said: dict[str, Any], sent: dict[str, Any], text: str) -> OutputDraft:
    """Of an entry: what its shape made of it, what it parsed to, and its text."""
    if sum(name in said for name in ("output", "stopped", "error")) != 1:
        raise refusal("One of output, stopped and error is needed, and only one.", "outputs")
    check_calls(sent.get("calls", []), None, "calls")
    parts = exact_json.members(text)

    def part(name: str) -> JsonText | None:
        return JsonText(parts[name]) if name in parts else None

    return OutputDraft(
        case_id=said["caseId"],
        repetition=said.get("repetition", 0),
        run_id=said.get("runId", ""),
        output=part("output"),
        calls=part("calls"),
        answer=part("answer"),
        model=part("model"),
        diverged=said.get("diverged", False),
        refused_writes=said.get("refusedWrites", 0),
        stopped=part("stopped"),
        error=said.get("error", ""),
        fingerprint=fingerprint_of(sent),
    )


def fingerprint_of(entry: dict[str, object]) -> str:
    """Of an output as it was handed in, by value: spacing and the order of keys do not matter."""
    said = {name: value for name, value in entry.items() if name not in ("caseId", "repetition")}
    return hashlib.sha256(canonical(said).encode("utf-8", "surrogatepass")).hexdigest()
