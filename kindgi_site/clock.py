"""The present, to the millisecond: what is stored is exactly what the wire shows."""

from datetime import UTC, datetime


def now() -> datetime:
    return milliseconds(datetime.now(UTC))


def milliseconds(moment: datetime) -> datetime:
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def wire_time(moment: datetime) -> str:
    """UTC ISO 8601 with milliseconds and Z (contract 4.4)."""
    utc = moment.astimezone(UTC)
    return f"{utc:%Y-%m-%dT%H:%M:%S}.{utc.microsecond // 1000:03d}Z"
