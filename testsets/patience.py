"""Ask another server again when it is busy or the connection broke, after pauses, for a bounded time."""

import random
from collections.abc import Callable
from time import monotonic, sleep, time

import httpx
from django.utils.http import parse_http_date_safe

FIRST_PAUSE_SECONDS = 0.5
# What may be over a moment later; a wrong address, for one, is not.
_LOST = (httpx.NetworkError, httpx.TimeoutException, httpx.RemoteProtocolError)


def asked_patiently(
    ask: Callable[[float], httpx.Response],
    *,
    is_busy: Callable[[httpx.Response], bool],
    retries: int,
    seconds: float,
) -> httpx.Response:
    """The first answer that `is_busy` does not say to ask again for, else the last one; `ask` is given the time left.

    Pauses double, or are as long as the answer's Retry-After says. A pause that would not fit into `seconds` is not
    begun. What the last try raises is raised.
    """
    deadline = monotonic() + seconds
    attempt = 0
    while True:
        pause = _growing_pause(attempt)
        is_last = attempt == retries
        try:
            response = ask(deadline - monotonic())
        except _LOST:
            if is_last or monotonic() + pause >= deadline:
                raise
        else:
            pause = _wished_pause(response.headers.get("Retry-After", "")) or pause
            if is_last or not is_busy(response) or monotonic() + pause >= deadline:
                return response
        sleep(pause)
        attempt += 1


def _growing_pause(attempt: int) -> float:
    # Those who were sent away at one moment must not all come back at one moment.
    return random.uniform(0.5, 1) * FIRST_PAUSE_SECONDS * float(2**attempt)  # noqa: S311 - no secret


def _wished_pause(retry_after: str) -> float | None:
    """Of `Retry-After`, which is seconds or a date; None when it says nothing that can be waited for."""
    if retry_after.isascii() and retry_after.isdecimal():
        return float(retry_after)
    until = parse_http_date_safe(retry_after)
    return None if until is None else max(0.0, until - time())
