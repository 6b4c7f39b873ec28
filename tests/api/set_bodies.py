"""Test sets published by hand, for tests of the routes that read them."""

from typing import Any

from tests.loop import Loop

PATH = "/v1/test-sets"


def set_body(loop: Loop, name: str = "basics", version: str = "1.0.0", **more: Any) -> dict[str, Any]:
    """What publishing takes; None leaves a field out."""
    body = {"projectId": str(loop.project.id), "id": name, "version": version, "kind": "custom", "spec": {"a": 1}}
    return {field: value for field, value in (body | more).items() if value is not None}


def publish(loop: Loop, name: str = "basics", version: str = "1.0.0", **more: Any) -> None:
    loop.ask("POST", PATH, set_body(loop, name, version, **more), status=201)


def unregister(loop: Loop, name: str = "basics", version: str = "1.0.0") -> None:
    loop.ask("POST", f"{PATH}/{name}/versions/{version}/unregister")


def set_record(loop: Loop, name: str = "basics", version: str = "1.0.0", **more: Any) -> dict[str, Any]:
    """The whole record of a set as `publish` makes it."""
    return {
        "id": name,
        "tenantId": str(loop.project.workspace_id),
        "projectId": str(loop.project.id),
        "version": version,
        "kind": "custom",
        "spec": {"a": 1},
    } | more
