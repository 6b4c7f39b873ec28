"""Made-up requests against the served OpenAPI document: no 5xx, no answer outside it, no unknown field accepted.

SCHEMATHESIS_EXAMPLES says how many requests each operation gets (`make check`: 200).
"""

import os
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, transaction
from hypothesis import HealthCheck, Phase, Verbosity, assume, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from kindgi_site.wsgi import application
from tests.api.access import served, shape_of
from tests.api.test_access_matrix import World, undone
from tests.wire import WireClient

EXAMPLES = int(os.environ.get("SCHEMATHESIS_EXAMPLES", "4"))
BUSY = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large, HealthCheck.large_base_example]
ATTEMPTS = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize=EXAMPLES < 50,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[*BUSY, HealthCheck.function_scoped_fixture],
    verbosity=Verbosity.quiet,
)


def refusal_code_conformance(_context: Any, response: Any, case: Any) -> None:
    """A refusal's code is one that its operation tells of at that status."""
    if response.status_code >= 400:
        told = case.operation.definition.raw["responses"][str(response.status_code)]
        assert response.json()["error"]["code"] in told["x-codes"], response.text


CHECKS = [
    *(not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance),
    refusal_code_conformance,
]
# What each name in an address stands for, in the world of the matrix.
NAMES = {
    "projectId": "project", "runId": "run", "correctionId": "correction", "groupId": "group", "ruleId": "rule",
    "erasureId": "erasure", "tokenId": "key", "reviewerId": "reviewer", "testSetId": "set", "caseId": "case",
}  # fmt: skip
FIXED = {"agentId": "support", "version": "1.0.0"}


def app(environ: Any, start_response: Any) -> Any:
    """The site, leaving the connection open after a request: it holds a transaction that is to be rolled back."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    return application(environ, start_response)


def operations() -> dict[str, tuple[str, str]]:
    """Every operation's method and path, as the URL conf has them; the document is read in the tests."""
    return {shape: tuple(shape.split(" ")) for shape in sorted(served())}


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: Any) -> Iterator[World]:
    with django_db_blocker.unblock(), transaction.atomic():
        yield World()
        transaction.set_rollback(True)


@pytest.fixture(scope="module")
def document() -> Any:
    return WireClient(None).get("/v1/openapi.json").json()


@pytest.fixture(scope="module")
def schema(document: Any) -> Any:
    return schemathesis.openapi.from_dict(document)


@pytest.fixture(scope="module")
def described(schema: Any) -> dict[str, Any]:
    """Each operation by its shape."""
    found = (each.ok() for each in schema.get_all_operations())
    return {shape_of(f"{each.method.upper()} {each.path}"): each for each in found}


def known_names(path: str, world: World) -> dict[str, str]:
    """What there is, by the names that an address or a body has for it."""
    known = {name: world.names.values[word] for name, word in NAMES.items()} | FIXED
    return known | ({"runId": world.names.values["testrun"]} if path.startswith("/v1/test-runs") else {})


def with_names(case: Any, world: World) -> Any:
    """The case with what there is in the place of made-up names."""
    known = known_names(case.operation.path, world)
    for name in case.path_parameters or {}:
        case.path_parameters[name] = known[name]
    if isinstance(case.body, dict):
        case.body |= {name: known[name] for name in ("projectId", "runId") if name in case.body}
    return case


def ask(case: Any, world: World) -> Any:
    headers = {"Authorization": f"Bearer {world.keys['root']}"}
    with undone():
        return case.call(app=app, base_url="http://localhost", headers=headers)


@pytest.mark.parametrize("shape", operations())
def test_every_answer_is_in_the_document(world, described, shape, db):
    operation = described[shape]
    modes = [operation.as_strategy(generation_mode=mode) for mode in GenerationMode]

    @ATTEMPTS
    @given(case=st.one_of(modes), known=st.booleans())
    def attempt(case: Any, known: bool) -> None:
        case = with_names(case, world) if known else case
        case.validate_response(ask(case, world), checks=CHECKS)

    attempt()


@pytest.mark.parametrize("shape", [shape for shape in operations() if not shape.startswith(("GET", "DELETE"))])
def test_no_unknown_field_is_accepted(world, described, document, shape, db):
    operation = described[shape]
    if not operation.body:
        return  # takes no body: whatever is sent is not looked at (contract 7.8)

    @ATTEMPTS
    @given(case=operation.as_strategy(generation_mode=GenerationMode.POSITIVE))
    def attempt(case: Any) -> None:
        assume(isinstance(case.body, dict))
        case = with_names(case, world)
        case.body["zzUnknown"] = 1
        response = ask(case, world)
        assert response.status_code >= 400, response.text

    attempt()


def test_one_request_after_the_other_by_their_links(world, schema, db):
    """Ids of answers go into later requests, wherever the document says or shows that they belong there."""
    headers = {"Authorization": f"Bearer {world.keys['root']}"}

    class Journey(schema.as_state_machine()):  # type: ignore[misc]
        def get_call_kwargs(self, case: Any) -> dict[str, Any]:
            return {"app": app, "base_url": "http://localhost", "headers": headers}

        def validate_response(self, response: Any, case: Any, **_more: Any) -> None:
            case.validate_response(response, checks=CHECKS)

        def setup(self) -> None:
            self.mark = transaction.savepoint()

        def teardown(self) -> None:
            transaction.savepoint_rollback(self.mark)

    Journey.run(settings=settings(ATTEMPTS, max_examples=EXAMPLES, stateful_step_count=6))
