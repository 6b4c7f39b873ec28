"""What the served OpenAPI document tells of an operation's answers: each one that a test gets is held to it."""

from functools import cache
from typing import Any

from django.http import HttpResponse
from django.urls import Resolver404, resolve

from kindgi_site.api.pipeline import UnknownRouteView, V1View
from kindgi_site.api.urls import document


def check_told(method: str, path: str, response: HttpResponse) -> None:
    """Fails for a status, or a code of a refusal, that the document does not tell of this operation."""
    operation = _operation("GET" if method == "HEAD" else method, path)
    if operation is None:
        return
    answers, status = operation["responses"], str(response.status_code)
    assert status in answers, f"{operation['operationId']} tells of no {status}: {response.content!r}"
    if response.status_code >= 400 and method != "HEAD":
        code = response.json()["error"]["code"]
        assert code in answers[status]["x-codes"], f"{operation['operationId']} tells of no {code} with {status}"


def _operation(method: str, path: str) -> dict[str, Any] | None:
    try:
        found = resolve(path.partition("?")[0])
    except Resolver404:
        return None
    view = getattr(found.func, "cls", None)
    if view is None or not issubclass(view, V1View) or view is UnknownRouteView or not hasattr(view, method.lower()):
        return None
    return _operations().get((method, _shape(found.route)))


@cache
def _operations() -> dict[tuple[str, str], dict[str, Any]]:
    paths = document()["paths"]
    return {
        (method.upper(), _shape(path)): operation for path, item in paths.items() for method, operation in item.items()
    }


def _shape(address: str) -> str:
    """An address whatever its parts that vary are called."""
    return "/".join("{}" if part[:1] in {"{", "<"} else part for part in address.strip("/").split("/"))
