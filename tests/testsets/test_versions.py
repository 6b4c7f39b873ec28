"""Versions of test sets (contract 4.6) and of agents (16.1)."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testsets.rules.versions import SetVersion, is_lower, parse_set_version, precedence


@pytest.mark.parametrize("text", ["0.0.0", "1.2.3", "1.10.0", "10.20.30", "9223372036854775807.0.0"])
def test_three_plain_numbers_are_a_version(text):
    assert str(parse_set_version(text)) == text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1.02.0", "a leading zero: 1.2.0 would be a second text of one version"),
        ("01.2.0", "a leading zero"),
        ("1.2.00", "a leading zero, of nothing but zeros"),
        ("1.2", "two numbers"),
        ("1.2.3.4", "four numbers"),
        ("1.2.3-rc.1", "a suffix"),
        ("1.2.3+build", "build metadata"),
        ("v1.2.3", "a letter"),
        ("-1.2.3", "a sign"),
        ("1.2.3\n", "a line end, which `$` would let pass"),
        (" 1.2.3", "a space"),
        ("1..3", "an empty part"),
        ("", "nothing"),
        ("\u0661.\u0662.\u0663", "digits, but not ASCII ones"),
        ("9223372036854775808.0.0", "a part too large for its column"),
        ("1.2." + "9" * 5000, "a part too long to make a number of"),
    ],
)
def test_anything_else_is_none(text, reason):
    assert parse_set_version(text) is None, reason


def test_versions_order_as_numbers():
    texts = ["1.9.0", "1.10.0", "2.0.0", "1.9.10", "1.9.9", "0.99.99"]

    ordered = sorted(map(parse_set_version, texts))

    assert [str(version) for version in ordered] == ["0.99.99", "1.9.0", "1.9.9", "1.9.10", "1.10.0", "2.0.0"]
    assert max(ordered) == SetVersion(2, 0, 0)


# Lowest first; the first eight are the example of semver.org, section 11.
IN_ORDER = [
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.beta",
    "1.0.0-beta",
    "1.0.0-beta.2",
    "1.0.0-beta.11",
    "1.0.0-rc.1",
    "1.0.0",
    "1.0.1-0",
    "1.0.1-2",
    "1.0.1-10",
    "1.0.1--",
    "1.0.1-2a",
    "1.0.1-A",
    "1.0.1-a",
    "1.0.1-a-b",
    "1.0.1",
    "1.9.0",
    "1.10.0-rc",
    "1.10.0",
    "2.0.0",
]


@pytest.mark.parametrize(("lower", "higher"), [*itertools.combinations(IN_ORDER, 2)])
def test_a_prerelease_is_below_its_release_and_numbers_below_words(lower, higher):
    assert is_lower(lower, higher)
    assert not is_lower(higher, lower)


def test_build_metadata_does_not_order():
    assert precedence("1.0.0+a") == precedence("1.0.0+b-1.x") == precedence("1.0.0")
    assert precedence("1.0.0-rc+1") == precedence("1.0.0-rc")
    assert not is_lower("1.0.0+a", "1.0.0+b")


@given(st.lists(st.builds("{}.{}.{}".format, *[st.integers(0, 10**18)] * 3), min_size=1))
def test_set_versions_order_as_an_agents_releases_do(texts):
    assert sorted(texts, key=parse_set_version) == sorted(texts, key=precedence)
