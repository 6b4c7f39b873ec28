"""The three seed operations of the served document beside the contract's own: the same, save for what is named here."""

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tests.seed_schema import DOCUMENT, needs_seed_schema
from tests.wire import WireClient

pytestmark = needs_seed_schema
OPERATIONS = ("corrections.create", "corrections.get", "testSets.versions.cases")
WORDS = (
    *(
        "type",
        "enum",
        "const",
        "pattern",
        "format",
        "default",
        "required",
        "additionalProperties",
        "minimum",
        "maximum",
    ),
    *("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
)
# The pages' renderer does not print these; the contract's text has them (20, 21).
HARD = {"x-predecessor-const": "const", "x-predecessor-minimum": "minimum"}

Fact = tuple[str, str]  # where, and which word
Facts = dict[Fact, Any]

ALLOWED: dict[str, dict[Fact, Any]] = {
    "every operation may be stopped by a stage before the route (contract 1)": {
        (status, "status"): True for status in ("400", "403", "413", "429", "500")
    },
    "a workspace out of requests is told when to come back (1.2)": {("429", "header Retry-After"): True},
    "a key for retries has a longest length (6)": {("header Idempotency-Key", "maxLength"): 255},
    "unknown fields are refused, in the body and inside it (4.1)": {
        (place, "additionalProperties"): False for place in ("request", "request/items/*", "request/shouldCall/*")
    },
    "a tool that must not be called is named like one that should be (7.2)": {
        ("request/mustNotCall/*", "minLength"): 1,
        ("request/mustNotCall/*", "maxLength"): 200,
    },
    "a participant is named in an erasure too, which takes so much (12.2)": {
        ("request/participantId", "maxLength"): 256
    },
    "what was cut says so, and says nothing else (7.5)": {
        (f"200/{place}/context/{flag}", "const"): True
        for place in ("run", "data/*")
        for flag in ("historyTruncated", "flow/truncated")
    },
    "weights are doubles (13.2)": {
        (f"200/data/*/items/*{part}/{word}", "format"): "double"
        for part in ("", "/expert")
        for word in ("yesWeight", "totalWeight")
    },
}


def resolved(document: Any, part: Any) -> Any:
    while "$ref" in part:
        found = document
        for name in part["$ref"].split("/")[1:]:
            found = found[name]
        part = found
    return part


def one_object(document: Any, schema: Any) -> Any:
    """A schema without a reference or `allOf` at its top."""
    schema = resolved(document, schema)
    parts = [one_object(document, part) for part in schema.get("allOf", ())]
    if not parts:
        return schema
    named = {name: part for each in parts for name, part in each["properties"].items()}
    return {"type": "object", "properties": named, "required": [name for each in parts for name in each["required"]]}


def facts_of(document: Any, schema: Any, at: str) -> Iterator[tuple[Fact, Any]]:
    """Each word of a schema that says what is allowed, with the place it says it of."""
    schema = one_object(document, schema)
    for word, value in schema.items():
        named = HARD.get(word, word)
        if named in WORDS:
            open_to_all = named == "additionalProperties" and value == {}
            yield (at, named), True if open_to_all else sorted(value) if isinstance(value, list) else value
    for name, part in schema.get("properties", {}).items():
        yield (f"{at}/{name}", "is there"), True
        yield from facts_of(document, part, f"{at}/{name}")
    if "items" in schema:
        yield from facts_of(document, schema["items"], f"{at}/*")
    for word in ("oneOf", "anyOf"):
        for number, part in enumerate(schema.get(word, ())):
            yield from facts_of(document, part, f"{at} {word} {number}")


def facts(document: Any, operation_id: str) -> Facts:
    (operation,) = [each for item in document["paths"].values() for each in item.values()
                    if each["operationId"] == operation_id]  # fmt: skip
    found: Facts = {}
    for said in operation.get("parameters", ()):
        parameter = resolved(document, said)
        place = f"{parameter['in']} {parameter['name']}"
        found[place, "needed"] = parameter.get("required", False)
        found |= facts_of(document, parameter["schema"], place)
    if "requestBody" in operation:
        found["request", "needed"] = operation["requestBody"].get("required", False)
        found |= facts_of(document, operation["requestBody"]["content"]["application/json"]["schema"], "request")
    for status, answer in operation["responses"].items():
        found[status, "status"] = True
        found |= {(status, f"header {name}"): True for name in answer.get("headers", {})}
        assert list(answer["content"]) == ["application/json"]
        schema = answer["content"]["application/json"]["schema"]
        found |= facts_of(document, schema, status if status < "400" else "a refusal")
    return found


@pytest.fixture(scope="module")
def seed() -> Any:
    return yaml.safe_load(DOCUMENT.read_text())


@pytest.fixture(scope="module")
def served() -> Any:
    return WireClient(None).get("/v1/openapi.json").json()


def addresses(document: Any) -> dict[str, str]:
    return {operation["operationId"]: f"{method} {path}" for path, item in document["paths"].items()
            for method, operation in item.items() if operation["operationId"] in OPERATIONS}  # fmt: skip


def test_they_have_their_names_and_addresses(seed: Any, served: Any) -> None:
    assert set(addresses(seed)) == set(OPERATIONS)
    assert addresses(served) == addresses(seed)


@pytest.mark.parametrize("operation_id", OPERATIONS)
def test_they_say_what_the_seed_says_and_what_is_allowed_beside_it(seed: Any, served: Any, operation_id: str) -> None:
    wanted, said = facts(seed, operation_id), facts(served, operation_id)
    allowed = {fact: value for each in ALLOWED.values() for fact, value in each.items()}

    assert len(wanted) > 100
    assert {fact: value for fact, value in wanted.items() if said.get(fact) != value} == {}
    beside = {fact: value for fact, value in said.items() if fact not in wanted}
    assert {fact: value for fact, value in beside.items() if allowed.get(fact) != value} == {}


def test_what_is_allowed_is_needed(seed: Any, served: Any) -> None:
    beside = {fact for name in OPERATIONS for fact in set(facts(served, name)) - set(facts(seed, name))}

    assert {fact for each in ALLOWED.values() for fact in each} <= beside
