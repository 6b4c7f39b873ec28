"""Every refusal of the domain: one code per kind of refusal, six families. No HTTP here."""

from enum import StrEnum
from typing import Any


class Code(StrEnum):
    """Every code of the contract (3.1)."""

    BAD_INPUT = "bad-input"
    UNKNOWN_FIELD = "unknown-field"
    VALIDATION_FAILED = "validation-failed"
    SCOPE_INVALID = "scope-invalid"
    ITEM_NOT_FOUND = "item-not-found"
    CORRECTOR_GROUP_NOT_APPLICABLE = "corrector-group-not-applicable"
    DISPATCHER_INPUT_INVALID = "dispatcher-input-invalid"
    AUTH_MISSING = "auth-missing"
    AUTH_EXPIRED = "auth-expired"
    AUTH_REVOKED = "auth-revoked"
    PERMISSION_DENIED = "permission-denied"
    CORRECTOR_GROUP_NOT_ALLOWED = "corrector-group-not-allowed"
    KEY_PROJECT_MISMATCH = "key-project-mismatch"
    ROLE_EXCEEDS_PRINCIPAL = "role-exceeds-principal"
    TOKEN_EXPIRY_EXCEEDS_MINTER = "token-expiry-exceeds-minter"  # noqa: S105 - a code, not a secret
    NOT_FOUND = "not-found"
    ROUTE_NOT_FOUND = "route-not-found"
    RUN_NOT_FOUND = "run-not-found"
    CORRECTION_NOT_FOUND = "correction-not-found"
    CORRECTOR_GROUP_NOT_FOUND = "corrector-group-not-found"
    PROJECT_NOT_FOUND = "project-not-found"
    TEST_SET_NOT_FOUND = "test-set-not-found"
    TEST_CASE_NOT_FOUND = "test-case-not-found"
    TEST_RUN_NOT_FOUND = "test-run-not-found"
    CORRECTING_RULE_NOT_FOUND = "correcting-rule-not-found"
    CORRECTING_ITEM_NOT_FOUND = "correcting-item-not-found"
    REVIEWER_NOT_FOUND = "reviewer-not-found"
    PRINCIPAL_NOT_FOUND = "principal-not-found"
    RUN_NOT_FINISHED = "run-not-finished"
    RUN_ALREADY_TERMINAL = "run-already-terminal"
    INVALID_TRANSITION = "invalid-transition"
    IDEMPOTENCY_KEY_BODY_MISMATCH = "idempotency-key-body-mismatch"
    IDEMPOTENCY_KEY_IN_FLIGHT = "idempotency-key-in-flight"
    IDEMPOTENCY_KEY_REPLAY_WITHHELD = "idempotency-key-replay-withheld"
    CORRECTOR_GROUP_NAME_TAKEN = "corrector-group-name-taken"
    TEST_SET_ALREADY_REGISTERED = "test-set-already-registered"
    TEST_SET_PROJECT_MISMATCH = "test-set-project-mismatch"
    TEST_CASE_CORRECTION_OWNED = "test-case-correction-owned"
    TEST_RUN_ALREADY_TERMINAL = "test-run-already-terminal"
    TEST_RUN_OUTPUT_EXISTS = "test-run-output-exists"
    TEST_RUN_NOT_RESCORABLE = "test-run-not-rescorable"
    CORRECTING_ITEM_NOT_OPEN = "correcting-item-not-open"
    NOT_PINNED = "not-pinned"
    SLUG_CONFLICT = "slug-conflict"
    PROJECT_DEFAULT_ALREADY_EXISTS = "project-default-already-exists"
    LEGAL_HOLD = "legal-hold"
    ERASURE_IN_PROGRESS = "erasure-in-progress"
    RUN_ERASED = "run-erased"
    TEST_SET_GONE = "test-set-gone"
    REQUEST_TOO_LARGE = "request-too-large"
    DISPATCHER_NOT_REGISTERED = "dispatcher-not-registered"
    RATE_LIMIT_EXCEEDED = "rate-limit-exceeded"
    INTERNAL_SERVER_ERROR = "internal-server-error"
    TEST_SETS_NOT_SUPPORTED = "test-sets-not-supported"
    DATABASE_BUSY = "database-busy"
    IDEMPOTENCY_STORE_UNAVAILABLE = "idempotency-store-unavailable"


class DomainError(Exception):
    """A refusal: a code for programs, a sentence for people, and whatever data belongs to it.

    `details` are the contract's wire names (`runId=…`); a value of None is left out.
    """

    def __init__(self, code: Code, message: str, **details: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = {name: value for name, value in details.items() if value is not None}


class InvalidError(DomainError):
    """What was said cannot be accepted as it stands."""


class ForbiddenError(DomainError):
    """The caller may not do this."""


class NotFoundError(DomainError):
    """There is no such thing for this caller; not-yours and not-there are one refusal."""


class ConflictError(DomainError):
    """The stored state does not allow it."""


class GoneError(DomainError):
    """It existed and was taken away for good."""


class UnprocessableError(DomainError):
    """Well formed, but this server cannot work with it."""
