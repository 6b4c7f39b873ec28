"""Markdown of untrusted authors as HTML that can do nothing: no markup of theirs, nothing fetched."""

from collections.abc import MutableMapping, Sequence
from html import unescape
from typing import Any

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

_TAGS = {
    "a", "blockquote", "br", "code", "del", "em", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "s", "strong",
    "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
_ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}


class _Renderer(RendererHTML):
    """Images become their words, and headings stand below the page's own."""

    def image(self, tokens: Sequence[Token], index: int, _options: Any, _env: MutableMapping[str, Any]) -> str:
        return nh3.clean_text(tokens[index].content or str(tokens[index].attrs.get("src", "")))

    def heading_open(self, tokens: Sequence[Token], index: int, *_: Any) -> str:
        return f"<h{_level(tokens[index])}>"

    def heading_close(self, tokens: Sequence[Token], index: int, *_: Any) -> str:
        return f"</h{_level(tokens[index])}>\n"


def _level(token: Token) -> int:
    return min(int(token.tag[1]) + 2, 6)


_markdown = MarkdownIt("commonmark", {"html": False, "breaks": True}, renderer_cls=_Renderer).enable(
    ["table", "strikethrough"]
)


def markdown_words(text: str, *, most: int | None = None) -> str:
    """The words alone, for where there is no room for more; each block begins a line. Nothing but marks stays so.

    No further than `most` characters of the text are read; … ends the words where it goes on.
    """
    start = text[:most]
    lines = unescape(nh3.clean(_markdown.render(start), tags=set())).splitlines()
    words = "\n".join(line for line in lines if line.strip()) or start
    return words if start == text else words + "…"


def markdown_html(text: str) -> SafeString:
    dirty = _markdown.render(text)
    clean = nh3.clean(
        dirty,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer",
    )
    return mark_safe(clean)  # noqa: S308 - nh3 has just cleaned it
