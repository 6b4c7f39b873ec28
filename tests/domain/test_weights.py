"""Adding corrections up: votes, weights, expected decisions (contract 13.1 to 13.3)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corrections.drafts import CorrectedItem, CorrectionDraft, ExpectedCall
from corrections.rules.expectations import AnswerExpected, DecisionsExpected, Expectation
from corrections.rules.weights import (
    AnswerPlace,
    Counted,
    ExpertSum,
    Vote,
    answer_place,
    expected_decisions,
    hand_item_sums,
    item_sums,
    plain,
    read_expected_decisions,
    read_item_sum,
    votes_of,
)
from corrections.vocabulary import Verdict
from kindgi_site.exact_json import JsonText, dumps, parse

RIGHT, WRONG = Verdict.RIGHT, Verdict.WRONG
PLACE = AnswerPlace("answer", "/appended/3/content")
WEIGHTS = {"expert": 3.0, "user": 0.5, "none": 0.0}


def counted(correction_id: str, *items: CorrectedItem, group: str | None = None, expert: bool = False, **said: object):
    draft = CorrectionDraft(items=items, corrector_group_id=group, **said)
    return Counted(correction_id=correction_id, said=draft, expert=expert)


def yes(key: str = "a", pointer: str | None = None, rank: int | None = None) -> CorrectedItem:
    return CorrectedItem(key, RIGHT, pointer, rank)


def no(key: str = "a", pointer: str | None = None, rank: int | None = None) -> CorrectedItem:
    return CorrectedItem(key, WRONG, pointer, rank)


def test_the_contracts_example():
    newest_first = [
        counted("c3", yes(pointer="/m/0", rank=0), group="expert", expert=True, why="Exactly this one."),
        counted("c2", no(pointer="/m/0", rank=0), group="user", why="Too old."),
        counted("c1", yes(rank=4)),
    ]

    (item,) = item_sums(newest_first, WEIGHTS, PLACE)

    assert item.wire() == {
        "key": "a",
        "pointer": "/m/0",
        "rank": 0,
        "yes": 2,
        "no": 1,
        "yesWeight": 4,
        "totalWeight": 4.5,
        "expert": {"yesWeight": 3, "totalWeight": 3, "correctionIds": ["c3"]},
        "correctionIds": ["c3", "c2", "c1"],
        "reasons": [
            {"verdict": "yes", "reason": "Exactly this one.", "correctorGroupId": "expert", "expert": True},
            {"verdict": "no", "reason": "Too old.", "correctorGroupId": "user"},
        ],
    }
    assert list(item.wire()) == [
        "key", "pointer", "rank", "yes", "no", "yesWeight", "totalWeight", "expert", "correctionIds", "reasons",
    ]  # fmt: skip


def test_nobody_an_expert_is_zeros_and_no_ids():
    (item,) = item_sums([counted("c1", yes())], WEIGHTS, PLACE)

    assert item.wire()["expert"] == {"yesWeight": 0, "totalWeight": 0, "correctionIds": []}


def test_an_experts_no_is_in_their_total_only():
    newest_first = [counted("c2", no(), group="expert", expert=True), counted("c1", yes(), group="expert")]

    (item,) = item_sums(newest_first, WEIGHTS, PLACE)

    assert (item.yes_weight, item.total_weight, item.expert) == (3.0, 6.0, ExpertSum(0.0, 3.0, ("c2",)))


@pytest.mark.parametrize(("group", "weight"), [(None, 1.0), ("expert", 3.0), ("gone", 1.0), ("none", 0.0)])
def test_a_vote_weighs_what_its_group_weighs_now_and_1_without_one(group, weight):
    (item,) = item_sums([counted("c1", yes(), group=group)], WEIGHTS, PLACE)

    assert (item.yes, item.yes_weight, item.total_weight) == (1, weight, weight)


def test_weights_add_up_newest_first_in_double_precision():
    weights = {"tenth": 0.1, "big": 1e16, "small": 1.5}
    newest_first = [counted("c0", yes(), group="big"), *(counted(f"c{n}", yes(), group="small") for n in range(10))]
    tenths = [counted(f"c{n}", yes(), group="tenth") for n in range(10)]

    (down,) = item_sums(newest_first, weights, PLACE)
    (up,) = item_sums(newest_first[::-1], weights, PLACE)
    (tenth,) = item_sums(tenths, weights, PLACE)

    # Doubles near 1e16 are 2 apart: each 1.5 added to it counts 2, while the ten of them added up first count 16.
    assert (down.total_weight, up.total_weight) == (1e16 + 20, 1e16 + 16)
    assert tenth.total_weight == 0.9999999999999999


def test_weights_beyond_the_largest_double_stop_at_it():
    """A weight may be any finite number; Infinity is no JSON."""
    largest = 1.7976931348623157e308
    (item,) = item_sums(
        [counted("c2", yes(), group="heavy", expert=True), counted("c1", yes(), group="heavy", expert=True)],
        {"heavy": 1.7e308},
        PLACE,
    )

    assert (item.yes_weight, item.total_weight, item.expert.total_weight) == (largest, largest, largest)
    assert read_item_sum(parse(dumps(item.wire()))) == item


def test_place_and_rank_are_the_newest_votes_even_when_it_has_none():
    (item,) = item_sums([counted("c2", yes()), counted("c1", yes(pointer="/m/1", rank=1))], WEIGHTS, PLACE)

    assert (item.pointer, item.rank) == (None, None)


def test_items_come_by_rank_then_unranked_each_in_order_of_appearance():
    newest_first = [
        counted("c2", yes("z"), yes("b", rank=1), yes("a", rank=1), yes("y"), answer=RIGHT),
        counted("c1", yes("first", rank=0), yes("x")),
    ]

    keys = [item.key for item in item_sums(newest_first, WEIGHTS, PLACE)]

    assert keys == ["first", "b", "a", "z", "y", "answer", "x"]


@pytest.mark.parametrize(
    ("said", "votes"),
    [
        ({"answer": RIGHT}, [Vote("answer", True, PLACE.pointer)]),
        ({"answer": WRONG, "should_say": "Monday"}, [Vote("answer", False, PLACE.pointer, reason="Monday")]),
        ({"answer": WRONG, "should_say": "x", "why": "y"}, [Vote("answer", False, PLACE.pointer, reason="y")]),
        ({"answer": WRONG, "should_say": "x", "why": " "}, [Vote("answer", False, PLACE.pointer, reason="x")]),
        ({"answer": RIGHT, "why": ""}, [Vote("answer", True, PLACE.pointer)]),
        ({"items": (yes("a", "/a", 2),), "why": "y"}, [Vote("a", True, "/a", 2, "y")]),
        ({"items": (yes("a"),), "should_say": "x"}, [Vote("a", True)]),
        ({"items": (no("answer"),), "answer": RIGHT}, [Vote("answer", False)]),
        ({"decisions": WRONG, "must_not_call": ("pay",)}, []),
        ({"decisions": RIGHT}, []),
    ],
)
def test_what_a_correction_votes_for(said, votes):
    assert votes_of(CorrectionDraft(**said), PLACE) == votes


@pytest.mark.parametrize(
    ("kind", "output", "place"),
    [
        ("flow", '{"matches": []}', AnswerPlace("output", "")),
        ("agent", '"Monday"', AnswerPlace("answer", "")),
        ("agent", '{"appended": [{"role": "agent", "content": "Hi"}]}', AnswerPlace("answer", "/appended/0/content")),
        ("agent", '{"appended": []}', AnswerPlace("answer", None)),
        ("agent", "null", AnswerPlace("answer", None)),
        ("flow", "null", AnswerPlace("output", None)),
    ],
)
def test_where_the_answer_stands(kind, output, place):
    assert answer_place(kind, parse(output)) == place


def test_expected_decisions_are_those_said_to_be_wrong_newest_first():
    call = ExpectedCall("pay", {"amount": parse("1.0")}, '{"amount": 1.0}')
    newest_first = [
        counted("c4", group="expert", expert=True, decisions=WRONG, should_call=(call,)),
        counted("c3", decisions=RIGHT),
        counted("c2", yes()),
        counted("c1", decisions=WRONG, must_not_call=("refund",)),
    ]

    wire = [entry.wire() for entry in expected_decisions(newest_first)]

    assert wire == [
        {
            "correctionId": "c4",
            "correctorGroupId": "expert",
            "expert": True,
            "calls": [{"tool": "pay", "args": JsonText('{"amount": 1.0}')}],
            "notCalled": [],
        },
        {"correctionId": "c1", "calls": [], "notCalled": ["refund"]},
    ]
    assert [read_expected_decisions(parse(dumps(entry))).wire() for entry in wire][1] == wire[1]


def test_a_hand_case_counts_each_verdict_once_with_no_correction_behind_it():
    expect = Expectation(
        decisions=DecisionsExpected(RIGHT),
        answer=AnswerExpected(WRONG, "Tuesday", "Off by a day."),
        items=(yes("b"), no("a", "/m/0", 0)),
    )

    assert [item.wire() for item in hand_item_sums(expect, PLACE, expert=False)] == [
        {"key": "a", "pointer": "/m/0", "rank": 0, "yes": 0, "no": 1, "yesWeight": 0, "totalWeight": 1, "reasons": []},
        {"key": "b", "yes": 1, "no": 0, "yesWeight": 1, "totalWeight": 1, "reasons": []},
        {
            "key": "answer",
            "pointer": "/appended/3/content",
            "yes": 0,
            "no": 1,
            "yesWeight": 0,
            "totalWeight": 1,
            "reasons": [{"verdict": "no", "reason": "Off by a day."}],
        },
    ]


def test_an_experts_hand_case_has_expert_weights_equal_to_the_weights():
    (item,) = hand_item_sums(Expectation(items=(yes(),)), PLACE, expert=True)

    assert item.wire()["expert"] == {"yesWeight": 1, "totalWeight": 1}


@pytest.mark.parametrize(
    ("weight", "sent"), [(1.0, "1"), (4.5, "4.5"), (0.0, "0"), (1e300, "1e+300"), (1e20, "1" + "0" * 20)]
)
def test_a_whole_weight_is_sent_without_a_point(weight, sent):
    assert dumps(plain(weight)) == sent


votes = st.tuples(
    st.sampled_from("abc"), st.booleans(), st.sampled_from([None, "expert", "user", "none", "gone"]), st.booleans()
)


@given(st.lists(votes, max_size=12))
def test_sums_read_back_from_the_wire_are_the_sums(cast):
    newest_first = [
        counted(f"c{n}", CorrectedItem(key, RIGHT if is_yes else WRONG, rank=n), group=group, expert=expert, why="w")
        for n, (key, is_yes, group, expert) in enumerate(cast)
    ]

    sums = item_sums(newest_first, WEIGHTS, PLACE)

    assert [read_item_sum(parse(dumps(item.wire()))) for item in sums] == sums
    assert sum(item.yes + item.no for item in sums) == len(cast)
    assert all(0 <= item.yes_weight <= item.total_weight for item in sums)
    assert all(item.expert.total_weight <= item.total_weight for item in sums)
