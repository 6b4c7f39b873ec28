"""Untrusted text made fit to show: never markup, never a character that breaks the page."""

import json
import re
from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from corrections.rules.pointers import MISSING
from kindgi_site.exact_json import Number

# Lone surrogates cannot be encoded, and control characters have no shape: each gets one of its own.
_UNSHOWABLE = re.compile("[\ud800-\udfff\x00-\x08\x0b-\x1f\x7f]")
_FIRST_WORDS = re.compile(
    r'"(?:message|query|question|text|content|prompt|topic|title|request)"\s*:\s*"((?:[^"\\]|\\.)*)', re.DOTALL
)
_ANY_WORDS = re.compile(r'(?:^|[:\[])\s*"((?:[^"\\]|\\.)*)', re.DOTALL)
_CUT_ESCAPE = re.compile(r"(?:\\u[0-9a-fA-F]{0,3}|\\)$")


def plain(text: str) -> str:
    """The text with what cannot be shown replaced by a visible sign."""
    return _UNSHOWABLE.sub(_sign, text.replace("\r\n", "\n"))


def _sign(found: re.Match[str]) -> str:
    code = ord(found.group())
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\ufffd"


def first_words(json_head: str) -> str:
    """What a person would read first in a JSON text, which may be cut off anywhere."""
    found = _FIRST_WORDS.search(json_head) or _ANY_WORDS.search(json_head)
    words = _unescaped(found.group(1)) if found else json_head
    return " ".join(plain(words).split())


def _unescaped(inner: str) -> str:
    try:
        return str(json.loads(f'"{_CUT_ESCAPE.sub("", inner)}"', strict=False))
    except json.JSONDecodeError:
        return inner


def json_words(value: Any, *, indent: int | None = None, level: int = 0) -> str:
    """JSON as people read it: numbers as written, letters as letters, not escapes."""
    match value:
        case Number():
            return value.text
        case dict():
            parts = [
                f"{_quoted(key)}: {json_words(part, indent=indent, level=level + 1)}" for key, part in value.items()
            ]
            return _bracketed("{", parts, "}", indent, level)
        case list():
            parts = [json_words(part, indent=indent, level=level + 1) for part in value]
            return _bracketed("[", parts, "]", indent, level)
        case str():
            return _quoted(value)
    return json.dumps(value)


def _quoted(text: str) -> str:
    return plain(json.dumps(text, ensure_ascii=False))


def _bracketed(start: str, parts: list[str], end: str, indent: int | None, level: int) -> str:
    if indent is None or not parts:
        return start + ", ".join(parts) + end
    gap = "\n" + " " * indent * (level + 1)
    return start + gap + f",{gap}".join(parts) + "\n" + " " * indent * level + end


def json_head(value: Any, most: int) -> str:
    """The start of `json_words`, whole when it is no longer than `most`, else a little more than that."""
    parts: list[str] = []
    left = most
    for token in _tokens(value):
        parts.append(token)
        left -= len(token)
        if left < 0:
            break
    return "".join(parts)


def is_longer(value: Any, most: int) -> bool:
    """Whether a text, or anything else as JSON, has more characters than `most`; reads no further than it must.

    Escapes and brackets are not counted: it is asked to tell a screenful from a megabyte.
    """
    for length in _lengths(value):
        most -= length
        if most < 0:
            return True
    return False


def _lengths(value: Any) -> Iterator[int]:
    match value:
        case str():
            yield len(value)
        case Number():
            yield len(value.text)
        case dict():
            for key, part in value.items():
                yield len(key) + len('"": , ')
                yield from _lengths(part)
        case list():
            for part in value:
                yield len(", ")
                yield from _lengths(part)


def _tokens(value: Any) -> Iterator[str]:
    match value:
        case dict():
            yield "{"
            for index, (key, part) in enumerate(value.items()):
                yield f"{', ' if index else ''}{_quoted(key)}: "
                yield from _tokens(part)
            yield "}"
        case list():
            yield "["
            for index, part in enumerate(value):
                yield ", " if index else ""
                yield from _tokens(part)
            yield "]"
        case _:
            yield json_words(value)


def value_words(value: Any) -> str:
    """One value in a sentence or an input: a text without quotes, anything else as JSON."""
    return plain(value) if isinstance(value, str) else json_words(value)


def cut(text: str, most: int) -> str:
    """The text up to a length, at the end of a word when one ends near there."""
    if len(text) <= most:
        return text
    start = text[: most - 1]
    at_word = start.rpartition(" ")[0]
    return (at_word if len(at_word) > most * 0.7 else start).rstrip(" .,;:") + "…"


def size_words(characters: int) -> str:
    if characters < 1000:
        return ngettext("%(count)d character", "%(count)d characters", characters) % {"count": characters}
    if characters < 1_000_000:
        return _("%(size)s kB") % {"size": f"{characters / 1000:.1f}".removesuffix(".0")}
    return _("%(size)s MB") % {"size": f"{characters / 1_000_000:.1f}".removesuffix(".0")}


def kind_words(value: Any) -> str:
    match value:
        case dict():
            return ngettext("%(count)d field", "%(count)d fields", len(value)) % {"count": len(value)}
        case list():
            return ngettext("list of %(count)d", "list of %(count)d", len(value)) % {"count": len(value)}
        case str():
            return _("text")
    return _("value") if value is not MISSING else _("not recorded")


def shortened_id(text: str) -> str:
    """A long id cut in the middle: both ends tell ids apart."""
    return text if len(text) <= 14 else f"{text[:8]}…{text[-4:]}"
