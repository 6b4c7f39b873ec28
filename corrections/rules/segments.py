"""Segments: an ordered path, coarse to fine (contract 4.5)."""

import re
from collections.abc import Mapping, Sequence

from corrections.rules.drafts import refusal

MAX_SEGMENTS = 8
MAX_VALUE = 256
KEY_PATTERN = "^[a-z][a-z0-9_-]{0,63}$"
_KEY = re.compile(KEY_PATTERN)


def check_segments(segments: Sequence[Mapping[str, str]]) -> None:
    """InvalidError `bad-input` for the first thing wrong."""
    if len(segments) > MAX_SEGMENTS:
        raise refusal(f"segments has more than {MAX_SEGMENTS} entries.", "segments")
    seen: set[str] = set()
    for segment in segments:
        key, value = segment["key"], segment["value"]
        if not _KEY.fullmatch(key):
            raise refusal(f"{key!r} is not a segment key.", "segments")
        if not 1 <= len(value) <= MAX_VALUE:
            raise refusal(f"A segment's value has 1 to {MAX_VALUE} characters.", "segments")
        if key in seen:
            raise refusal(f"The segment {key!r} is there twice.", "segments")
        seen.add(key)


def starts_with(path: Sequence[Mapping[str, str]], prefix: Sequence[Mapping[str, str]]) -> bool:
    return len(path) >= len(prefix) and all(
        (mine["key"], mine["value"]) == (wanted["key"], wanted["value"])
        for mine, wanted in zip(path, prefix, strict=False)
    )
