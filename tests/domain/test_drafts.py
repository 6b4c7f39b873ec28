"""What a correction must say: every rule of contract 7.2 at its limit and one past it."""

import pytest

from corrections.drafts import CorrectedItem, CorrectionDraft, ExpectedCall
from corrections.rules.drafts import check_draft
from corrections.vocabulary import Verdict
from kindgi_site.errors import Code, InvalidError
from kindgi_site.exact_json import Number, canonical

RIGHT, WRONG = Verdict.RIGHT, Verdict.WRONG
FACE = "\U0001f600"  # one character, though two of UTF-16 and four bytes


def should(*calls: ExpectedCall) -> dict:
    return {"decisions": WRONG, "should_call": calls}


def must_not(*tools: str) -> dict:
    return {"decisions": WRONG, "must_not_call": tools}


def items(*many: CorrectedItem) -> dict:
    return {"items": many}


def numbered(count: int) -> list[CorrectedItem]:
    return [CorrectedItem(f"item {number}", RIGHT) for number in range(count)]


def args_of(characters: int) -> dict[str, object]:
    """Arguments whose canonical JSON has so many characters."""
    args = {"q": "x" * (characters - len('{"q":""}'))}
    assert len(canonical(args)) == characters
    return args


ACCEPTED = {
    "decisions right": {"decisions": RIGHT},
    "answer right": {"answer": RIGHT},
    "one item": items(CorrectedItem("a", WRONG)),
    "fifty should-calls": should(*[ExpectedCall("tool")] * 50),
    "fifty must-not-calls": must_not(*[f"tool {number}" for number in range(50)]),
    "a repeated must-not-call": must_not("tool", "tool"),
    "a tool of one character": should(ExpectedCall("t")),
    "a tool of 200 characters": should(ExpectedCall("t" * 200)),
    "a tool of 200 faces": should(ExpectedCall(FACE * 200)),
    "a blank tool": should(ExpectedCall(" ")),
    "a must-not tool of 200 characters": must_not("t" * 200),
    "a hundred arguments": should(ExpectedCall("tool", {f"arg {number}": None for number in range(100)})),
    "4000 characters of arguments": should(ExpectedCall("tool", args_of(4000))),
    "arguments long only in how they are written": should(ExpectedCall("tool", {"n": Number(f"1.{'0' * 5000}")})),
    "both lists": {**should(ExpectedCall("one")), **must_not("other")},
    "should-say of 4000 characters": {"answer": WRONG, "should_say": "x" * 4000},
    "should-say of 4000 faces": {"answer": WRONG, "should_say": FACE * 4000},
    "why of 4000 characters": {"answer": WRONG, "why": "x" * 4000},
    "why with nothing wrong": {"answer": RIGHT, "why": "well put"},
    "an empty why": {"decisions": RIGHT, "why": ""},
    "a wrong answer with why beside a blank should-say": {"answer": WRONG, "should_say": " ", "why": "x"},
    "a wrong answer with should-say beside a blank why": {"answer": WRONG, "should_say": "x", "why": "\n"},
    "a hundred items": items(*numbered(100)),
    "a key of 200 characters": items(CorrectedItem("k" * 200, RIGHT)),
    "a key of 200 faces": items(CorrectedItem(FACE * 200, RIGHT)),
    "keys that differ in white space": items(CorrectedItem("k", RIGHT), CorrectedItem("k ", RIGHT)),
    "an empty pointer": items(CorrectedItem("k", RIGHT, pointer="")),
    "a pointer of 500 characters": items(CorrectedItem("k", RIGHT, pointer="/" + "p" * 499)),
    "one pointer twice": items(CorrectedItem("a", RIGHT, pointer="/x"), CorrectedItem("b", WRONG, pointer="/x")),
    "rank 0": items(CorrectedItem("k", RIGHT, rank=0)),
    "a very high rank": items(CorrectedItem("k", RIGHT, rank=10**17)),
    "a group and an end user": {"answer": RIGHT, "corrector_group_id": "g", "participant_id": "p"},
}

REFUSED = {
    "nothing": ({}, "decisions"),
    "only why": ({"why": "because"}, "decisions"),
    "only an empty list of items": ({"items": (), "why": "because"}, "decisions"),
    "should-call without a verdict": ({"should_call": (ExpectedCall("t"),)}, "shouldCall"),
    "should-call with decisions right": ({"decisions": RIGHT, "should_call": (ExpectedCall("t"),)}, "shouldCall"),
    "should-call with only a wrong answer": (
        {"answer": WRONG, "why": "x", "should_call": (ExpectedCall("t"),)},
        "shouldCall",
    ),
    "fifty-one should-calls": (should(*[ExpectedCall("tool")] * 51), "shouldCall"),
    "an empty tool": (should(ExpectedCall("")), "shouldCall"),
    "a tool of 201 characters": (should(ExpectedCall("good"), ExpectedCall("t" * 201)), "shouldCall"),
    "a hundred and one arguments": (
        should(ExpectedCall("tool", {f"arg {number}": None for number in range(101)})),
        "shouldCall",
    ),
    "4001 characters of arguments": (should(ExpectedCall("tool", args_of(4001))), "shouldCall"),
    "must-not-call without a verdict": ({"must_not_call": ("t",)}, "mustNotCall"),
    "must-not-call with decisions right": ({"decisions": RIGHT, "must_not_call": ("t",)}, "mustNotCall"),
    "fifty-one must-not-calls": (must_not(*[f"tool {number}" for number in range(51)]), "mustNotCall"),
    "an empty must-not tool": (must_not("good", ""), "mustNotCall"),
    "a must-not tool of 201 characters": (must_not("t" * 201), "mustNotCall"),
    "a tool in both lists": ({**should(ExpectedCall("a"), ExpectedCall("b")), **must_not("c", "b")}, "mustNotCall"),
    "decisions wrong without a call": ({"decisions": WRONG}, "decisions"),
    "decisions wrong with why only": ({"decisions": WRONG, "why": "x"}, "decisions"),
    "should-say without a verdict": ({"decisions": RIGHT, "should_say": "x"}, "shouldSay"),
    "should-say with answer right": ({"answer": RIGHT, "should_say": "x"}, "shouldSay"),
    "an empty should-say with answer right": ({"answer": RIGHT, "should_say": ""}, "shouldSay"),
    "should-say of 4001 characters": ({"answer": WRONG, "should_say": "x" * 4001}, "shouldSay"),
    "why of 4001 characters": ({"answer": RIGHT, "why": "x" * 4001}, "why"),
    "answer wrong and no more": ({"answer": WRONG}, "answer"),
    "answer wrong with blank words": ({"answer": WRONG, "should_say": " \n", "why": "\t\u00a0"}, "answer"),
    "a hundred and one items": (items(*numbered(101)), "items"),
    "an empty key": (items(CorrectedItem("", RIGHT)), "items"),
    "a blank key": (items(CorrectedItem(" \n", RIGHT)), "items"),
    "a key of 201 characters": (items(CorrectedItem("k" * 201, RIGHT)), "items"),
    "a key twice": (items(CorrectedItem("k", RIGHT), CorrectedItem("l", RIGHT), CorrectedItem("k", WRONG)), "items"),
    "a pointer of 501 characters": (items(CorrectedItem("k", RIGHT, pointer="/" + "p" * 500)), "items"),
    "a pointer without a slash": (items(CorrectedItem("k", RIGHT, pointer="a")), "items"),
    "a pointer with a bare tilde": (items(CorrectedItem("k", RIGHT, pointer="/a~b")), "items"),
    "rank -1": (items(CorrectedItem("k", RIGHT, rank=-1)), "items"),
    "an empty group": ({"answer": RIGHT, "corrector_group_id": ""}, "correctorGroupId"),
    "a blank group": ({"answer": RIGHT, "corrector_group_id": " "}, "correctorGroupId"),
    "an empty end user": ({"answer": RIGHT, "participant_id": ""}, "participantId"),
    "a blank end user": ({"answer": RIGHT, "participant_id": "\n"}, "participantId"),
    "an end user of 257 characters": ({"answer": RIGHT, "participant_id": "p" * 257}, "participantId"),
}


def refusal_of(said: dict) -> InvalidError:
    with pytest.raises(InvalidError) as caught:
        check_draft(CorrectionDraft(**said))
    return caught.value


@pytest.mark.parametrize("said", ACCEPTED.values(), ids=ACCEPTED)
def test_accepted(said):
    check_draft(CorrectionDraft(**said))


@pytest.mark.parametrize(("said", "field"), REFUSED.values(), ids=REFUSED)
def test_refused(said, field):
    refused = refusal_of(said)

    assert (refused.code, refused.details) == (Code.BAD_INPUT, {"field": field})


# Everything wrong at once: (the field told, what takes that fault away and brings up the next of the table).
EVERYTHING_WRONG = {
    "decisions": WRONG,
    "should_call": (ExpectedCall(""),),
    "must_not_call": ("", "both"),
    "answer": WRONG,
    "should_say": "x" * 4001,
    "why": "x" * 4001,
    "items": (CorrectedItem("", RIGHT),),
    "corrector_group_id": "",
    "participant_id": "",
}
CURES = [
    ("shouldCall", {"should_call": (ExpectedCall("both"),)}),
    ("mustNotCall", {"must_not_call": ("tool", "both")}),
    ("mustNotCall", {"should_call": (), "must_not_call": ()}),
    ("decisions", {"decisions": None}),
    ("shouldSay", {"should_say": " "}),
    ("why", {"why": " "}),
    ("answer", {"answer": None, "should_say": None}),
    ("items", {"items": ()}),
    ("correctorGroupId", {"corrector_group_id": None}),
    ("participantId", {"participant_id": None}),
    ("decisions", {"answer": RIGHT}),
]


def test_the_first_problem_of_the_table_is_the_one_told():
    said = dict(EVERYTHING_WRONG)

    told = []
    for _field, cure in CURES:
        told.append(refusal_of(said).details["field"])
        said |= cure

    assert told == [field for field, _cure in CURES]
    check_draft(CorrectionDraft(**said))


def test_only_the_rows_above_a_field_are_checked_before_it():
    said = dict(EVERYTHING_WRONG)

    for field, cure in CURES[:-1]:
        row = {"decisions": "mustNotCall", "answer": "why"}.get(field, field)
        check_draft(CorrectionDraft(**said), before=row)
        said |= cure
