"""The `expect` of one correction or hand case (contract 15): what it says, out and back in."""

import pytest

from corrections.drafts import CorrectedItem, CorrectionDraft, ExpectedCall
from corrections.rules.expectations import Expectation, expectation_of, read_expectation, stored_calls
from corrections.vocabulary import Verdict
from kindgi_site.exact_json import JsonText, Number, dumps, parse

RIGHT, WRONG = Verdict.RIGHT, Verdict.WRONG
BOOK = ExpectedCall("book", {"seat": Number("1.0")}, '{ "seat": 1.0 }')

SAID = [
    ({"decisions": RIGHT}, '{"decisions":{"verdict":"right"}}'),
    (
        {"decisions": WRONG, "should_call": (BOOK,)},
        '{"decisions":{"verdict":"wrong","shouldCall":[{"tool":"book","args":{ "seat": 1.0 }}]}}',
    ),
    (
        {"decisions": WRONG, "must_not_call": ("pay", "refund")},
        '{"decisions":{"verdict":"wrong","mustNotCall":["pay","refund"]}}',
    ),
    ({"answer": RIGHT}, '{"answer":{"verdict":"right"}}'),
    ({"answer": RIGHT, "why": "Short."}, '{"answer":{"verdict":"right","why":"Short."}}'),
    (
        {"answer": WRONG, "should_say": "", "why": "Rude."},
        '{"answer":{"verdict":"wrong","shouldSay":"","why":"Rude."}}',
    ),
    (
        {"items": (CorrectedItem("a", RIGHT, "", 0), CorrectedItem("b", WRONG))},
        '{"items":[{"key":"a","pointer":"","rank":0,"verdict":"right"},{"key":"b","verdict":"wrong"}]}',
    ),
    (
        {"items": (CorrectedItem("a", RIGHT),), "answer": RIGHT, "decisions": RIGHT},
        '{"decisions":{"verdict":"right"},"answer":{"verdict":"right"},"items":[{"key":"a","verdict":"right"}]}',
    ),
]


@pytest.mark.parametrize(("said", "text"), SAID)
def test_a_part_is_there_when_the_correction_said_it(said, text):
    expect = expectation_of(CorrectionDraft(**said))

    assert dumps(expect.wire()) == text
    assert not expect.is_empty


@pytest.mark.parametrize(("said", "text"), SAID)
def test_it_reads_back_as_the_same_expectation(said, text):
    read = read_expectation(parse(text))

    assert dumps(read.wire()) == text.replace("{ ", "{").replace(" }", "}").replace(": ", ":")
    assert read.draft().verdicts == CorrectionDraft(**said).verdicts
    assert expectation_of(read.draft()) == read


def test_why_without_a_verdict_on_the_answer_is_no_part_of_it():
    assert expectation_of(CorrectionDraft(items=(CorrectedItem("a", WRONG),), why="Old.")).answer is None


def test_nothing_said_is_empty():
    assert Expectation().is_empty
    assert Expectation().wire() == {}
    assert read_expectation({}) == Expectation()


def test_a_tool_said_twice_not_to_be_called_is_said_once():
    draft = CorrectionDraft(decisions=WRONG, must_not_call=("pay", "refund", "pay"))

    assert expectation_of(draft).wire() == {"decisions": {"verdict": "wrong", "mustNotCall": ["pay", "refund"]}}


def test_stored_calls_keep_their_arguments_letter_for_letter():
    text = '[{"tool":"book","args":{ "n": 1.0, "n": 2e0, "big": 12345678901234567890 }},{"tool":"pay"}]'

    book, pay = stored_calls(JsonText(text))

    assert book.args_text == '{ "n": 1.0, "n": 2e0, "big": 12345678901234567890 }'
    assert book.args == {"n": Number("2e0"), "big": Number("12345678901234567890")}
    assert (pay.tool, pay.args, pay.args_text) == ("pay", {}, "{}")
    assert stored_calls(None) == ()
