"""JSON as nested folds, written as HTML in one pass; everything in it is escaped text."""

from typing import Any

from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from corrections.presenters.text import cut, json_head, json_words, kind_words, plain, size_words

BLOB = 20_000  # a value whose JSON is longer is shown as its size and kind
WHOLE_TREE = 40_000  # what one tree may print before the rest becomes blobs
LINE = 40  # what a line of it costs beside its words
OPEN_DEPTH = 1


class _Tree:
    def __init__(self, raw_url: str) -> None:
        self.raw_url = raw_url
        self.left = WHOLE_TREE
        self.parts: list[str] = []

    def add(self, key: str | None, value: Any, depth: int) -> None:
        is_leaf = not isinstance(value, dict | list)
        size = len(json_head(value, BLOB)) if depth == 1 or is_leaf else 0
        if depth and size > BLOB:
            self._blob(key, value)
        elif isinstance(value, dict | list) and value:
            self._fold(key, value, depth)
        else:
            self.left -= size + LINE
            self.parts.append(f"<li>{_key(key)}{_leaf(value)}</li>")

    def _fold(self, key: str | None, value: Any, depth: int) -> None:
        opened = " open" if depth < OPEN_DEPTH else ""
        hint = escape(kind_words(value))
        self.parts.append(
            f'<li><details{opened}><summary>{_key(key)}<span class="tree-hint">{hint}</span></summary><ul>'
        )
        pairs = value.items() if isinstance(value, dict) else ((str(index), part) for index, part in enumerate(value))
        for place, (name, part) in enumerate(pairs):
            if self.left <= 0:
                self._rest(len(value) - place)
                break
            self.add(name, part, depth + 1)
        self.parts.append("</ul></details></li>")

    def _rest(self, count: int) -> None:
        more = ngettext("%(count)d more", "%(count)d more", count) % {"count": count}
        link = format_html('<a href="{}">{}</a>', self.raw_url, _("Open"))
        self.parts.append(f'<li><span class="blob"><span class="tree-hint">… {escape(more)}</span> {link}</span></li>')

    def _blob(self, key: str | None, value: Any) -> None:
        self.left -= LINE
        self.parts.append(f"<li>{_key(key)}{blob_html(value, len(json_words(value)), self.raw_url)}</li>")


def tree_html(value: Any, raw_url: str) -> SafeString:
    """A foldable tree of a parsed value; what is too large in it is a link to `raw_url`."""
    tree = _Tree(raw_url)
    tree.add(None, value, 0)
    return mark_safe(f'<ul class="tree">{"".join(tree.parts)}</ul>')  # noqa: S308 - every part is escaped above


def blob_html(value: Any, size: int, raw_url: str) -> SafeString:
    return format_html(
        '<span class="blob"><span class="tree-hint">{}, {}</span> <a href="{}">{}</a></span>',
        kind_words(value),
        size_words(size),
        raw_url,
        _("Open"),
    )


def value_html(value: Any, raw_url: str) -> SafeString:
    """A value beside its name: text and numbers as they are, small JSON in a line, more of it folded."""
    if isinstance(value, str):
        return blob_html(value, len(value), raw_url) if len(value) > BLOB else format_html("{}", plain(value))
    words = json_head(value, BLOB)
    if len(words) <= 60:
        return format_html('<span class="json">{}</span>', words)
    if len(words) > BLOB:
        return blob_html(value, len(json_words(value)), raw_url)
    return format_html(
        '<details class="value-fold"><summary><span class="json">{}</span></summary>{}</details>',
        cut(words, 90),
        tree_html(value, raw_url),
    )


def _key(key: str | None) -> str:
    return "" if key is None else f'<span class="tree-key">{escape(plain(key))}</span> '


def _leaf(value: Any) -> str:
    if isinstance(value, str):
        return f'<span class="tree-text">{escape(plain(value))}</span>'
    return f'<span class="tree-value">{escape(json_words(value))}</span>'
