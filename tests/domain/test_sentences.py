"""A correction as the check it becomes, in plain sentences."""

import pytest
from django.utils.html import strip_tags

from corrections.drafts import CorrectedItem, CorrectionDraft, ExpectedCall
from corrections.presenters.sentences import sentences
from corrections.vocabulary import Verdict
from kindgi_site.exact_json import parse


def call(tool: str, args: str = "{}") -> ExpectedCall:
    return ExpectedCall(tool, parse(args), args)


def said(called: list[str] | None = None, **parts: object) -> list[str]:
    return [strip_tags(sentence) for sentence in sentences(CorrectionDraft(**parts), called)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wanted", "never", "sentence"),
    [
        (
            [call("refund_order", '{"order_id": "A-17"}')],
            ["cancel_order"],
            "A run passes when it calls refund_order with order_id = A-17, and never cancel_order.",
        ),
        ([call("a")], [], "A run passes when it calls a."),
        ([call("a"), call("b"), call("c")], [], "A run passes when it calls a, b and c."),
        ([call("a"), call("a")], [], "A run passes when it calls a 2 times."),
        (
            [call("a", '{"n": 1.0, "on": true}'), call("a", '{"n": 2}')],
            [],
            "A run passes when it calls a with n = 1.0 and on = true and a with n = 2.",
        ),
        ([], ["x"], "A run passes when it never calls x."),
        ([], ["x", "y"], "A run passes when it never calls x or y."),
    ],
)
def test_wrong_decisions_say_which_calls_pass(wanted, never, sentence):
    assert said(decisions=Verdict.WRONG, should_call=tuple(wanted), must_not_call=tuple(never)) == [sentence]


@pytest.mark.parametrize(
    ("called", "sentence"),
    [
        (["a", "b", "a"], "A run passes when it calls a and b and nothing else, as this one did."),
        ([], "A run passes when it calls no tool, as this one did."),
        (None, "Decisions are right; which tools this run called is not recorded, so no run can be checked."),
    ],
)
def test_right_decisions_ask_for_the_same_tools(called, sentence):
    assert said(called, decisions=Verdict.RIGHT) == [sentence]


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"answer": Verdict.RIGHT}, "Its answer may stay as it is."),
        ({"answer": Verdict.WRONG, "why": "rude"}, "Its answer must be another one."),
        ({"answer": Verdict.WRONG, "should_say": "Good\nmorning"}, "Its answer should say “Good morning”"),
    ],
)
def test_answers(parts, sentence):
    assert said(**parts) == [sentence]


@pytest.mark.parametrize(
    ("verdicts", "sentence"),
    [
        ("RW", "Of its list, 1 belongs and 1 does not belong."),
        ("R", "Of its list, 1 belongs."),
        ("RR", "Of its list, 2 belong."),
        ("W", "Of its list, 1 does not belong."),
        ("WW", "Of its list, 2 do not belong."),
    ],
)
def test_items(verdicts, sentence):
    words = {"R": Verdict.RIGHT, "W": Verdict.WRONG}
    items = tuple(CorrectedItem(str(rank), words[letter]) for rank, letter in enumerate(verdicts))

    assert said(items=items) == [sentence]


def test_each_part_has_its_sentence_and_nothing_said_has_none():
    assert said() == []
    assert len(said([], decisions=Verdict.RIGHT, answer=Verdict.RIGHT, items=(CorrectedItem("k", Verdict.RIGHT),))) == 3


def test_hostile_words_stay_words():
    draft = CorrectionDraft(decisions=Verdict.WRONG, should_call=(call("<b>", '{"<i>": "<script>"}'),))

    assert sentences(draft, None) == [
        'A run passes when it calls <code class="tool">&lt;b&gt;</code> with <bdi>&lt;i&gt;</bdi> = '
        '<q class="short">&lt;script&gt;</q>.'
    ]


def test_long_values_are_cut():
    [sentence] = said(decisions=Verdict.WRONG, should_call=(call("a", f'{{"text": "{"word " * 60}"}}'),))

    assert len(sentence) < 120
    assert sentence.endswith("word….")
