"""Untrusted text made fit to show."""

import pytest

from corrections.presenters.text import cut, first_words, is_longer, json_head, json_words, plain, size_words
from corrections.presenters.trees import BLOB, WHOLE_TREE, tree_html, value_html
from kindgi_site.exact_json import Number, parse


@pytest.mark.parametrize(
    ("text", "shown"),
    [("a\nb\tc", "a\nb\tc"), ("a\r\nb", "a\nb"), ("\x00\x1b", "␀␛"), ("\ud800x", "\ufffdx"), ("\x7f", "␡")],
)
def test_what_cannot_be_shown_gets_a_sign(text, shown):
    assert plain(text) == shown


@pytest.mark.parametrize(
    ("head", "words"),
    [
        ('{"message": "He said \\"hi\\""}', 'He said "hi"'),
        ('{"id": "x", "message": "Where is it?"}', "Where is it?"),
        ('{"a": 1, "b": ["x y', "x y"),
        ('"just text"', "just text"),
        ('{"message": "cut in an esc\\u00', "cut in an esc"),
        ('{"message": "cut in an esc\\', "cut in an esc"),
        ('{"message": "\\ud800"}', "\ufffd"),
        ('{"message": "two\\nlines"}', "two lines"),
        ("[1, 2]", "[1, 2]"),
        ("", ""),
    ],
)
def test_first_words_of_a_json_text_that_may_be_cut_anywhere(head, words):
    assert first_words(head) == words


def test_json_is_shown_with_its_numbers_as_written_and_its_letters_as_letters():
    assert json_words(parse('{"π": [1.0, 1e400, "ä", null, true]}')) == '{"π": [1.0, 1e400, "ä", null, true]}'
    assert json_words(parse('{"a": [1]}'), indent=2) == '{\n  "a": [\n    1\n  ]\n}'


def test_cut_ends_at_a_word():
    assert cut("one two three four", 15) == "one two three…"
    assert cut("onetwothreefour", 8) == "onetwot…"
    assert cut("short", 8) == "short"


def test_sizes():
    assert [size_words(n) for n in (1, 999, 1500, 20_000, 3_100_000)] == [
        "1 character", "999 characters", "1.5 kB", "20 kB", "3.1 MB",
    ]  # fmt: skip


def test_tree_folds_and_escapes():
    html = tree_html(parse('{"<k>": ["<v>", 1.0]}'), "/raw/")

    assert html == (
        '<ul class="tree"><li><details open><summary><span class="tree-hint">1 field</span></summary><ul>'
        '<li><details><summary><span class="tree-key">&lt;k&gt;</span> <span class="tree-hint">list of 2</span>'
        '</summary><ul><li><span class="tree-key">0</span> <span class="tree-text">&lt;v&gt;</span></li>'
        '<li><span class="tree-key">1</span> <span class="tree-value">1.0</span></li></ul></details></li>'
        "</ul></details></li></ul>"
    )


def test_large_values_are_size_and_kind_with_a_link():
    html = tree_html({"small": "x", "large": "y" * (BLOB + 1)}, "/raw/")

    assert "y" * 100 not in html
    assert '<span class="tree-hint">text, 20 kB</span> <a href="/raw/">Open</a>' in html
    assert "y" * 100 not in value_html("y" * (BLOB + 1), "/raw/")


def test_a_tree_ends_somewhere_however_much_there_is():
    html = tree_html([["x" * 1000] * 10] * 300, "/raw/")
    many = tree_html([1] * 100_000, "/raw/")

    assert len(html) < WHOLE_TREE * 3
    assert len(many) < WHOLE_TREE * 3
    assert html.count("… 296 more") == 1
    assert '<a href="/raw/">Open</a>' in html


def test_the_head_of_json_is_read_no_further_than_asked():
    value = parse('{"a": [1.0, "b"], "c": {}}')

    assert json_head(value, 100) == json_words(value)
    assert json_head(value, 8) == '{"a": [1.0'
    assert len(json_head(["x" * 10] * 1_000_000, 100)) < 130


@pytest.mark.parametrize(
    ("value", "longer"),
    [
        ("x" * 100, False),
        ("x" * 101, True),
        (["x" * 40] * 2, False),
        (["x" * 40] * 3, True),
        ({"k" * 90: "x" * 20}, True),
        ([Number("1" * 60), Number("2" * 60)], True),
        ([None, True, {}, []], False),
    ],
)
def test_whether_something_is_longer_is_told_by_what_it_says(value, longer):
    assert is_longer(value, 100) is longer


def test_telling_whether_something_is_longer_reads_no_further_than_it_must():
    class Watched(list):
        def __iter__(self):
            yield "x" * 101
            raise AssertionError("read on")

    assert is_longer(Watched(["x"]), 100)
