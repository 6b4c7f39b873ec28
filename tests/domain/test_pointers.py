"""RFC 6901 pointers by the contract's rules (7.2, 7.3)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corrections.rules.pointers import MISSING, escaped, is_pointer, resolve
from kindgi_site.exact_json import Number, parse

OUTPUT = parse(
    '{"": 1, "a/b": 2, "m~n": 3, "~1": 4, "list": ["zero", {"x": null}, ["deep"]], "text": "abc",'
    ' "null": null, "0": "key zero", "no": false, "-": "dash", "\\n": "line"}'
)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "/",
        "//",
        "/a",
        "/a~1b",
        "/m~0n",
        "/~01",
        "/~00",
        "/ ",
        "/a b",
        "/\n",
        "/\u2028",
        "/é",
        "/0/1",
        "/-",
        "/\x00",
    ],
)
def test_a_pointer_is_empty_or_tokens_led_by_slashes(text):
    assert is_pointer(text)


@pytest.mark.parametrize(
    "text", ["a", "a/b", " /a", "#/a", "/~", "/a~", "/~2", "/a~b", "/~/1", "/a/~01~", "\n", "/a~\n"]
)
def test_anything_else_is_not(text):
    assert not is_pointer(text)


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ("/", Number("1")),
        ("/a~1b", Number("2")),
        ("/m~0n", Number("3")),
        ("/~01", Number("4")),
        ("/list/0", "zero"),
        ("/list/1/x", None),
        ("/list/2/0", "deep"),
        ("/text", "abc"),
        ("/null", None),
        ("/no", False),
        ("/0", "key zero"),
        ("/-", "dash"),
        ("/\n", "line"),
    ],
)
def test_a_pointer_leads_to_what_it_names(pointer, value):
    assert resolve(OUTPUT, pointer) == value


@pytest.mark.parametrize("value", [None, False, "", [], {}, Number("0"), OUTPUT])
def test_the_empty_pointer_is_the_whole_output(value):
    assert resolve(value, "") is value


@pytest.mark.parametrize(
    "pointer",
    [
        "/missing",
        "/A",
        "//",
        "/a",
        "/a/b",
        "/m~1n",
        "/~00",
        "/~1",
        "/list/3",
        "/list/-",
        "/list/01",
        "/list/00",
        "/list/+1",
        "/list/-1",
        "/list/1.0",
        "/list/1e0",
        "/list/ 1",
        "/list/",
        "/list/\u0661",
        "/list/1_0",
        "/list/999999999",
        "/list/" + "9" * 5000,
        "/list/length",
        "/text/0",
        "/text/",
        "/null/",
        "/null/x",
        "/no/0",
        "/a~1b/0",
        "/list/1/x/y",
    ],
)
def test_a_pointer_that_leads_nowhere(pointer):
    assert resolve(OUTPUT, pointer) is MISSING


@pytest.mark.parametrize("value", [None, "text", True, Number("1"), [], {}])
def test_there_is_nothing_below_a_leaf_or_in_an_empty_container(value):
    assert resolve(value, "/") is MISSING
    assert resolve(value, "/0") is MISSING


@given(st.text())
def test_every_key_can_be_pointed_at(key):
    pointer = f"/{escaped(key)}"

    assert is_pointer(pointer)
    assert resolve({key: "here", f"{key}x": "not here"}, pointer) == "here"
