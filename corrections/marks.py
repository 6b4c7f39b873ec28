"""Small values that a row's columns stand for: who, when, in which version. Plain Python."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Subject:
    """What ran, at which version."""

    kind: str
    id: str
    version: str


@dataclass(frozen=True, slots=True)
class Party:
    """Somebody who acted; `rule` and `fix-job` act without an id."""

    kind: str
    id: str = ""

    @classmethod
    def known(cls, kind: str, party_id: str) -> "Party | None":
        return cls(kind, party_id) if kind else None


@dataclass(frozen=True, slots=True)
class Sorting:
    by: Party
    at: datetime
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Link:
    """The work meant to fix it: an id, or for a pull request its address."""

    kind: str
    target: str


@dataclass(frozen=True, slots=True)
class VersionMark:
    """Fixed or reopened: in which version, how that came to be live, by whom."""

    how: str
    at: datetime
    version: str = ""
    by: Party | None = None


@dataclass(frozen=True, slots=True)
class Note:
    text: str
    by: Party
    at: datetime
