"""RFC 6901 pointers by the contract's rules (7.3): no `-`, no leading zeros, no way into strings."""

import re
from typing import Any, Final

_SYNTAX = re.compile(r"(?:/(?:[^~/]|~[01])*)*", re.DOTALL)
_INDEX = re.compile(r"0|[1-9][0-9]*")


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()


def is_pointer(text: str) -> bool:
    return _SYNTAX.fullmatch(text) is not None


def escaped(token: str) -> str:
    return token.replace("~", "~0").replace("/", "~1")


def resolve(value: Any, pointer: str) -> Any:
    """What a syntactically right pointer names in a parsed value, or MISSING. `""` is the whole value."""
    for token in pointer.split("/")[1:]:
        value = _step(value, token.replace("~1", "/").replace("~0", "~"))
        if value is MISSING:
            break
    return value


def _step(value: Any, token: str) -> Any:
    if isinstance(value, dict):
        return value.get(token, MISSING)
    # The length is compared as text first: an index of thousands of digits is no number worth making.
    if isinstance(value, list) and _INDEX.fullmatch(token) and len(token) < 10 and int(token) < len(value):
        return value[int(token)]
    return MISSING
