"""The examples of the OpenAPI document: what they say is taken, and is answered as they say."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from jsonschema import Draft202012Validator

from kindgi_site.api import examples
from tests.api.access import ROUTES, shape_of
from tests.api.test_access_matrix import World, undone
from tests.seed_schema import faults, needs_seed_schema
from tests.wire import WireClient

# The world's word for each name of the examples.
NAMES = {
    examples.PROJECT: "project", examples.PERSON: "person", examples.RUN: "run", examples.CORRECTION: "correction",
    examples.GROUP: "group",
}  # fmt: skip
_VARYING = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+Z")


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: Any) -> Iterator[World]:
    with django_db_blocker.unblock(), transaction.atomic():
        yield World()
        transaction.set_rollback(True)


@pytest.fixture(scope="module")
def document() -> Any:
    return WireClient(None).get("/v1/openapi.json").json()


def body_schemas(document: Any) -> dict[str, str]:
    """The component of each operation's body, by the operation's shape in the matrix of access."""
    return {
        shape_of(f"{method.upper()} {path}"): operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if "requestBody" in operation
    }


def of_world(world: World, part: Any) -> Any:
    """An example with the names of the world in the place of its own."""
    text = json.dumps(part)
    for name, word in NAMES.items():
        text = text.replace(name, world.names.values[word])
    return json.loads(text)


def without_what_varies(part: Any) -> Any:
    return json.loads(_VARYING.sub("<varies>", json.dumps(part)))


WITH_BODY = [name for name, route in ROUTES.items() if isinstance(route.body, dict)]


def test_every_body_has_its_example_and_every_example_its_schema(document):
    schemas = document["components"]["schemas"]
    for reference in body_schemas(document).values():
        assert len(schemas[reference.rpartition("/")[2]]["examples"]) == 1, reference
    for name in ("Correction", "CorrectionWithCopies", "TestCase"):
        assert len(schemas[name]["examples"]) == 1
    for name, schema in schemas.items():
        for example in schema.get("examples", ()):
            Draft202012Validator({"$ref": f"#/components/schemas/{name}", **document}).validate(example)


@pytest.mark.parametrize("name", [*WITH_BODY, "POST /v1/test-runs/{testrun}/cancel",
                                  "POST /v1/projects/{project}/correcting-queue/{item}/dismiss"])  # fmt: skip
def test_an_example_is_taken(world, document, name, db):
    method, path = name.split(" ")
    schema = document["components"]["schemas"][body_schemas(document)[shape_of(name)].rpartition("/")[2]]
    (body,) = of_world(world, schema["examples"])
    with undone():
        response = world.client("root").request(method, world.names.fill(path), body)

    assert response.status_code < 300, response.content


def test_every_operation_with_a_body_is_among_them(document):
    optional = {"POST /v1/test-runs/{}/cancel", "POST /v1/projects/{}/correcting-queue/{}/dismiss"}

    assert {shape_of(name) for name in WITH_BODY} | optional == set(body_schemas(document))


@needs_seed_schema
def test_the_story_of_the_seed_operations_is_answered_as_told(world, document, db):
    """A run is handed in, corrected, read back, and taken out in a set built of it."""
    schemas = document["components"]["schemas"]
    told = {name: schema["examples"][0] for name, schema in schemas.items() if "examples" in schema}
    client, run = world.client("root"), f"/v1/runs/{examples.RUN}"

    with undone():
        assert client.put(run, of_world(world, told["IngestRunBody"])).status_code == 201
        correction = client.post("/v1/corrections", told["CreateCorrectionBody"]).json()
        copies = client.get(f"/v1/corrections/{correction['id']}").json()
        build = f"/v1/test-sets/{examples.SET}/versions"
        assert client.post(f"{build}/from-corrections", of_world(world, told["BuildBody"])).status_code == 201
        case = client.get(f"{build}/{told['BuildBody']['version']}/cases").json()["data"][0]

    answered = {"Correction": correction, "CorrectionWithCopies": copies, "TestCase": case}
    assert without_what_varies(answered) == without_what_varies({name: told[name] for name in answered})
    assert [fault for name in answered for fault in faults(name, told[name])] == []
