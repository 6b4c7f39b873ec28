"""Markdown of untrusted authors does nothing but look right."""

import pytest

from kindgi_site.markdown import markdown_html, markdown_words


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("**bold** and *slanted*", "<p><strong>bold</strong> and <em>slanted</em></p>\n"),
        ("one\ntwo", "<p>one<br>\ntwo</p>\n"),
        ("# Title", "<h3>Title</h3>\n"),
        ("<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>\n"),
        ('<img src=x onerror="alert(1)">', '<p>&lt;img src=x onerror="alert(1)"&gt;</p>\n'),
        ("[a](https://a.example/)", '<p><a href="https://a.example/" rel="noopener noreferrer">a</a></p>\n'),
        ("[a](javascript:alert(1))", "<p>[a](javascript:alert(1))</p>\n"),
        ("[a](/admin/)", '<p><a href="/admin/" rel="noopener noreferrer">a</a></p>\n'),
        ("![a cat](https://a.example/cat.png)", "<p>a cat</p>\n"),
        ("![](https://a.example/cat.png)", "<p>https://a.example/cat.png</p>\n"),
        ('![<b onclick="x">](https://a.example/)', '<p>&lt;b onclick="x"&gt;</p>\n'),
        ("[a](data:text/html,x)", "<p>[a](data:text/html,x)</p>\n"),
    ],
)
def test_markdown(text, html):
    assert markdown_html(text) == html


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("**bold**, `code` and *slanted*", "bold, code and slanted"),
        ("# Title\n\nFirst:\n\n- one\n- **two**\n\n1. three", "Title\nFirst:\none\ntwo\nthree"),
        ("one\ntwo", "one\ntwo"),
        ("2 * 3 * 4 < 5 & snake_case_name &amp; 6 > 1", "2 * 3 * 4 < 5 & snake_case_name & 6 > 1"),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
        ("[a](https://a.example/) ![a cat](https://a.example/cat.png)", "a a cat"),
        ("**cut in the mid", "**cut in the mid"),
        ("|a|b|\n|-|-|\n|1|2|", "a\nb\n1\n2"),
        ("---", "---"),
        ("", ""),
    ],
)
def test_words_alone(text, words):
    assert markdown_words(text) == words


def test_words_of_a_start_tell_that_it_goes_on():
    text = "**bold** and more"

    assert [markdown_words(text, most=most) for most in (8, 17, 18)] == ["bold…", "bold and more", "bold and more"]


def test_nothing_that_is_made_carries_a_style_or_a_script():
    html = markdown_html("|a|b|\n|:-|-:|\n|1|2|\n\n```js\nx\n```\n")

    assert "style" not in html
    assert "class" not in html
