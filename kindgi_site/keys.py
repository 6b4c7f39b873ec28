"""Primary keys: time-ordered UUIDs, known before the row is stored."""

from uuid import UUID

from uuid_utils import compat


def new_id() -> UUID:
    return compat.uuid7()
