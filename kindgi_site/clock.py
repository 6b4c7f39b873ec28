"""The present, to the millisecond: what is stored is exactly what the wire shows."""

from datetime import UTC, datetime


def now() -> datetime:
    return milliseconds(datetime.now(UTC))


def milliseconds(moment: datetime) -> datetime:
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def wire_time(moment: datetime) -> str:
    """UTC ISO 8601 with milliseconds and Z (contract 4.4)."""
    # Not strftime: its %Y has no leading zeros for a year before 1000.
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
