"""Nonsense in any place of any operation is refused, and never a failure of the server's."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from corrections.models import Run
from kindgi_site.workspaces.models import Membership, Project, Workspace
from kindgi_site.workspaces.services.keys import store_key
from tests.factories import person_with
from tests.wire import WireClient

# As a part of a path or a value of a query: NUL, an unpaired surrogate, bytes that are no UTF-8, line ends, long, odd.
ODD = ["%00", "%ED%A0%80", "%FF", "9" * 30]
BODIES = [b"", b"null", b"[]", b"{}", b'"x"', b"7", b'{"\\ud800": 1}', b"{\xff}", b'{"a": NaN}']
VALUES = [True, 10**30, "\0", "\ud800", [None]]


@pytest.fixture
def admin_client(project: Project) -> WireClient:
    """Somebody who may do everything, so that no permission is what refuses the nonsense."""
    person = person_with(project, is_admin=True)
    assert Membership.objects.get(person=person).is_admin
    return WireClient(store_key(workspace=project.workspace, principal=person, role="admin")[1], raises=False)


@pytest.fixture
def document() -> dict[str, Any]:
    return dict(WireClient(None).get("/v1/openapi.json").json())


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in document["paths"].items():
        for method, operation in item.items():
            yield method.upper(), path, operation


def failures(client: WireClient, requests: Iterator[tuple[str, str, bytes]]) -> list[str]:
    """The requests that were answered with 5xx, as short as they can be told."""
    return [
        f"{method} {path[:100]} {body[:100]!r}"
        for method, path, body in requests
        if client.request(method, path, body).status_code >= 500
    ]


def named(path: str, operation: dict[str, Any], run: Run, value: str | None = None) -> str:
    """The path with ids in it: those of real things where there are any, and all of them `value` where it is given."""
    for parameter in operation.get("parameters", []):
        if parameter["in"] == "path":
            real = {"runId": str(run.run_id), "projectId": str(run.project_id), "agentId": run.subject_id}
            path = path.replace(f"{{{parameter['name']}}}", value or real.get(parameter["name"], str(uuid4())))
    return path


def test_in_a_path(document: dict[str, Any], admin_client: WireClient, run: Run) -> None:
    def requests() -> Iterator[tuple[str, str, bytes]]:
        for method, path, operation in operations(document):
            for odd in ODD if "{" in path else []:
                yield method, named(path, operation, run, odd), b""

    assert failures(admin_client, requests()) == []


def test_in_a_query(document: dict[str, Any], admin_client: WireClient, run: Run) -> None:
    def requests() -> Iterator[tuple[str, str, bytes]]:
        for method, path, operation in operations(document):
            for parameter in operation.get("parameters", []):
                for odd in ODD if parameter["in"] == "query" else []:
                    yield method, f"{named(path, operation, run)}?{parameter['name']}={odd}", b""

    assert failures(admin_client, requests()) == []


def test_as_a_body(document: dict[str, Any], admin_client: WireClient, run: Run) -> None:
    def requests() -> Iterator[tuple[str, str, bytes]]:
        for method, path, operation in operations(document):
            for body in BODIES if method != "GET" else []:
                yield method, named(path, operation, run), body

    assert failures(admin_client, requests()) == []


def test_in_a_field(document: dict[str, Any], admin_client: WireClient, run: Run) -> None:
    schemas = document["components"]["schemas"]

    def requests() -> Iterator[tuple[str, str, bytes]]:
        for method, path, operation in operations(document):
            if "requestBody" not in operation:
                continue
            reference = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
            schema = schemas[reference.rpartition("/")[2]]
            likely = {name: likely_value(name, schema, run) for name in schema.get("required", [])}
            for name in schema["properties"]:
                for value in VALUES:
                    yield method, named(path, operation, run), json.dumps(likely | {name: value}).encode()

    assert failures(admin_client, requests()) == []
    assert Workspace.objects.count() == 1


def likely_value(name: str, schema: dict[str, Any], run: Run) -> Any:
    """Something that may well be accepted, so that the field under test is what is looked at."""
    ids = {"runId": str(run.run_id), "projectId": str(run.project_id)}
    of_type = {"integer": 1, "number": 1, "boolean": True, "array": [], "object": {}}
    return ids.get(name) or of_type.get(schema["properties"][name].get("type", ""), "x")
