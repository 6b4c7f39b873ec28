"""JSON read without losing anything: exact numbers, the text of each part, canonical text. Plain Python.

Decisions 2 and 11 of the contract: content is evidence and comes back as it was sent, so it is
kept as text, and where it is parsed a number keeps its digits (`1.0`, `1e400`, long integers).
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from json.decoder import JSONDecodeError, scanstring  # type: ignore[attr-defined]
from typing import Any, NoReturn

MAX_DEPTH = 128

_WHITE = " \t\n\r"
_BRACKETS = re.compile(r"[\[{]+|[\]}]+")
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


class NotJsonError(ValueError):
    """The text is not JSON."""


class TooDeepError(ValueError):
    """The text nests deeper than MAX_DEPTH."""


@dataclass(frozen=True, slots=True, eq=False)
class Number:
    """A JSON number as it was written. Compares by exact value, and never equals a boolean."""

    text: str

    def decimal_parts(self) -> tuple[bool, str, int]:
        """(negative, digits without outer zeros, exponent): the value is ± 0.digits times 10^exponent."""
        mantissa, _, power = self.text.lower().partition("e")
        negative = mantissa.startswith("-")
        whole, _, fraction = mantissa.lstrip("-").partition(".")
        digits = (whole + fraction).lstrip("0")
        exponent = len(digits) - len(fraction) + _power(power)
        digits = digits.rstrip("0")
        return (negative, digits, exponent) if digits else (False, "", 0)

    def whole(self) -> int | None:
        """The value as an int when it is whole and has at most 18 digits, else None."""
        negative, digits, exponent = self.decimal_parts()
        if not digits:
            return 0
        if len(digits) > exponent or exponent > 18:
            return None
        magnitude = int(digits.ljust(exponent, "0"))
        return -magnitude if negative else magnitude

    def canonical(self) -> str:
        """Shortest form, integral values without a point (contract 4.3); exact at any size."""
        negative, digits, exponent = self.decimal_parts()
        if not digits:
            return "0"
        sign = "-" if negative else ""
        if 0 < exponent <= 21:
            whole, fraction = digits[:exponent].ljust(exponent, "0"), digits[exponent:]
            return sign + whole + (f".{fraction}" if fraction else "")
        if -6 < exponent <= 0:
            return f"{sign}0.{'0' * -exponent}{digits}"
        tail = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{tail}e{exponent - 1:+d}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Number) and self.decimal_parts() == other.decimal_parts()

    def __hash__(self) -> int:
        return hash(self.decimal_parts())

    def __str__(self) -> str:
        return self.text


def _power(text: str) -> int:
    # An exponent of any length is legal JSON, but Python makes no int of more than 4300 digits.
    clipped = text.lstrip("+-").lstrip("0")[:4000] or "0"
    return -int(clipped) if text.startswith("-") else int(clipped)


def _refuse_constant(name: str) -> NoReturn:
    raise NotJsonError(f"{name} is not JSON")


_decoder = json.JSONDecoder(parse_float=Number, parse_int=Number, parse_constant=_refuse_constant)
_scan: Callable[[str, int], tuple[Any, int]] = _decoder.scan_once  # type: ignore[attr-defined]


def parse(text: str) -> Any:
    """The value of a JSON text, numbers as `Number`.

    Raises NotJsonError for anything that is not exactly one JSON value, TooDeepError beyond MAX_DEPTH.
    """
    value = _decoded(text)
    _check_depth(text, value)
    return value


def _decoded(text: str) -> Any:
    try:
        return _decoder.decode(text)
    except JSONDecodeError as problem:
        raise NotJsonError(str(problem)) from None
    except RecursionError:
        raise TooDeepError from None


def parse_bytes(body: bytes) -> tuple[str, Any]:
    """(text, value) of a request body; a leading byte order mark is dropped. Raises as `parse`."""
    try:
        text = body.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise NotJsonError("not UTF-8") from None
    return text, parse(text)


def _check_depth(text: str, value: Any) -> None:
    """Of all that is written, also below a repeated key, of which the value has the last only."""
    level = [value] if isinstance(value, dict | list) else []
    depth = found = 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise TooDeepError
        found += len(level)
        level = [
            child
            for node in level
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, dict | list)
        ]
    # Most texts hold no more brackets than their value: then there is nowhere for more levels to be.
    if text.count("[") + text.count("{") - found > MAX_DEPTH - depth:
        _check_written_depth(text)


def _check_written_depth(text: str) -> None:
    without_escapes = text.replace("\\\\", "").replace('\\"', "")
    outside_strings = "".join(without_escapes.split('"')[::2])
    depth = 0
    for brackets in _BRACKETS.findall(outside_strings):
        depth += len(brackets) if brackets[0] in "[{" else -len(brackets)
        if depth > MAX_DEPTH:
            raise TooDeepError


def members(text: str) -> dict[str, str]:
    """Each member of a JSON object's text by its key, as the text it was sent in; of repeated keys the last.

    The text must have passed `parse` and be an object.
    """
    found: dict[str, str] = {}
    position = _skip(text, _skip(text, 0) + 1)
    while text[position] != "}":
        key, position = scanstring(text, position + 1)
        start = _skip(text, _skip(text, position) + 1)
        end = _scan(text, start)[1]
        found[key] = text[start:end]
        position = _skip(text, end)
        if text[position] == ",":
            position = _skip(text, position + 1)
    return found


def elements(text: str) -> Iterator[str]:
    """The text of each element of a JSON array's text, which must have passed `parse` and be an array."""
    position = _skip(text, _skip(text, 0) + 1)
    while text[position] != "]":
        end = _scan(text, position)[1]
        yield text[position:end]
        position = _skip(text, end)
        if text[position] == ",":
            position = _skip(text, position + 1)


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in _WHITE:
        position += 1
    return position


def joined_object(parts: dict[str, str]) -> str:
    """An object's text from its members' texts."""
    return "{" + ",".join(f"{json.dumps(key)}:{part}" for key, part in parts.items()) + "}"


def joined_array(parts: list[str]) -> str:
    """An array's text from its elements' texts."""
    return "[" + ",".join(parts) + "]"


def canonical(value: Any) -> str:  # noqa: PLR0911 - one line for each kind of JSON value
    """Canonical JSON (contract 4.3) of a parsed value: equal texts mean equal values."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case Number():
            return value.canonical()
        case int() | float():
            return Number(repr(value)).canonical()
        case str():
            return json.dumps(value, ensure_ascii=False)
        case list() | tuple():
            return "[" + ",".join(map(canonical, value)) + "]"
        case dict():
            pairs = [f"{canonical(key)}:{canonical(item)}" for key, item in sorted(value.items())]
            return "{" + ",".join(pairs) + "}"
    raise TypeError(f"{type(value).__name__} is not JSON")


def dumps(value: Any) -> str:
    """Compact JSON text of JSON types, `Number`s and `JsonText`s; the last two as they were written."""
    match value:
        case Number() | JsonText():
            return value.text
        case list() | tuple():
            return joined_array([dumps(item) for item in value])
        case dict():
            return joined_object({key: dumps(item) for key, item in value.items()})
    return json.dumps(value)


def is_storable(text: str) -> bool:
    """Whether a plain text column can hold it: PostgreSQL takes no NUL, UTF-8 no unpaired surrogate (contract 4.2)."""
    return _UNSTORABLE.search(text) is None


class JsonText:
    """A JSON text, ready for the wire as `.text` and parsed on first use as `.value`."""

    def __init__(self, text: str) -> None:
        self.text = text

    @classmethod
    def parsed(cls, text: str, value: Any) -> "JsonText":
        """A text whose value is known already."""
        made = cls(text)
        made.__dict__["value"] = value
        return made

    @classmethod
    def of(cls, value: Any) -> "JsonText":
        """The text of a value made of JSON types."""
        return cls(dumps(value))

    @cached_property
    def value(self) -> Any:
        """Numbers are `Number`. How deep it nests was asked at the door, by `parse`, and is not asked again."""
        return _decoded(self.text)

    @cached_property
    def canonical(self) -> str:
        return canonical(self.value)

    def __eq__(self, other: object) -> bool:
        """Same text; compare `.canonical` for same value."""
        return isinstance(other, JsonText) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"JsonText({self.text[:60]!r})"
