"""`GET /v1/openapi.json`: a valid document, and all of /v1 in it."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from django.urls import URLPattern, URLResolver, get_resolver
from django.views import View
from drf_spectacular.validation import validate_schema
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from kindgi_site.api.pipeline import UnknownRouteView, V1View
from kindgi_site.errors import Code
from kindgi_site.workspaces.models import Project
from tests.wire import WireClient

METHODS = ("get", "post", "put", "patch", "delete")
WRITES = METHODS[1:]
# What the stages before a route may answer with, and what a route that names something may.
ANYWHERE = {"400", "401", "403", "413", "429", "500", "503"}


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    response = WireClient(None).get("/v1/openapi.json")
    assert response.status_code == 200
    assert response["Content-Type"] == "application/json"
    return dict(response.json())


@pytest.fixture(scope="module")
def operations(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Each operation by `METHOD path`."""
    return {
        f"{method.upper()} {path}": operation
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if method in METHODS
    }


def routes(patterns: list[URLPattern | URLResolver], before: str = "") -> Iterator[tuple[str, type[View]]]:
    """Each address of /v1 as OpenAPI writes it, in the number of its parts, with its view."""
    for pattern in patterns:
        address = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, address)
        elif address.startswith("v1/") and (view := getattr(pattern.callback, "cls", None)) is not None:
            yield address, view


def without_names(address: str) -> str:
    """`/v1/runs/{}`, whatever a part that varies is called."""
    parts = address.strip("/").split("/")
    return "/" + "/".join("{}" if part[:1] in "<{" and part else part for part in parts)


def test_it_is_openapi_3_1(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1.")
    validate_schema(document)


def test_its_schemas_are_json_schemas_and_all_references_lead_somewhere(document: dict[str, Any]) -> None:
    resolver = Registry().with_resource("", Resource(document, DRAFT202012)).resolver()
    for schema in document["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)
    for reference in references(document):
        assert resolver.lookup(reference).contents


def references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]
        for inner in part.values():
            yield from references(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from references(inner)


def test_every_address_with_every_method_is_in_it_and_nothing_else(operations: dict[str, Any]) -> None:
    served = {
        f"{method.upper()} {without_names(address)}"
        for address, view in routes(get_resolver("kindgi_site.urls").url_patterns)
        if issubclass(view, V1View) and view is not UnknownRouteView
        for method in METHODS
        if hasattr(view, method)
    }
    described = {f"{name.split()[0]} {without_names(name.split()[1])}" for name in operations}

    assert {"GET /v1/runs", "GET /v1/runs/{}", "PUT /v1/runs/{}", "POST /v1/corrections"} <= served
    assert described == served


def test_every_operation_has_a_name_of_its_own(operations: dict[str, Any]) -> None:
    names = Counter(operation["operationId"] for operation in operations.values())

    assert max(names.values()) == 1


def test_every_operation_needs_the_token(document: dict[str, Any], operations: dict[str, Any]) -> None:
    assert document["components"]["securitySchemes"] == {"bearerAuth": {"type": "http", "scheme": "bearer"}}
    assert {str(operation["security"]) for operation in operations.values()} == {"[{'bearerAuth': []}]"}


def test_every_operation_tells_its_refusals_in_the_one_shape(operations: dict[str, Any]) -> None:
    for name, operation in operations.items():
        refusals = {status: answer for status, answer in operation["responses"].items() if status >= "400"}
        assert set(refusals) >= ANYWHERE, name
        assert {status for status in operation["responses"] if status < "400"}, name
        for status, answer in refusals.items():
            assert answer["description"], f"{name} {status}"
            assert answer["content"] == {"application/json": {"schema": {"$ref": "#/components/schemas/WireError"}}}, (
                f"{name} {status}"
            )


def test_every_refusal_names_its_codes(operations: dict[str, Any]) -> None:
    told = {code for operation in operations.values() for answer in operation["responses"].values()
            for code in answer.get("x-codes", ())}  # fmt: skip
    # Known routes do not answer the first; the others are reserved by the contract.
    never = {Code.ROUTE_NOT_FOUND, Code.LEGAL_HOLD, Code.ERASURE_IN_PROGRESS, Code.TEST_SETS_NOT_SUPPORTED}

    assert told == set(Code) - never
    for name, operation in operations.items():
        for status, answer in operation["responses"].items():
            assert answer["description"].endswith("."), f"{name} {status}"
            assert (status >= "400") == bool(answer.get("x-codes")), f"{name} {status}"
            assert all(f"`{code}`" in answer["description"] for code in answer.get("x-codes", ())), f"{name} {status}"


def test_every_operation_has_a_sentence_of_its_own(operations: dict[str, Any]) -> None:
    summaries = Counter(operation["summary"] for operation in operations.values())

    assert max(summaries.values()) == 1
    for summary in summaries:
        assert re.fullmatch(r"[A-Z]\S* .*[^.]", summary), summary


def test_every_name_in_an_address_is_a_parameter(operations: dict[str, Any]) -> None:
    for name, operation in operations.items():
        declared = {
            each["name"] for each in operation.get("parameters", []) if each["in"] == "path" and each["required"]
        }
        assert declared == set(re.findall(r"{(\w+)}", name)), name


def test_every_write_takes_an_idempotency_key_and_tells_of_its_conflicts(operations: dict[str, Any]) -> None:
    for name, operation in operations.items():
        headers = [part["name"] for part in operation.get("parameters", []) if part["in"] == "header"]
        assert headers == (["Idempotency-Key"] if name.split()[0].lower() in WRITES else []), name
        assert "409" in operation["responses"] or not headers, name


def test_what_is_named_in_the_path_may_be_unknown(operations: dict[str, Any]) -> None:
    for name, operation in operations.items():
        assert "404" in operation["responses"] or "{" not in name, name


@pytest.mark.parametrize(
    ("method", "path", "key"),
    [("GET", "/v1/runs", False), ("GET", "/v1/nowhere", True), ("GET", "/v1/runs/none", True)],
)
def test_real_refusals_are_of_the_shape(
    method: str, path: str, key: bool, document: dict[str, Any], api_client: WireClient
) -> None:
    client = api_client if key else WireClient(None)
    schema = {"$ref": "#/components/schemas/WireError", "components": document["components"]}

    Draft202012Validator(schema).validate(client.request(method, path).json())
    with pytest.raises(Exception, match="required property"):
        Draft202012Validator(schema).validate({"error": {"code": Code.BAD_INPUT, "message": "No request id."}})


def test_a_filters_words_are_the_words_that_it_takes(
    operations: dict[str, Any], api_client: WireClient, project: Project
) -> None:
    words = {
        (name, parameter["name"]): parameter["schema"].get("items", parameter["schema"])["enum"]
        for name, operation in operations.items()
        for parameter in operation.get("parameters", [])
        if "enum" in parameter["schema"].get("items", parameter["schema"]) and parameter["name"] != "scopeKind"
    }
    assert {("GET /v1/corrections", "status"), ("GET /v1/runs", "replays"), ("GET /v1/test-runs", "status")} <= set(
        words
    )
    for (name, parameter), enum in words.items():
        path = name.removeprefix("GET ").replace("{projectId}", str(project.id))
        answers = {word: api_client.get(f"{path}?{parameter}={word}").status_code for word in (*enum, "none of them")}
        assert answers == dict.fromkeys(enum, 200) | {"none of them": 400}, (name, parameter)


def test_bodies_are_closed(document: dict[str, Any], operations: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    for name, operation in operations.items():
        if "requestBody" not in operation:
            continue
        content = operation["requestBody"]["content"]
        assert list(content) == ["application/json"], name
        body = schemas[content["application/json"]["schema"]["$ref"].rpartition("/")[2]]
        assert body["additionalProperties"] is False, name


@pytest.mark.parametrize("value", [None, 1, "x", [], {"a": None}])
def test_where_any_json_goes_the_document_takes_any(document: dict[str, Any], value: Any) -> None:
    schema = {"$ref": "#/components/schemas/IngestRunBody", "components": document["components"]}
    body = {"projectId": str(UUID(int=1)), "flow": {"id": "f", "version": "1.0.0"}, "status": "running"}

    Draft202012Validator(schema).validate(body | {"input": value})
    assert not Draft202012Validator(schema).is_valid(body)


def test_reading_the_document_is_for_anybody_and_is_not_stored() -> None:
    response = WireClient("kgi_unknown").get("/v1/openapi.json")

    assert response.status_code == 200
    assert response["Cache-Control"] == "no-store"
