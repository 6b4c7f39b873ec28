"""The links of `GET /v1/openapi.json`: each leads to an operation, by parameters and fields that there are."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from kindgi_site.api.links import WAYS
from tests.wire import WireClient

METHODS = ("get", "post", "put", "patch", "delete")
_EXPRESSION = re.compile(r"\$(request|response)\.(?:(path|query)\.(\w+)|body#(/.*))")
_IN_BRACES = re.compile(r"\{(.*)\}")


class Link(NamedTuple):
    """A link, with the operation and the answer that it stands in."""

    source: dict[str, Any]
    answer: dict[str, Any]
    target: dict[str, Any]
    said: dict[str, Any]


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return dict(WireClient(None).get("/v1/openapi.json").json())


@pytest.fixture(scope="module")
def operations(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    items = document["paths"].values()
    return {item[method]["operationId"]: item[method] for item in items for method in METHODS if method in item}


@pytest.fixture(scope="module")
def links(operations: dict[str, dict[str, Any]]) -> dict[str, Link]:
    return {
        f"{name} {status} -> {called}": Link(operation, answer, operations[said["operationId"]], said)
        for name, operation in operations.items()
        for status, answer in operation["responses"].items()
        for called, said in answer.get("links", {}).items()
    }


def body_of(part: dict[str, Any]) -> dict[str, Any]:
    """The schema of a request's or an answer's JSON body."""
    return dict(part["content"]["application/json"]["schema"])


def parameters_of(operation: dict[str, Any], place: str) -> set[str]:
    return {each["name"] for each in operation.get("parameters", []) if each["in"] == place}


def field(document: dict[str, Any], schema: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """The schema of the field that a JSON Pointer's names lead to. KeyError when there is none."""
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    if not names:
        return schema
    name, *rest = names
    return field(document, schema["items"] if name.isdigit() else schema["properties"][name], rest)


def resolve(document: dict[str, Any], link: Link, expression: str) -> dict[str, Any]:
    """The schema of what an expression stands for."""
    found = _EXPRESSION.fullmatch(expression)
    assert found, expression
    side, place, name, pointer = found.groups()
    if place:
        assert side == "request", expression
        (parameter,) = [each for each in link.source["parameters"] if (each["in"], each["name"]) == (place, name)]
        return dict(parameter["schema"])
    body = link.answer if side == "response" else link.source["requestBody"]
    return field(document, body_of(body), pointer.split("/")[1:])


def leaves(body: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[list[str], str]]:
    """(where it goes, the expression in braces) of each text in a link's body."""
    inner = body.items() if isinstance(body, dict) else [("0", each) for each in body] if isinstance(body, list) else ()
    for name, part in inner:
        yield from leaves(part, (*path, name))
    if isinstance(body, str):
        found = _IN_BRACES.fullmatch(body)
        assert found, body
        yield list(path), found[1]


def test_every_way_of_the_table_is_in_the_document(links: dict[str, Link], operations: dict[str, Any]) -> None:
    successes = {
        name: sum(status < "300" for status in operation["responses"]) for name, operation in operations.items()
    }

    assert len(links) == sum(len(way.targets) * successes[way.source] for way in WAYS)


def test_a_link_takes_all_that_its_operations_address_needs(links: dict[str, Link]) -> None:
    for name, link in links.items():
        known = parameters_of(link.target, "path") | parameters_of(link.target, "query")
        assert parameters_of(link.target, "path") <= set(link.said.get("parameters", {})) <= known, name
        assert link.said.get("parameters") or link.said.get("requestBody"), name


def test_a_links_expressions_stand_for_texts_that_there_are(document: dict[str, Any], links: dict[str, Link]) -> None:
    for name, link in links.items():
        for expression in link.said.get("parameters", {}).values():
            assert resolve(document, link, expression)["type"] == "string", f"{name}: {expression}"


def test_a_links_body_has_fields_that_its_operation_takes(document: dict[str, Any], links: dict[str, Link]) -> None:
    with_body = {name: link for name, link in links.items() if "requestBody" in link.said}
    assert with_body
    for name, link in with_body.items():
        assert link.said["description"], name
        taken = body_of(link.target["requestBody"])
        for path, expression in leaves(link.said["requestBody"]):
            assert field(document, taken, path)["type"] == "string", f"{name}: {path}"
            assert resolve(document, link, expression)["type"] == "string", f"{name}: {expression}"


def test_whatever_makes_something_tells_where_it_leads(operations: dict[str, Any]) -> None:
    for name, operation in operations.items():
        for status in {"201", "202"} & set(operation["responses"]):
            assert operation["responses"][status].get("links"), name


def test_whatever_names_something_is_led_to(links: dict[str, Link], operations: dict[str, Any]) -> None:
    """Save for what a caller names by their own words."""
    own_words = {"runs.put", "agents.setOwner", "testSets.versions.fromCorrections",
                 "agentTestSet.cases.add", "agentTestSet.cases.fromDraft"}  # fmt: skip
    named = {name for name, operation in operations.items() if parameters_of(operation, "path")}

    assert named - {link.target["operationId"] for link in links.values()} == own_words
