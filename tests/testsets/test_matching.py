"""Wanted calls against calls made, one to one (decisions 1, 4, 9 and 16)."""

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corrections.drafts import ExpectedCall
from corrections.rules.calls import Call, listed
from corrections.rules.matching import MAX_PATHS, Failure, differences, forbidden, other_tools, unmet, wanted_calls
from corrections.rules.pointers import resolve
from kindgi_site.exact_json import Number, canonical, dumps, parse


def failures(wanted: str, made: str) -> list[dict]:
    """The failures on the wire, of a `shouldCall` and a list of calls, both as JSON text."""
    entries = [ExpectedCall(entry["tool"], entry.get("args", {})) for entry in parse(wanted)]
    found = unmet(wanted_calls(entries), list(listed(parse(made))))
    return plain([failure.wire() for failure in found])


def plain(value: object) -> object:
    """As a client reads it, but each number as `#` and the text sent: 1 and 1.0 and "1" stay apart."""
    return as_texts(parse(dumps(value)))


def as_texts(value: object) -> object:
    if isinstance(value, dict):
        return {key: as_texts(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_texts(item) for item in value]
    return f"#{value.text}" if isinstance(value, Number) else value


def test_two_equal_entries_need_two_calls():
    wanted = '[{"tool": "book", "args": {"seat": 1}}, {"tool": "book", "args": {"seat": 1}}]'
    call = '{"toolId": "book", "arguments": {"seat": 1}}'

    assert failures(wanted, f"[{call}]") == [{"kind": "missing", "tool": "book"}]
    assert failures(wanted, f"[{call}, {call}]") == []


FITS = [
    ("{}", "{}", "nothing asked for, nothing given"),
    ("{}", '{"a": 1}', "`{}` asks only for the call"),
    ("{}", None, "`{}` fits a call whose arguments were left out"),
    ("{}", "null", "`{}` fits arguments that are not an object"),
    ("{}", '"text"', "`{}` fits arguments that are not an object"),
    ("{}", "[1]", "`{}` fits arguments that are not an object"),
    ('{"a": 1}', '{"a": 1, "b": 2}', "more arguments than asked for are no fault"),
    ('{"a": 1}', '{"a": 1.0}', "1 and 1.0 are one number"),
    ('{"a": 100}', '{"a": 1e2}', "however it is written"),
    ('{"a": 0}', '{"a": -0.0}', "zero has no sign"),
    ('{"a": null}', '{"a": null}', "null is a value"),
    ('{"a": {"x": 1, "y": [2]}}', '{"a": {"y": [2.0], "x": 1}}', "the order of keys does not count"),
    ('{"a": 12345678901234567890}', '{"a": 12345678901234567890}', "a long integer equals itself"),
    ('{"a": 1e400}', '{"a": 10e399}', "a number no double holds is compared exactly"),
    ('{"a": "\\u0041"}', '{"a": "A"}', "an escape is the character it stands for"),
    ('{"a": "\\ud800"}', '{"a": "\\ud800"}', "a lone surrogate equals itself"),
    ('{"a": 1}', '{"a": 2, "a": 1}', "of repeated keys the last counts"),
]


@pytest.mark.parametrize(("args", "arguments", "reason"), FITS)
def test_an_entry_fits(args, arguments, reason):
    made = '[{"toolId": "t"}]' if arguments is None else f'[{{"toolId": "t", "arguments": {arguments}}}]'

    assert failures(f'[{{"tool": "t", "args": {args}}}]', made) == [], reason


FITS_NOT = [
    ('{"a": 1}', '{"a": "1"}', [{"path": "/a", "wanted": "#1", "got": "1"}], "a text is no number"),
    (
        '{"a": 1}',
        '{"a": true}',
        [{"path": "/a", "wanted": "#1", "got": True}],
        "true is no number, though Python's is 1",
    ),
    ('{"a": 0}', '{"a": false}', [{"path": "/a", "wanted": "#0", "got": False}], "nor is false"),
    ('{"a": null}', "{}", [{"path": "/a", "wanted": None}], "null asks for null: a field left out is none"),
    ('{"a": null}', '{"a": 0}', [{"path": "/a", "wanted": None, "got": "#0"}], "nothing but null is null"),
    ('{"a": 1}', '{"A": 1}', [{"path": "/a", "wanted": "#1"}], "names are exact; one not asked for is not told of"),
    ('{"a": 1}', None, [{"path": "", "wanted": {"a": "#1"}}], "arguments left out are no object"),
    ('{"a": 1}', '"a"', [{"path": "", "wanted": {"a": "#1"}, "got": "a"}], "arguments that are not an object"),
    ('{"a": 1}', "null", [{"path": "", "wanted": {"a": "#1"}, "got": None}], "arguments that are null"),
    ('{"0": 1}', "[1]", [{"path": "", "wanted": {"0": "#1"}, "got": ["#1"]}], "a list has places, not fields"),
    (
        '{"a": 9007199254740993}',
        '{"a": 9007199254740992}',
        [{"path": "/a", "wanted": "#9007199254740993", "got": "#9007199254740992"}],
        "as doubles these two would be equal",
    ),
    ('{"a": 1e400}', '{"a": 1e401}', [{"path": "/a", "wanted": "#1e400", "got": "#1e401"}], "both are beyond doubles"),
    (
        '{"a": {"x": 1}}',
        '{"a": {"x": 1, "y": 2}}',
        [{"path": "/a/y", "got": "#2"}],
        "extra is free only at the top: a field asked for is equal as a whole",
    ),
    (
        '{"a": {"x": 1, "y": null}}',
        '{"a": {"x": 1}}',
        [{"path": "/a/y", "wanted": None}],
        "a missing key differs from null",
    ),
    (
        '{"a": [1, 2]}',
        '{"a": [2, 1]}',
        [{"path": "/a/0", "wanted": "#1", "got": "#2"}, {"path": "/a/1", "wanted": "#2", "got": "#1"}],
        "the order of a list counts",
    ),
    ('{"a": [1]}', '{"a": [1, 2]}', [{"path": "/a/1", "got": "#2"}], "a longer list"),
    ('{"a": [1, {"b": 2}]}', '{"a": [1]}', [{"path": "/a/1", "wanted": {"b": "#2"}}], "a shorter list"),
    ('{"a": []}', '{"a": {}}', [{"path": "/a", "wanted": [], "got": {}}], "both empty, of two kinds"),
    (
        '{"flights": [{"no": "A", "date": "05-20"}, {"no": "B", "date": "05-21"}], "cabin": "eco"}',
        '{"flights": [{"no": "A", "date": "05-20"}, {"no": "B", "date": "05-22"}], "cabin": "bus"}',
        [
            {"path": "/flights/1/date", "wanted": "05-21", "got": "05-22"},
            {"path": "/cabin", "wanted": "eco", "got": "bus"},
        ],
        "as deep as they go along together, in the order asked",
    ),
    (
        '{"a/b": {"m~n": 1}}',
        '{"a/b": {"m~n": 2}}',
        [{"path": "/a~1b/m~0n", "wanted": "#1", "got": "#2"}],
        "escaped names",
    ),
    ('{"": 1}', '{"": 2}', [{"path": "/", "wanted": "#1", "got": "#2"}], "the empty name is a name"),
]


@pytest.mark.parametrize(("args", "arguments", "paths", "reason"), FITS_NOT)
def test_an_entry_does_not_fit_and_says_where(args, arguments, paths, reason):
    made = '[{"toolId": "t"}]' if arguments is None else f'[{{"toolId": "t", "arguments": {arguments}}}]'

    found = failures(f'[{{"tool": "t", "args": {args}}}]', made)

    assert found == [{"kind": "different", "tool": "t", "paths": paths}], reason


@pytest.mark.parametrize(
    ("wanted", "made", "expected", "reason"),
    [
        ([], [], [], "nothing wanted, nothing made"),
        ([], ["t1"], [], "nothing wanted: any call is free"),
        (["t1"], [], ["missing t"], "no call at all"),
        (["t1"], ["u1"], ["missing t"], "only another tool"),
        (["t1", "t2"], ["t2", "t1"], [], "the order of calls does not count"),
        (["t1", "t1"], ["t1", "t1", "t1"], [], "one call more than asked is free"),
        (["t1", "t2"], ["t1"], ["different t: 2, not 1"], "the only call was the one asked for first"),
        (["t1", "t1"], ["t1", "t2"], ["different t: 1, not 2"], "the call nobody asked for is the likely attempt"),
        (["t1", "t1"], ["t1", "u1"], ["missing t"], "called as asked, once too few"),
        (["t", "t1"], ["t1", "t2"], [], "the entry that asks for no argument makes room for the other"),
        (["t1", "t"], ["t1"], ["missing t"], "one call cannot stand for both"),
        (
            ["t", "t1"],
            ["t2"],
            ["different t: 1, not 2"],
            "the first entry has the call, the second says what it lacked",
        ),
        (["u1", "t1", "u2"], [], ["missing u", "missing t", "missing u"], "in the order of the entries, tools mixed"),
        (["t1"], ["T1"], ["missing t"], "tool names are exact"),
    ],
)
def test_as_many_entries_as_can_be_have_a_call_of_their_own(wanted, made, expected, reason):
    """`t1` is tool `t` with the one argument 1, `t` the tool without any."""
    entries = [ExpectedCall(name[0], one_argument(name)) for name in wanted]
    calls = [Call(tool=name[0], arguments=one_argument(name)) for name in made]

    assert [in_short(failure) for failure in unmet(wanted_calls(entries), calls)] == expected, reason


def one_argument(name: str) -> dict[str, str]:
    return {"n": name[1:]} if name[1:] else {}


def in_short(failure: Failure) -> str:
    told = [f"{difference.wanted}, not {difference.got}" for difference in failure.paths]
    return f"{failure.kind} {failure.tool}" + "".join(f": {one}" for one in told)


@pytest.mark.parametrize(
    ("made", "places", "reason"),
    [
        (['{"a": 9, "b": 9, "c": 9}', '{"a": 1, "b": 9, "c": 3}'], ["/b #9"], "fewest fields wrong"),
        (['{"a": 1, "b": 8, "c": 3}', '{"a": 1, "b": 7, "c": 3}'], ["/b #8"], "equally near: the one made first"),
        (
            ['{"a": 1, "b": {"x": 1, "y": 2}, "c": 3}', '{"a": 1, "b": {"z": 2}, "c": 3}'],
            ["/b/z #2"],
            "one field wrong in each: then fewest places",
        ),
        (['"text"', "{}"], ["/a", "/b", "/c"], "an object with nothing right is nearer than what is no object"),
        (['{"a": 1}', '{"a": 1, "c": 3}'], ["/b"], "a field left out is as wrong as another value"),
    ],
)
def test_the_nearest_call_is_the_one_told_of(made, places, reason):
    calls = ", ".join(f'{{"toolId": "t", "arguments": {text}}}' for text in made)

    (found,) = failures('[{"tool": "t", "args": {"a": 1, "b": {"z": 0}, "c": 3}}]', f"[{calls}]")

    told = [" ".join([place["path"], *([place["got"]] if "got" in place else [])]) for place in found["paths"]]
    assert told == places, reason


def test_no_more_places_are_told_than_can_be_read():
    many = "[" + ", ".join(["1"] * 500) + "]"

    (found,) = failures('[{"tool": "t", "args": {"a": []}}]', f'[{{"toolId": "t", "arguments": {{"a": {many}}}}}]')

    assert len(found["paths"]) == MAX_PATHS


@pytest.mark.parametrize(
    ("made", "expected", "reason"),
    [
        ([], [], "nothing called"),
        ([Call(tool="find")], [], "another tool"),
        ([Call(tool="refund")], ["refund"], "called once"),
        ([Call(tool="refund", error="Denied.")], ["refund"], "a call that failed was made all the same"),
        ([Call(tool="refund"), Call(tool="pay"), Call(tool="refund")], ["pay", "refund"], "each tool once, as listed"),
    ],
)
def test_a_forbidden_tool_fails_once_however_often_it_was_called(made, expected, reason):
    found = [failure.wire() for failure in forbidden(["pay", "refund", "refund"], made)]

    assert found == [{"kind": "forbidden", "tool": tool} for tool in expected], reason


@pytest.mark.parametrize(
    ("recorded", "made", "expected", "reason"),
    [
        ([], [], [], "no call expected and none made"),
        ([], ["find"], ["find"], "no call expected and one made"),
        (["find"], [], ["find"], "one expected and none made"),
        (["find", "find", "pay"], ["pay", "find"], [], "neither order nor number count"),
        (["find", "pay"], ["ask", "find", "note"], ["pay", "ask", "note"], "first those left out, then those new"),
    ],
)
def test_the_same_tools_are_a_set_of_names(recorded, made, expected, reason):
    found = [failure.wire() for failure in other_tools(recorded, [Call(tool=tool) for tool in made])]

    assert found == [{"kind": "tools-differ", "tool": tool} for tool in expected], reason


values = st.recursive(
    st.sampled_from([None, True, False, "1", "", *map(parse, ["0", "1", "1.0", "2"])]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b/", "~"]), inner, max_size=3),
    max_leaves=8,
)
arguments = st.dictionaries(st.sampled_from("ab"), st.sampled_from([parse("1"), parse("2"), None]), max_size=2)
entries = st.lists(st.builds(ExpectedCall, st.sampled_from("tu"), arguments), max_size=4)
calls = st.lists(st.builds(Call, tool=st.sampled_from("tu"), arguments=arguments | st.just("text")), max_size=4)


def fits(entry: ExpectedCall, call: Call) -> bool:
    given = call.arguments if isinstance(call.arguments, dict) else {}
    return entry.tool == call.tool and all(
        name in given and canonical(given[name]) == canonical(value) for name, value in entry.args.items()
    )


def most_that_fit(wanted: list[ExpectedCall], made: list[Call]) -> int:
    """By trying every way to give entries calls; None stands for no call."""
    places = [*range(len(made)), *[None] * len(wanted)]
    return max(
        sum(place is not None and fits(entry, made[place]) for entry, place in zip(wanted, way, strict=True))
        for way in itertools.permutations(places, len(wanted))
    )


@given(entries, calls)
def test_no_way_of_giving_calls_leaves_fewer_entries_over(wanted, made):
    assert len(unmet(wanted_calls(wanted), made)) == len(wanted) - most_that_fit(wanted, made)


@given(entries, calls, st.randoms())
def test_how_many_fail_does_not_hang_on_any_order(wanted, made, random):
    before = len(unmet(wanted_calls(wanted), made))
    random.shuffle(wanted)
    random.shuffle(made)

    assert len(unmet(wanted_calls(wanted), made)) == before


@given(values, values)
def test_values_differ_somewhere_exactly_when_they_are_not_equal(wanted, got):
    found = list(differences(wanted, got))

    assert bool(found) == (canonical(wanted) != canonical(got))
    for difference in found:
        assert resolve(wanted, difference.path) is difference.wanted
        assert resolve(got, difference.path) is difference.got


@pytest.mark.parametrize("same", [True, False])
def test_fifty_entries_and_four_hundred_calls_of_one_tool_take_no_time(same):
    wanted = wanted_calls(ExpectedCall("t", {"n": parse(str(n % 25)), "deep": {"x": [n % 2]}}) for n in range(50))
    made = [Call(tool="t", arguments={"n": parse(str(n % 30)), "deep": {"x": [0 if same else n]}}) for n in range(400)]

    started = time.perf_counter()
    found = unmet(wanted, made)

    assert time.perf_counter() - started < 2
    assert len(found) == sum(most_equal(wanted, made))


def most_equal(wanted, made):
    """How many entries of each (n, deep) are left: equal ones compete only with each other here."""
    for fields in {entry.fields for entry in wanted}:
        asked = sum(entry.fields == fields for entry in wanted)
        there = sum({(k, canonical(v)) for k, v in call.arguments.items()} == fields for call in made)
        yield max(0, asked - there)
