"""Several threads that start the same work at the same moment, each with a database connection of its own."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

from django.db import connection

T = TypeVar("T")


def at_once(works: Sequence[Callable[[], T]]) -> list[T]:
    """What each of the works returned, in their order; the first exception is raised."""
    barrier = Barrier(len(works))

    def started(work: Callable[[], T]) -> T:
        try:
            barrier.wait(timeout=30)
            return work()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(works)) as threads:
        return list(threads.map(started, works))
