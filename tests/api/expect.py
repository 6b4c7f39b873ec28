"""What tests of /v1 expect: whole refusals, golden bodies, and that nothing was stored."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.apps import apps
from django.db import connection
from django.http import HttpResponse

_APPS = {"workspaces", "corrections", "testsets"}
_BODIES = Path(__file__).parent / "bodies"


def assert_refused(response: HttpResponse, status: int, code: str, /, **details: Any) -> None:
    """The whole body of a refusal; its message is for people, so only that there is one."""
    error = {"code": code, "message": _message(response), "requestId": response["X-Request-Id"]}
    if details:
        error["details"] = details
    assert (response.status_code, json.loads(response.content)) == (status, {"error": error})
    assert (response["Content-Type"], response["Cache-Control"]) == ("application/json", "no-store")


def _message(response: HttpResponse) -> str:
    message = json.loads(response.content).get("error", {}).get("message", "")
    assert message.strip(), response.content
    return message


def golden(name: str, **values: Any) -> Any:
    """The body `bodies/<name>.json`, in which a text `<word>` stands for the value given under that word."""
    return _filled(json.loads((_BODIES / f"{name}.json").read_text()), values)


def _filled(part: Any, values: dict[str, Any]) -> Any:
    match part:
        case dict():
            return {name: _filled(inner, values) for name, inner in part.items()}
        case list():
            return [_filled(inner, values) for inner in part]
        case str() if part.startswith("<") and part.endswith(">"):
            return values[part[1:-1]]
    return part


def everything_stored() -> dict[str, list[dict[str, Any]]]:
    """Every row of every table of ours. When a key was last used is no part of what a request stores."""
    tables = set(connection.introspection.table_names())
    return {
        model._meta.label: list(model.objects.order_by("pk").values(*_columns(model)))
        for model in apps.get_models()
        if model._meta.app_label in _APPS and model._meta.db_table in tables
    }


def _columns(model: Any) -> list[str]:
    return [field.attname for field in model._meta.concrete_fields if field.name != "last_used_at"]


@contextmanager
def nothing_stored() -> Iterator[None]:
    """Fails when a row of any table was added, changed or taken away inside."""
    before = everything_stored()
    yield
    assert everything_stored() == before
