"""What the tests of services share."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest
from django.apps import apps


def everything_stored() -> dict[str, list[dict]]:
    tables = [table for app in ("corrections", "workspaces") for table in apps.get_app_config(app).get_models()]
    return {table.__name__: list(table._default_manager.order_by("pk").values()) for table in tables}


@pytest.fixture
def nothing_changes(db: None) -> Callable[[], AbstractContextManager[None]]:
    """`with nothing_changes():` fails when a row of any of our tables differs afterwards."""

    @contextmanager
    def compared() -> Iterator[None]:
        before = everything_stored()
        yield
        assert everything_stored() == before

    return compared
