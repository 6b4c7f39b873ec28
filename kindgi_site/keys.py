"""Primary keys: time-ordered UUIDs, known before the row is stored; and reading one that somebody sent."""

from uuid import UUID

from uuid_utils import compat


def new_id() -> UUID:
    return compat.uuid7()


def as_uuid(text: str) -> UUID | None:
    """Ids on the wire are opaque: one that is no UUID just names nothing."""
    try:
        found = UUID(text)
    except ValueError:
        return None
    return found if str(found) == text.lower() else None


def as_kept(text: str) -> str:
    """A run's id as runs have it, so that erasing the one finds the other; what is no UUID stays as sent."""
    key = as_uuid(text)
    return text if key is None else str(key)
