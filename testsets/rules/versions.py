"""Versions: of test sets, three plain numbers (contract 4.6); of agents, by semver precedence (16.1)."""

import re
from typing import NamedTuple

CORRECTIONS = "corrections"
KINDS = ("accuracy", "pairwise", "regression", "human-review", "benchmark", "custom", CORRECTIONS)

# Each part is kept in a column of 64 bits, for ordering.
_LARGEST_PART = 2**63 - 1
PLAIN_PATTERN = r"^(0|[1-9][0-9]{0,18})\.(0|[1-9][0-9]{0,18})\.(0|[1-9][0-9]{0,18})$"
_PLAIN = re.compile(PLAIN_PATTERN)


class SetVersion(NamedTuple):
    """A test set's version. Ordered part by part as numbers, so 1.10.0 is above 1.9.0."""

    major: int
    minor: int
    patch: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


def parse_set_version(text: str) -> SetVersion | None:
    """None for anything but three numbers; with leading zeros two texts would be one version, so those are refused."""
    found = _PLAIN.fullmatch(text)
    parts = [int(part) for part in found.groups()] if found else []
    return SetVersion(*parts) if parts and max(parts) <= _LARGEST_PART else None


class Precedence(NamedTuple):
    """A semver's place in the order. Equal for versions that differ in build metadata only."""

    core: tuple[int, int, int]
    is_release: bool
    prerelease: tuple[tuple[bool, int, str], ...] = ()


def precedence(semver: str) -> Precedence:
    """Of a version known to be semver."""
    core, _, prerelease = semver.partition("+")[0].partition("-")
    major, minor, patch = map(int, core.split("."))
    identifiers = prerelease.split(".") if prerelease else []
    return Precedence((major, minor, patch), not identifiers, tuple(map(_identifier, identifiers)))


def is_lower(one: str, other: str) -> bool:
    """Whether the first agent version comes below the second."""
    return precedence(one) < precedence(other)


def _identifier(text: str) -> tuple[bool, int, str]:
    # Numbers come below words; numbers compare as numbers, words by code point.
    return (False, int(text), "") if text.isdecimal() else (True, 0, text)
