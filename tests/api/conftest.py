"""Keys of other callers than the reviewer, and a body that PUT /v1/runs takes."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from pytest_django import Settings

from kindgi_site.callers import Role
from kindgi_site.workspaces.models import Person, Project, Workspace
from kindgi_site.workspaces.services.keys import store_key
from tests.factories import ProjectFactory, WorkspaceFactory, person_with
from tests.wire import WireClient


@pytest.fixture
def stranger_client(project: Project) -> WireClient:
    """Another editor of the same project."""
    return WireClient(store_key(workspace=project.workspace, principal=person_with(project))[1])


@pytest.fixture
def foreign_client(db: None) -> WireClient:
    """An editor of another workspace's project."""
    project = ProjectFactory(workspace=WorkspaceFactory(), default=True)
    return WireClient(store_key(workspace=project.workspace, principal=person_with(project))[1])


@pytest.fixture
def viewer_client(project: Project) -> WireClient:
    principal = person_with(project, Role.VIEWER)
    return WireClient(store_key(workspace=project.workspace, principal=principal)[1])


@pytest.fixture
def limited_client(reviewer: Person, workspace: Workspace, project: Project) -> WireClient:
    """The reviewer's key that is limited to the Default project."""
    return WireClient(store_key(workspace=workspace, principal=reviewer, project=project)[1])


@pytest.fixture
def run_body(project: Project) -> dict[str, Any]:
    return {
        "projectId": str(project.id),
        "agent": {"id": "support", "version": "1.2.0"},
        "status": "running",
        "input": {"message": "Where is my order?"},
    }


@pytest.fixture
def run_path() -> str:
    return f"/v1/runs/{uuid4()}"


@pytest.fixture
def probes(settings: Settings) -> None:
    """The routes of tests/api/probes.py beside the real ones."""
    settings.ROOT_URLCONF = "tests.api.probes"


@pytest.fixture
def refusal() -> Callable[..., dict[str, Any]]:
    """The whole body of a refusal whose message is not the test's business, `details` as they must be."""

    def whole(response: Any, code: str, details: dict[str, Any] | None = None) -> dict[str, Any]:
        sent = response.json()["error"]
        error: dict[str, Any] = {"code": code, "message": sent["message"]}
        if details is not None:
            error["details"] = details
        return {"error": error | {"requestId": response["X-Request-Id"]}}

    return whole
