"""What the tests of services share."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from corrections.models import Correction, CorrectorGroup, Run, RunContent, RunCopy, RunTool

TABLES = (Run, RunContent, RunTool, RunCopy, Correction, CorrectorGroup)


def everything_stored() -> list[list[dict]]:
    return [list(table.objects.order_by("pk").values()) for table in TABLES]


@pytest.fixture
def nothing_changes(db: None) -> Callable[[], AbstractContextManager[None]]:
    """`with nothing_changes():` fails when a row of any table of runs or corrections differs afterwards."""

    @contextmanager
    def compared() -> Iterator[None]:
        before = everything_stored()
        yield
        assert everything_stored() == before

    return compared
