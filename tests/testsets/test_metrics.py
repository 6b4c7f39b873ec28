"""Same items, scores and pooled metrics (contract 17.2, 17.5)."""

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corrections.drafts import CorrectionDraft
from corrections.rules.expectations import read_items
from corrections.rules.outputs import items_of
from corrections.rules.weights import Counted, ExpertSum, ItemSum, answer_place, item_sums
from kindgi_site.exact_json import parse
from testsets.rules.cases import Case, GroupWeights, narrowed
from testsets.rules.changes import changes
from testsets.rules.items import CaseItems, ranked
from testsets.rules.metrics import Metric, MetricName, Score, ScoredCase, metrics, score, wire_metrics

SEARCH = Path(__file__).parents[3] / "shared" / "data" / "search"
YES_SHARE, COVERAGE, PRECISION = MetricName


def summed(key: str, yes_weight: float, total_weight: float, pointer: str | None = None, **more: object) -> ItemSum:
    return ItemSum(key=key, pointer=pointer, yes=0, no=0, yes_weight=yes_weight, total_weight=total_weight, **more)


def scored(output: str, *sums: ItemSum, k: int = 10, recorded: str = "{}", **more: object) -> Score:
    return score(items_of("flow", parse(output)), CaseItems(sums, parse(recorded)), k, **more)


def test_the_contracts_example_of_precision():
    output = '{"m": [{"id": "a"}, {"id": "b"}, {"id": "c"}, {"id": "d"}]}'

    found = scored(output, summed("a", 4, 4.5), summed("c", 0, 2), summed("d", 7, 7), k=3)

    assert found.wire() == {
        "yesWeight": 11,
        "totalWeight": 13.5,
        "items": 5,
        "correctedItems": 3,
        "topK": {"yesWeight": 4, "totalWeight": 6.5},
    }
    precision = metrics([ScoredCase(found, (found,))], k=3)[PRECISION]
    assert round(precision.candidate, 4) == 0.6154


def test_pooled_weights_beyond_the_largest_double_are_numbers_still():
    heavy = scored('{"m": [{"id": "a"}]}', summed("a", 1.7e308, 1.7e308))

    share = metrics([ScoredCase(heavy, (heavy,))] * 2, k=3)[YES_SHARE]

    assert (share.candidate, share.baseline, share.delta, share.weight) == (1, 1, 0, 1.7976931348623157e308)


SAME = [
    ('{"m": [{"id": "a"}]}', "a", None, True, "its own key"),
    ('{"m": [{"id": 1.0}]}', "1", None, True, "a number as its own key"),
    ('{"m": [{"id": "a", "x": 2}]}', "a", "/m/0", True, "its own key, whatever else changed"),
    ('{"m": [{"id": "A"}]}', "a", None, False, "another key"),
    ('{"m": ["x"]}', "/m/0", "/m/0", True, "a place, with the value seen there"),
    ('{"m": ["y"]}', "/m/0", "/m/0", False, "a place, with another value"),
    ('{"m": ["x"]}', "/m/0", None, False, "a place as key, and no pointer to compare at"),
    ('{"m": ["x"]}', "/m/0", "/m/9", False, "a place as key, and a pointer to nothing"),
    ('{"m": [1.0]}', "/m/0", "/n/0", True, "compared by value: 1.0 is the 1 that was seen at /n/0"),
    ('{"m": [true]}', "/m/0", "/n/0", False, "true is not the 1 that was seen"),
    ('{"m": [{"id": "a"}, {"id": "a"}]}', "/m/1", "/m/1", False, "a key's second place holds only for the value seen"),
]


@pytest.mark.parametrize(("output", "key", "pointer", "is_same", "reason"), SAME)
def test_which_item_of_a_case_a_new_item_is(output, key, pointer, is_same, reason):
    case_items = CaseItems([summed(key, 1, 1, pointer)], parse('{"m": ["x", 3], "n": [1]}'))

    found = [case_items.same_as(item) for item in items_of("flow", parse(output)) if item.key == key]

    assert [spoken is not None for spoken in found] == ([is_same] if found else []), reason
    assert bool(found) or not is_same, reason


def test_the_whole_answer_is_an_item_that_holds_for_the_same_answer_only():
    votes = summed("output", 1, 2, "")

    assert scored('{"b": [1.0], "a": 2}', votes, recorded='{"a": 2, "b": [1]}').total_weight == 2
    assert scored('{"a": 3}', votes, recorded='{"a": 2}').total_weight == 0


def test_a_key_twice_in_a_ranked_list_counts_once_at_its_first_place():
    output = '{"m": [{"id": "b"}, {"id": "a"}, {"id": "a"}, {"id": "a"}]}'

    found = scored(output, summed("a", 1, 1), summed("b", 0, 1), k=4)

    assert (found.top_yes_weight, found.top_total_weight, found.corrected_items) == (1, 2, 2)
    # The repeats still take their places: `a` stands second, whatever follows it.
    assert scored(output, summed("a", 1, 1), k=1).top_total_weight == 0
    assert found.items == 5


def test_fewer_items_than_k_divide_by_what_is_there():
    two = scored('{"m": [{"id": "a"}, {"id": "b"}]}', summed("a", 1, 1), summed("b", 0, 1), k=100)

    assert metrics([ScoredCase(two, (two,))], k=100)[PRECISION].candidate == 0.5


def test_several_lists_share_the_top_by_rank_then_in_sorted_order_of_their_names():
    output = '{"z": [{"id": "z0"}, {"id": "z1"}], "a": [{"id": "a0"}, {"id": "a1"}]}'

    assert [item.key for item in ranked(items_of("flow", parse(output)), 3)] == ["a0", "z0", "a1"]


def test_an_answer_stands_in_no_list_and_takes_no_place_in_it():
    answer = summed("output", 1, 1, "")
    output = '{"m": [{"id": "a"}]}'

    found = scored(output, answer, summed("a", 0, 1), k=1, recorded=output)

    assert (found.yes_weight, found.total_weight) == (1, 2)
    assert (found.top_yes_weight, found.top_total_weight) == (0, 1)


def test_all_weights_zero_measure_nothing():
    nothing = scored('{"m": [{"id": "a"}]}', summed("a", 0, 0))

    assert wire_metrics(metrics([ScoredCase(nothing, (nothing,))], k=5)) == {
        "weightedYesShare": zero_metric(),
        # Coverage asks whether somebody spoke of an item, not how much their word weighs: one of two.
        "correctedCoverage": zero_metric(candidate=0.5, baseline=0.5, delta=0, n=1, baselineN=1),
        "weightedPrecisionAtK": zero_metric(k=5),
    }


def zero_metric(**more: object) -> dict:
    nothing = {"candidate": None, "n": 0, "weight": 0, "baseline": None, "baselineN": 0, "baselineWeight": 0}
    return nothing | {"delta": None, "direction": "higher"} | more


def test_no_case_at_all_measures_nothing():
    assert [metric.wire() for metric in metrics([], k=5).values()] == [
        zero_metric(),
        zero_metric(),
        zero_metric(k=5),
    ]


def pair(yes: float, total: float) -> Score:
    return Score(
        yes_weight=yes, total_weight=total, top_yes_weight=yes, top_total_weight=total, items=4, corrected_items=2
    )


def test_cases_are_pooled_not_averaged():
    large, small = pair(90, 100), pair(0, 1)

    found = metrics([ScoredCase(large, (large,)), ScoredCase(small, (small,))], k=10)[YES_SHARE]

    assert found.candidate == 90 / 101


def test_repetitions_are_pooled_each_and_then_averaged():
    cases = [
        ScoredCase(pair(1, 4), (pair(1, 2), pair(2, 2))),
        ScoredCase(pair(1, 4), (pair(0, 2), pair(1, 2), pair(1, 1))),
        ScoredCase(pair(9, 9), ()),
    ]

    found = metrics(cases, k=10)

    # The pools are (1+0)/(2+2), (2+1)/(2+2) and 1/1; the case without a score counts on neither side.
    assert found[YES_SHARE] == Metric(
        candidate=(0.25 + 0.75 + 1) / 3,
        spread=0.75,
        n=2,
        weight=(4 + 4 + 1) / 3,
        baseline=0.25,
        baseline_n=2,
        baseline_weight=8,
    )
    assert found[PRECISION].k == 10
    assert found[YES_SHARE].delta == (0.25 + 0.75 + 1) / 3 - 0.25


@pytest.mark.parametrize(
    ("candidates", "spread", "reason"),
    [
        ([(pair(1, 2),)], None, "one repetition"),
        ([(pair(1, 2), pair(1, 2))], 0, "two that agree"),
        ([(pair(1, 2), pair(0, 0))], None, "two, of which one has no value"),
        ([(pair(1, 2), pair(2, 2), pair(0, 2))], 1, "the widest of three"),
    ],
)
def test_the_spread_needs_two_values(candidates, spread, reason):
    found = metrics([ScoredCase(pair(1, 2), scores) for scores in candidates], k=10)[YES_SHARE]

    assert found.spread == spread, reason
    assert ("spread" in found.wire()) == (spread is not None)


def test_a_value_on_one_side_only_has_no_delta():
    found = metrics([ScoredCase(pair(0, 0), (pair(1, 2),))], k=10)[YES_SHARE]

    assert (found.candidate, found.baseline, found.delta) == (0.5, None, None)


def test_a_metric_on_the_wire_in_the_contracts_order():
    found = metrics([ScoredCase(pair(1, 2), (pair(2, 2), pair(1, 2)))], k=7)[PRECISION]

    assert list(found.wire().items()) == [
        ("candidate", 0.75),
        ("spread", 0.5),
        ("n", 1),
        ("weight", 2),
        ("baseline", 0.5),
        ("baselineN", 1),
        ("baselineWeight", 2),
        ("delta", 0.25),
        ("direction", "higher"),
        ("k", 7),
    ]


def test_a_rescore_counts_corrections_made_since_where_the_case_says_nothing():
    output = '{"m": [{"id": "a"}, {"id": "b"}, {"id": "c"}]}'
    fresh = {"a": summed("a", 0, 9), "b": summed("b", 2, 2)}

    found = scored(output, summed("a", 1, 1), fresh=fresh)

    assert (found.yes_weight, found.total_weight, found.corrected_items) == (3, 3, 2)
    assert (found.top_yes_weight, found.fresh_weight) == (3, 2)
    pooled = wire_metrics(metrics([ScoredCase(pair(1, 2), (found,))], k=10))
    assert [metric.get("freshWeight") for metric in pooled.values()] == [2, 2, None]


def test_a_rescore_without_anything_new_says_so():
    assert scored('{"m": []}', fresh={}).fresh_weight == 0
    assert scored('{"m": []}').fresh_weight is None


def test_experts_only_weighs_their_votes_and_leaves_the_others_out():
    expert = ExpertSum(1, 3, ("c1",))
    case = Case(
        case_id="c",
        subject_kind="flow",
        items=(summed("a", 5, 9, expert=expert), summed("b", 2, 2), summed("c", 1, 1, expert=None)),
    )

    assert narrowed(case, GroupWeights.EXPERTS_ONLY).items == (summed("a", 1, 3, expert=expert),)
    assert narrowed(case, GroupWeights.AS_RECORDED) is case


def test_what_changed_about_the_items_a_case_speaks_of():
    sums = [summed("a", 1, 1, "/m/0", rank=0), summed("b", 0, 1, "/m/1"), summed("c", 1, 1, "/m/2", rank=2)]
    items = items_of("flow", parse('{"m": [{"id": "c"}, {"id": "new"}, {"id": "b"}]}'))

    assert changes(sums, CaseItems(sums, {}), items).wire() == {
        "kept": [{"key": "c", "rankBefore": 2, "rank": 0}, {"key": "b", "rank": 2}],
        "dropped": [{"key": "a", "rankBefore": 0}],
        "new": [{"key": "output", "pointer": ""}, {"key": "new", "pointer": "/m/1", "rank": 1}],
    }


eighths = st.integers(0, 24).map(lambda n: n / 8)
scores = st.builds(
    lambda yes, rest, top_yes, top_rest, items, corrected: Score(
        yes_weight=yes,
        total_weight=yes + rest,
        top_yes_weight=top_yes,
        top_total_weight=top_yes + top_rest,
        items=items,
        corrected_items=min(items, corrected),
    ),
    *[eighths] * 4,
    *[st.integers(0, 5)] * 2,
)
PARTS = {
    YES_SHARE: lambda one: (one.yes_weight, one.total_weight, one.total_weight),
    COVERAGE: lambda one: (one.corrected_items, one.items, one.total_weight),
    PRECISION: lambda one: (one.top_yes_weight, one.top_total_weight, one.top_total_weight),
}


def exactly(some: list[Score], name: MetricName) -> tuple[Fraction | None, Fraction, int]:
    """(value, evidence, cases) pooled in exact fractions, written apart from the code under test."""
    numerator = denominator = evidence = Fraction(0)
    count = 0
    for one in some:
        above, below, weight = map(Fraction, PARTS[name](one))
        if below > 0:
            numerator, denominator, evidence, count = (
                numerator + above,
                denominator + below,
                evidence + weight,
                count + 1,
            )
    return (numerator / denominator if count else None), evidence, count


@given(st.lists(st.builds(ScoredCase, scores, st.lists(scores, max_size=3).map(tuple)), max_size=6))
def test_metrics_are_what_exact_fractions_say(cases):
    kept = [case for case in cases if case.candidate]
    most = max((len(case.candidate) for case in kept), default=0)

    for name, found in metrics(cases, k=3).items():
        pools = [exactly([c.candidate[r] for c in kept if len(c.candidate) > r], name) for r in range(most)]
        values = [value for value, _, _ in pools if value is not None]
        baseline, baseline_weight, baseline_n = exactly([case.baseline for case in kept], name)
        assert found.candidate == (pytest.approx(float(sum(values) / len(values))) if values else None)
        assert found.spread == (pytest.approx(float(max(values) - min(values))) if len(values) > 1 else None)
        assert found.weight == pytest.approx(float(sum(weight for _, weight, _ in pools) / most) if most else 0)
        assert found.n == sum(any(PARTS[name](one)[1] > 0 for one in case.candidate) for case in kept)
        assert found.baseline == (None if baseline is None else pytest.approx(float(baseline)))
        assert (found.baseline_n, found.baseline_weight) == (baseline_n, float(baseline_weight))


@pytest.mark.skipif(not SEARCH.is_dir(), reason="the search data is not beside the project")
@pytest.mark.parametrize(
    ("k", "published"), [(5, "0.2667"), (10, "0.3000"), (15, "0.3111"), (20, "0.3667"), (30, "0.3333"), (100, "0.2467")]
)
def test_the_published_precision_of_a_real_search(k, published):
    outputs = {run["runId"]: run["output"] for run in lines("runs.jsonl")}
    cases = []
    for said in lines("corrections.jsonl"):
        output = outputs[said["runId"]]
        counted = Counted(correction_id="c", said=CorrectionDraft(items=read_items(said["items"])))
        sums = item_sums([counted], {}, answer_place("flow", output))
        baseline = score(items_of("flow", output), CaseItems(sums, output), k)
        cases.append(ScoredCase(baseline, (baseline,)))

    found = metrics(cases, k=k)

    assert f"{found[PRECISION].baseline:.4f}" == published
    assert f"{found[PRECISION].candidate:.4f}" == published
    assert found[PRECISION].baseline_n == 3
    # All hundred documents of each answer were judged; the answer as a whole is one more item, nobody's.
    assert found[COVERAGE].baseline == 300 / 303


def lines(name: str) -> list[dict]:
    return [parse(line) for line in (SEARCH / name).read_text().split("\n") if line]
