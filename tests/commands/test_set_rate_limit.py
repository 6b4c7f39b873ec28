import pytest
from django.core.management.base import CommandError

from tests.factories import WorkspaceFactory


def test_sets_the_limit_and_lifts_it(manage, workspace):
    other = WorkspaceFactory(requests_per_minute=7)

    said = manage("set_rate_limit", "--workspace", workspace.slug, "600")
    workspace.refresh_from_db()
    assert workspace.requests_per_minute == 600
    assert said.out == f"{workspace.slug}: 600 API requests a minute\n"

    said = manage("set_rate_limit", "--workspace", workspace.slug, "none")
    workspace.refresh_from_db()
    assert workspace.requests_per_minute is None
    assert said.out == f"{workspace.slug}: no limit\n"

    other.refresh_from_db()
    assert other.requests_per_minute == 7


@pytest.mark.parametrize("limit", ["0", "-1", "1.5", "many", "2147483648", ""])
def test_refuses_what_is_no_limit(manage, limit):
    workspace = WorkspaceFactory(requests_per_minute=7)

    with pytest.raises(CommandError, match=r"from 1, or none|required"):
        manage("set_rate_limit", "--workspace", workspace.slug, limit)

    workspace.refresh_from_db()
    assert workspace.requests_per_minute == 7


def test_refuses_an_unknown_workspace(manage):
    with pytest.raises(CommandError, match="no workspace “nowhere”"):
        manage("set_rate_limit", "--workspace", "nowhere", "5")
