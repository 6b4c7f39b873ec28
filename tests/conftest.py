"""The small cast of every test: a workspace with its Default project, a reviewer, a run, and ways to ask."""

from collections.abc import Iterator

import pytest
from django.db import connection
from django.test import Client
from hypothesis import settings
from pytest_django import DjangoDbBlocker

from corrections.models import Run
from kindgi_site.callers import Caller, Role
from kindgi_site.workspaces.models import Person, Project, Workspace
from kindgi_site.workspaces.services.keys import store_key
from tests.factories import ProjectFactory, ReviewerFactory, RunFactory, WorkspaceFactory, caller_of, person_with
from tests.loop import Loop
from tests.wire import WireClient

# How long one example takes says how busy the machine is, not whether the rule holds.
settings.register_profile("tests", deadline=None)
settings.load_profile("tests")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """On SQLite skip what only PostgreSQL can show; on PostgreSQL leave out what asks no database, having run there."""
    if connection.vendor != "postgresql":
        for item in items:
            if "postgres" in item.keywords:
                item.add_marker(pytest.mark.skip(reason="needs PostgreSQL"))
        return
    plain = [item for item in items if not _asks_database(item)]
    config.hook.pytest_deselected(items=plain)
    items[:] = [item for item in items if _asks_database(item)]


def _asks_database(item: pytest.Item) -> bool:
    fixtures = set(getattr(item, "fixturenames", ())) & {"db", "transactional_db", "live_server"}
    return item.get_closest_marker("django_db") is not None or bool(fixtures)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """PostgreSQL drops no database that somebody is in, and the pool's threads end late on a busy machine."""
    yield
    if connection.vendor == "postgresql":
        with django_db_blocker.unblock(), connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )


@pytest.fixture
def workspace(db: None) -> Workspace:
    return WorkspaceFactory()


@pytest.fixture
def project(workspace: Workspace) -> Project:
    """The workspace's Default project."""
    return ProjectFactory(workspace=workspace, default=True)


@pytest.fixture
def reviewer(project: Project) -> Person:
    """An editor of the project who is on the roster as a standard reviewer."""
    return ReviewerFactory(workspace=project.workspace, person=person_with(project)).person


@pytest.fixture
def caller(reviewer: Person) -> Caller:
    """The reviewer, as services know her."""
    return caller_of(reviewer)


@pytest.fixture
def run(project: Project) -> Run:
    """A completed agent turn that the reviewer may read and correct."""
    return RunFactory(project=project)


@pytest.fixture
def reviewer_client(reviewer: Person, client: Client) -> Client:
    """A browser in which the reviewer is signed in."""
    client.force_login(reviewer)
    return client


@pytest.fixture
def api_key(reviewer: Person, workspace: Workspace) -> str:
    """The text of a member key of the reviewer's."""
    return store_key(workspace=workspace, principal=reviewer)[1]


@pytest.fixture
def api_client(api_key: str) -> WireClient:
    return WireClient(api_key)


@pytest.fixture
def admin(project: Project) -> Person:
    """An administrator of the project, not of the workspace."""
    return person_with(project, Role.ADMIN)


@pytest.fixture
def loop(admin: Person, project: Project) -> Loop:
    """The agent `support` with the key of the project's administrator."""
    return Loop(WireClient(store_key(workspace=project.workspace, principal=admin)[1]), project)


@pytest.fixture
def root_client(project: Project) -> WireClient:
    """A workspace administrator's own key."""
    person = person_with(project, None, is_admin=True)
    return WireClient(store_key(workspace=project.workspace, principal=person, role="admin")[1])


@pytest.fixture
def foreign_loop(db: None) -> Loop:
    """An agent `support` of another workspace, with the key of its administrator."""
    project = ProjectFactory(workspace=WorkspaceFactory(), default=True)
    return Loop(
        WireClient(store_key(workspace=project.workspace, principal=person_with(project, Role.ADMIN))[1]), project
    )


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Nobody waits for another server in tests: what would have been waited for, in seconds."""
    waited: list[float] = []
    monkeypatch.setattr("testsets.patience.sleep", waited.append)
    return waited
