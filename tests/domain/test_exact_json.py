"""JSON read without losing anything (decisions 2 and 11, contract 4.2 and 4.3)."""

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kindgi_site import exact_json
from kindgi_site.exact_json import JsonText, NotJsonError, Number, TooDeepError, canonical, parse, parse_bytes

LONG = "7" * 5000
HUGE_POWER = "9" * 6000


def nested(levels: int, brackets: str = "[]") -> str:
    opening, closing = ("[", "]") if brackets == "[]" else ('{"a":', "}")
    inside = "" if brackets == "[]" else "1"
    return opening * levels + inside + closing * levels


@pytest.mark.parametrize("brackets", ["[]", "{}"])
def test_a_hundred_and_twenty_eight_levels_are_read(brackets):
    parse(nested(128, brackets))


@pytest.mark.parametrize("brackets", ["[]", "{}"])
@pytest.mark.parametrize("levels", [129, 900, 200_000])
def test_deeper_is_refused(levels, brackets):
    with pytest.raises(TooDeepError):
        parse(nested(levels, brackets))


def test_depth_is_the_deepest_branch_not_the_sum():
    parse("[" + ",".join([nested(127)] * 50) + "]")

    with pytest.raises(TooDeepError):
        parse(f"[[], {nested(128)}, []]")


def hidden(levels: int, beside: str = "1") -> str:
    """So many levels, all but the first below a key that comes again and so is the last to count."""
    return f'{{"a":{nested(levels - 1)},"b":{beside},"a":1}}'


@pytest.mark.parametrize("levels", [129, 500, 900])
@pytest.mark.parametrize("beside", ["1", nested(127), '"]]]]"', '"\\\\\\"]]"'])
def test_what_a_repeated_key_hides_is_no_deeper(levels, beside):
    """It is kept as sent, and who reads the text must not be lost in it."""
    parse(hidden(128, beside))

    with pytest.raises(TooDeepError):
        parse(hidden(levels, beside))


@pytest.mark.parametrize("text", ['"' + "[" * 500 + '"', f'"{{\\"{"[" * 200}"', '"\\\\", ' + ", ".join(['"[{"'] * 200)])
def test_brackets_in_a_text_are_no_levels(text):
    parse(f"[{text}, {nested(127)}]")


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "NaN",
        "Infinity",
        "-Infinity",
        "[1, NaN]",
        '{"a": -Infinity}',
        "nul",
        "[1,]",
        '{"a": 1,}',
        "{a: 1}",
        "'a'",
        "1 2",
        "[] []",
        "01",
        "+1",
        ".5",
        "1.",
        "1e",
        "--1",
        "0x10",
        '"a\nb"',
        '"\\x41"',
        '"unfinished',
        "[",
        '{"a"',
        "[1] // why",
        "\ufeff[]",
        "\u00a0[]",
        "\u0661",
    ],
)
def test_what_is_not_json_is_refused(text):
    with pytest.raises(NotJsonError):
        parse(text)


@pytest.mark.parametrize("body", [b"\xff", b'"\xc3"', b'"\xed\xa0\x80"', b'{"a": "\xc0\x80"}', "[]".encode("utf-16")])
def test_bytes_that_are_not_utf8_are_refused(body):
    with pytest.raises(NotJsonError):
        parse_bytes(body)


def test_one_leading_byte_order_mark_is_dropped():
    assert parse_bytes(b'\xef\xbb\xbf {"a": []}') == (' {"a": []}', {"a": []})

    with pytest.raises(NotJsonError):
        parse_bytes(b"\xef\xbb\xbf\xef\xbb\xbf{}")


EQUAL = [
    ("1", "1.0"),
    ("1", "1e0"),
    ("1", "10E-1"),
    ("1", "0.01e+2"),
    ("0", "-0"),
    ("0", "-0.0e7"),
    ("0", "0e999999999999999999999"),
    ("0.1", "0.10"),
    ("1e400", "10e399"),
    ("1e-400", "0.1e-399"),
    ("1e21", "1" + "0" * 21),
    ("12345678901234567890", "12345678901234567890.0"),
    (LONG, f"{LONG}.000"),
    (f"{LONG}0", f"{LONG}e1"),
    (f"1e{HUGE_POWER}", f"1.0E+{HUGE_POWER}"),
    ('"a"', '"\\u0061"'),
    ('"/"', '"\\/"'),
    ('"\U0001f600"', '"\\ud83d\\ude00"'),
    ('{"a":1,"b":2}', ' { "b" : 2 , "a" : 1.0 } '),
    ('{"a":1,"a":2}', '{"a":2}'),
    ('[{"b":[1,true],"a":null}]', '[{"a":null,"b":[1e0,true]}]'),
]
DIFFERENT = [
    ("1", "true"),
    ("0", "false"),
    ("1", '"1"'),
    ("null", '"null"'),
    ("null", "false"),
    ("0", "null"),
    ("[]", "{}"),
    ('""', "null"),
    ("1", "-1"),
    ("[1,2]", "[2,1]"),
    ('{"a":null}', "{}"),
    ('{"a":1}', '{"A":1}'),
    ("0.1", "0.1000000000000000055511151231257827"),
    ("9007199254740993", "9007199254740992"),
    ("12345678901234567890", "12345678901234567891"),
    ("1e400", "1e401"),
    ("1e400", "1e4000"),
    ("1e100000000000000000", "1e1000000000000000000"),
    ("1e1000000000000000000", "1e10000000000000000000"),
    ("1e-400", "0"),
    ("1e400", "-1e400"),
    (f"1{LONG}", f"2{LONG}"),
    (f"{LONG}1", f"{LONG}2"),
    (f"1e{HUGE_POWER}", f"1e-{HUGE_POWER}"),
    (f"1e{HUGE_POWER}", "1e400"),
    ('"\\u00e9"', '"e\\u0301"'),
    ('"\\ud800"', '"\\ud801"'),
]


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_equal_values_have_one_canonical_text(one, other):
    assert canonical(parse(one)) == canonical(parse(other))


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_values_have_different_canonical_texts(one, other):
    assert canonical(parse(one)) != canonical(parse(other))


@pytest.mark.parametrize(("one", "other"), [pair for pair in EQUAL if pair[0][-1].isdigit()])
def test_equal_numbers_are_equal_and_hash_alike(one, other):
    assert parse(one) == parse(other)
    assert hash(parse(one)) == hash(parse(other))


def test_a_number_equals_no_python_number_and_no_boolean():
    assert Number("1") != 1
    assert Number("1") != True  # noqa: E712 - the very comparison that Python gets wrong
    assert parse("[1, true]") != parse("[true, 1]")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"b": 1.0, "a": [true, null, "\\u00e9\\n"]}', '{"a":[true,null,"é\\n"],"b":1}'),
        ("1.50", "1.5"),
        ("-0.0", "0"),
        ("100", "100"),
        ("1e20", "100000000000000000000"),
        ("1e21", "1e+21"),
        ("123e20", "1.23e+22"),
        ("0.000001", "0.000001"),
        ("0.0000001", "1e-7"),
        ("1.25e-7", "1.25e-7"),
        ("{}", "{}"),
    ],
)
def test_canonical_text_is_the_contracts_form(text, expected):
    assert canonical(parse(text)) == expected


def test_canonical_refuses_what_is_no_json_type():
    with pytest.raises(TypeError, match="set is not JSON"):
        canonical({1})


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("0", 0),
        ("-0.0", 0),
        ("2.0", 2),
        ("-30e1", -300),
        ("1e17", 10**17),
        ("1e18", None),
        ("2.5", None),
        ("1e-1", None),
        (LONG, None),
        (f"1e{HUGE_POWER}", None),
        (f"1e-{HUGE_POWER}", None),
        ("0e9999999", 0),
    ],
)
def test_a_whole_number_of_ordinary_size_is_an_int(text, whole):
    assert Number(text).whole() == whole


PARTS = [
    "1.0",
    "12345678901234567890",
    "1e400",
    LONG,
    '"\\u0000"',
    '"\\ud800"',
    '"\\/ \\" ] } , :"',
    '{ "b" : 1 , "a" : [ 1.0 ] }',
    '{"k":1,"k":2}',
    "[ ]",
    "{\n}",
    "null",
    "true",
    '"é\u2028"',
]


@pytest.mark.parametrize("white", ["", " ", "\n\t\r "])
def test_members_and_elements_keep_the_text_of_every_part(white):
    keyed = {f"key {number}": part for number, part in enumerate(PARTS)}
    an_object = (
        white + "{" + ",".join(f"{white}{json.dumps(k)}{white}:{white}{part}{white}" for k, part in keyed.items()) + "}"
    )
    an_array = f"{white}[" + ",".join(f"{white}{part}{white}" for part in PARTS) + f"]{white}"

    assert exact_json.members(an_object) == keyed
    assert list(exact_json.members(an_object)) == list(keyed)
    assert list(exact_json.elements(an_array)) == PARTS


@pytest.mark.parametrize("white", ["", " ", "\n"])
def test_an_empty_container_has_no_parts(white):
    assert exact_json.members(f"{white}{{{white}}}{white}") == {}
    assert list(exact_json.elements(f"{white}[{white}]{white}")) == []


def test_of_a_repeated_key_the_last_member_is_taken():
    assert exact_json.members('{"a": 1, "b": 2, "\\u0061": 3.0}') == {"a": "3.0", "b": "2"}


def test_joined_parts_are_the_texts_themselves():
    assert exact_json.joined_object({'a"b': "1.0", "\ud800": "[ ]"}) == '{"a\\"b":1.0,"\\ud800":[ ]}'
    assert exact_json.joined_array(["1e400", '{"b":1, "a":2}']) == '[1e400,{"b":1, "a":2}]'


@pytest.mark.parametrize("text", ['{"b":1.0,"a":12345678901234567890}', '["\\u0000","\\ud800",1e400,null,true,{}]'])
def test_a_value_is_written_with_its_numbers_and_order_as_read(text):
    assert exact_json.dumps(parse(text)) == text


def test_json_text_is_equal_by_text_and_canonical_by_value():
    one, other = JsonText('{"a":1}'), JsonText('{"a": 1.0}')

    assert one == JsonText('{"a":1}')
    assert len({one, JsonText('{"a":1}'), other}) == 2
    assert one != other
    assert one.canonical == other.canonical
    assert one.value == {"a": Number("1")}
    assert JsonText.of({"a": [1, Number("1.0")]}).text == '{"a":[1,1.0]}'


texts = st.text(st.characters(exclude_categories=[]))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(texts, inner, max_size=5),
    max_leaves=25,
)


def as_python(value):
    """Numbers as the standard library reads them."""
    if isinstance(value, Number):
        return json.loads(value.text)
    if isinstance(value, list):
        return [as_python(item) for item in value]
    return {key: as_python(item) for key, item in value.items()} if isinstance(value, dict) else value


@given(values, st.sampled_from([None, 0, 2]), st.booleans())
def test_reading_agrees_with_the_standard_library(value, indent, ascii_only):
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)

    assert repr(as_python(parse(text))) == repr(json.loads(text))
    assert json.loads(exact_json.dumps(parse(text))) == json.loads(text)


@given(values)
def test_canonical_text_reads_back_as_an_equal_value(value):
    read = parse(json.dumps(value))

    assert parse(canonical(read)) == read
    assert canonical(parse(canonical(read))) == canonical(read) == canonical(value)


@given(st.dictionaries(texts, values, max_size=6), st.sampled_from([None, 1]))
def test_members_are_the_parts_that_make_the_object(value, indent):
    parts = exact_json.members(json.dumps(value, indent=indent))

    assert {key: json.loads(part) for key, part in parts.items()} == value
    assert list(parts) == list(value)
    assert json.loads(exact_json.joined_object(parts)) == value


@given(st.lists(values, max_size=6), st.sampled_from([None, 1]))
def test_elements_are_the_parts_that_make_the_array(value, indent):
    parts = list(exact_json.elements(json.dumps(value, indent=indent)))

    assert [json.loads(part) for part in parts] == value
    assert json.loads(exact_json.joined_array(parts)) == value


decimals = st.from_regex(r"-?(0|[1-9][0-9]{0,12})(\.[0-9]{1,8})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)


@given(decimals, decimals)
def test_numbers_compare_as_exact_decimals_do(one, other):
    assert (Number(one) == Number(other)) == (Decimal(one) == Decimal(other))
    assert Decimal(Number(one).canonical()) == Decimal(one)
