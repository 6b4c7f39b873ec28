"""What requests say of test sets, in Python words: no Django."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from corrections.rules.expectations import Expectation
from corrections.vocabulary import SubjectKind
from kindgi_site.exact_json import JsonText


class SamplePart(StrEnum):
    SEARCH = "search"
    HOLD_OUT = "hold-out"


@dataclass(frozen=True, slots=True)
class Sample:
    """Which part of a set a test run takes: a stable share is held out, the rest is for searching (contract 17.6)."""

    part: SamplePart
    seed: str
    hold_out_share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which corrected runs a test set is built from (contract 14.3).

    `group_ids` None counts every correction; an empty tuple counts none.
    """

    project_id: UUID
    subject_kind: SubjectKind
    subject_id: str
    subject_version: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    group_ids: tuple[str, ...] | None = None
    min_corrections: int = 1
    segments: Sequence[Mapping[str, str]] = ()
    as_sent: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionDraft:
    """A version to be published. `spec` is its wire object."""

    set_name: str
    version: str
    project_id: UUID
    kind: str
    description: str = ""
    spec: Mapping[str, Any] = field(default_factory=dict)
    frozen_agent_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandCaseDraft:
    """A case added by hand: copied from a run, or with content of its own (contract 15)."""

    expect: Expectation
    run_id: UUID | str | None = None
    agent_version: str | None = None
    input: JsonText | None = None
    output: JsonText | None = None
    context: JsonText | None = None
    segments: JsonText | None = None
    calls: JsonText | None = None
    expert: bool = False
    note: str = ""
    source_kind: str = ""
    source_run_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandCaseChange:
    """What becomes different in a hand case; None leaves a part as it is."""

    expect: Expectation | None = None
    expert: bool | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveChangeDraft:
    """A pin, an unpin or a move of Latest, and the corrections it is said to fix (contract 16.1, decision 3)."""

    action: str
    version: str | None = None
    reason: str = ""
    at: datetime | None = None
    fixes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TestRunDraft:
    """A test run to be started (contract 17.1). `sample_as_sent` is the wire's object."""

    __test__ = False

    project_id: UUID
    subject_kind: SubjectKind
    subject_id: str
    subject_version: str | None
    set_version: str | None = None
    dry_run: bool = False
    correlation_id: str = ""
    is_against_recorded: bool = True
    reads: str = "recorded"
    repetitions: int = 1
    k: int = 10
    group_weights: str = "as-recorded"
    sample: Sample | None = None
    sample_as_sent: JsonText | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputDraft:
    """What one repetition of a case gave: an output, or that it was stopped, or an error."""

    case_id: str
    repetition: int = 0
    run_id: str = ""
    output: JsonText | None = None
    calls: JsonText | None = None
    answer: JsonText | None = None
    model: JsonText | None = None
    diverged: bool = False
    refused_writes: int = 0
    stopped: JsonText | None = None
    error: str = ""
    fingerprint: str = ""
