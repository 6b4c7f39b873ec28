"""The sample split (contract 17.6): stable, disjoint, monotone."""

import subprocess
import sys
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corrections.rules.positions import position
from corrections.rules.weights import ItemSum
from testsets.rules.sampling import Sample, Sampled, SamplePart, held_out, sampled, was_doubted

SEARCH, HOLD_OUT = SamplePart.SEARCH, SamplePart.HOLD_OUT
SEED = "spring"


def cases(count: int, *, doubted: bool = False) -> list[Sampled]:
    return [Sampled(f"case-{n}-{doubted}", doubted) for n in range(count)]


def summed(yes_weight: float, total_weight: float) -> ItemSum:
    return ItemSum(key="a", yes=0, no=0, yes_weight=yes_weight, total_weight=total_weight)


def test_a_position_is_the_first_32_bits_of_the_digest_as_a_share():
    assert position("s", "é") == int.from_bytes(sha256("s:é".encode()).digest()[:4], "big") / 2**32
    assert position("", "") == 0xE7AC0786 / 2**32  # echo -n : | sha256sum


@pytest.mark.parametrize(
    ("count", "share", "held", "reason"),
    [
        (0, 0.5, 0, "there is nothing to hold out"),
        (1, 0.9, 0, "a stratum of one is not split"),
        (2, 0.1, 1, "at least one is held out"),
        (2, 0.9, 1, "at least one is left to search"),
        (3, 0.9, 2, "at least one is left to search"),
        (5, 0.5, 3, "2.5: halves round up"),
        (15, 0.1, 2, "1.5: halves round up, not to even"),
        (25, 0.1, 3, "2.5: halves round up, not to even"),
        (10, 0.14, 1, "1.4 rounds down"),
        (10, 0.2, 2, "no rounding"),
    ],
)
def test_how_many_are_held_out(count, share, held, reason):
    assert len(held_out(cases(count), SEED, share)) == held, reason


def test_each_stratum_is_split_by_itself():
    doubted, others = cases(10, doubted=True), cases(20)

    out = held_out([*doubted, *others], SEED, 0.3)

    assert sum(case.case_id in out for case in doubted) == 3
    assert sum(case.case_id in out for case in others) == 6
    assert out == held_out(doubted, SEED, 0.3) | held_out(others, SEED, 0.3)


@pytest.mark.parametrize(
    ("items", "doubted", "reason"),
    [
        ([], False, "no item, no doubt"),
        ([summed(1, 1)], False, "everybody says yes"),
        ([summed(1, 1), summed(0.5, 1)], True, "one no is enough"),
        ([summed(0, 0)], False, "a no that weighs nothing does not count"),
    ],
)
def test_a_case_is_doubted_when_somebodys_no_weighs_something(items, doubted, reason):
    assert was_doubted(items) is doubted, reason


def test_the_split_is_the_same_in_another_process():
    told = (
        "from testsets.rules.sampling import *; print(sampled([Sampled(f'case-{n}-False', n > 9) for n in range(20)],"
    )
    told += "Sample(SamplePart.HOLD_OUT, 'spring', 0.4)))"
    here = sampled([Sampled(f"case-{n}-False", n > 9) for n in range(20)], Sample(HOLD_OUT, SEED, 0.4))

    there = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)  # noqa: S603

    assert there.stdout.strip() == str(here)


many = st.lists(
    st.builds(Sampled, st.uuids().map(str), st.booleans()), max_size=40, unique_by=lambda case: case.case_id
)
seeds = st.text(min_size=1, max_size=20)
shares = st.floats(0.1, 0.9)


@given(many, seeds, shares)
def test_the_two_parts_are_all_cases_each_once_in_their_order(some, seed, share):
    search = sampled(some, Sample(SEARCH, seed, share))
    out = sampled(some, Sample(HOLD_OUT, seed, share))

    ids = [case.case_id for case in some]
    assert not set(search) & set(out)
    assert sorted(search, key=ids.index) == search
    assert sorted(out, key=ids.index) == out
    assert sorted([*search, *out]) == sorted(ids)


@given(many, seeds, shares, st.randoms())
def test_the_split_does_not_hang_on_the_order_of_cases(some, seed, share, random):
    shuffled = list(some)
    random.shuffle(shuffled)

    assert held_out(shuffled, seed, share) == held_out(some, seed, share)


@given(many, seeds, shares, shares)
def test_a_larger_share_holds_out_the_same_and_more(some, seed, one, other):
    assert held_out(some, seed, min(one, other)) <= held_out(some, seed, max(one, other))


def test_another_seed_holds_out_others():
    some = cases(50)

    assert len({frozenset(held_out(some, f"seed-{n}", 0.5)) for n in range(20)}) == 20
