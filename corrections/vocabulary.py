"""The contract's words for runs and corrections. Plain Python."""

from enum import StrEnum


class RunStatus(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    SUSPENDED = "suspended"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


TERMINAL = frozenset({RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED})


class Via(StrEnum):
    EXPLICIT = "explicit"
    FLOW_PIN = "flow-pin"
    CONVERSATION = "conversation"
    LIVE = "live"
    LATEST = "latest"


class SubjectKind(StrEnum):
    AGENT = "agent"
    FLOW = "flow"


class Verdict(StrEnum):
    RIGHT = "right"
    WRONG = "wrong"


class Status(StrEnum):
    """States of a correction (contract, section 8)."""

    OPEN = "open"
    BEING_FIXED = "being-fixed"
    WITH_OWNER = "with-owner"
    FIXED = "fixed"
    WONT_FIX = "wont-fix"
    REMOVED = "removed"


RECORDED_RIGHT = "recorded-right"  # how what was right from the start came to be fixed
BY_HAND = (Status.OPEN, Status.BEING_FIXED, Status.WITH_OWNER, Status.WONT_FIX)  # what a person may set


class SortedTo(StrEnum):
    IMPROVE = "improve"
    DEVELOPER = "developer"
    OWNER = "owner"


class LinkKind(StrEnum):
    IMPROVE_RUN = "improve-run"
    SUGGESTED_CHANGE = "suggested-change"
    PULL_REQUEST = "pull-request"


class ScopeKind(StrEnum):
    """What a corrector group covers."""

    TENANT = "tenant"
    PROJECT = "project"
    AGENT = "agent"


class ItemState(StrEnum):
    """Where a run in the correcting queue stands (contract 18.4)."""

    OPEN = "open"
    CORRECTED = "corrected"
    DISMISSED = "dismissed"
    ERASED = "erased"
