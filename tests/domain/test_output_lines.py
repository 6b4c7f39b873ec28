"""A file of outputs: each line as /v1 would read it, with its number and what is wrong with it."""

import json

import pytest

from kindgi_site.api.documents import read_document
from testsets.api.test_runs import outputs_said
from testsets.outputs import Line, read_lines

WHOLE = (
    '{"caseId":"a","repetition":1,"runId":"r-1","output":{"b":1.0, "a":12345678901234567890},"calls":[{"toolId":"t"}],'
    '"answer":{"verdict":"right"},"diverged":true,"refusedWrites":2,"model":{"providerId":"p","model":"m"}}'
)


@pytest.mark.parametrize(
    "text", [WHOLE, '{"caseId":"a","error":"No."}', '{"caseId":"a","stopped":{"reason":"Late."}}'], ids=len
)
def test_a_line_is_what_a_request_with_it_alone_would_say(text: str):
    line = text.encode()

    assert list(read_lines([line])) == [Line(1, line, outputs_said(read_document(b'{"outputs":[' + line + b"]}"))[0])]


def test_lines_are_counted_as_an_editor_counts_them_and_blank_ones_are_nothing():
    entry = b'{"caseId":"a","output":1}'

    read = list(read_lines([b"\xef\xbb\xbf" + entry + b"\r\n", b"\n", b"  \n", entry]))

    assert [(line.number, line.text, line.problem) for line in read] == [(1, entry, ""), (4, entry, "")]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "This is not JSON."),
        ('{"a": NaN}', "This is not JSON."),
        ("[" * 200 + "]" * 200, "This nests too deeply."),
        ("[]", "This is not a JSON object."),
        ("7", "This is not a JSON object."),
        ('{"output": 1}', "caseId: This field is required."),
        ('{"caseId": "a"}', "One of output, stopped and error is needed, and only one."),
        (
            '{"caseId": "a", "output": 1, "error": "No."}',
            "One of output, stopped and error is needed, and only one.",
        ),
        ('{"caseId": "a", "output": 1, "repetition": true}', "repetition: This must be a whole number."),
        ('{"caseId": "a", "output": 1, "rank": 1}', "rank: There is no such field."),
        ('{"caseId": "a", "stopped": {}}', "stopped.reason: This field is required."),
        ('{"caseId": "a", "output": 1, "calls": [{}]}', "Each of calls needs a toolId of 1 to 200 characters."),
    ],
)
def test_what_is_wrong_with_a_line_is_said_beside_its_number(text: str, problem: str):
    good = json.dumps({"caseId": "a", "output": 1}).encode()

    first, second = read_lines([good, text.encode()])

    assert (first.problem, second) == ("", Line(2, text.encode(), None, problem))


def test_a_line_that_is_no_text_is_no_json():
    (line,) = read_lines([b'{"caseId": "\xff"}'])

    assert line.problem == "This is not JSON."
