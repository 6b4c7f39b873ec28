"""`GET /v1/test-sets/{id}/versions/{version}/cases` (contract 14.4)."""

import json

import pytest

from tests.api.expect import assert_refused
from tests.api.set_bodies import PATH, publish, unregister
from tests.factories import crowd
from tests.loop import Loop
from tests.seed_schema import faults, needs_seed_schema

CASES = f"{PATH}/support.corrections/versions/1.0.0/cases"


@pytest.fixture
def frozen(loop, project) -> Loop:
    """130 cases."""
    crowd(project, 130)
    loop.freeze()
    return loop


def test_pages_in_stored_order(frozen):
    whole = frozen.ask("GET", f"{CASES}?limit=1000")
    first = frozen.ask("GET", CASES)
    rest = frozen.ask("GET", f"{CASES}?limit=100&cursor={whole['nextCursor']}")

    assert [len(page["data"]) for page in (whole, first, rest)] == [100, 25, 30]
    assert first["data"] == whole["data"][:25]
    assert (whole["hasMore"], rest["hasMore"], "nextCursor" in rest) == (True, False, False)
    ids = [case["caseId"] for case in whole["data"] + rest["data"]]
    assert len(set(ids)) == 130


def test_a_page_is_four_statements_whatever_its_length(frozen, django_assert_num_queries):
    frozen.client.get(CASES)
    for limit in (1, 100):
        with django_assert_num_queries(4):
            assert len(frozen.ask("GET", f"{CASES}?limit={limit}")["data"]) == limit


def test_the_cursor_of_another_version_is_refused(frozen):
    frozen.freeze("2.0.0")
    cursor = frozen.ask("GET", f"{CASES}?limit=1")["nextCursor"]

    response = frozen.client.get(f"{CASES.replace('1.0.0', '2.0.0')}?cursor={cursor}")

    assert (response.status_code, response.json()["error"]["code"]) == (400, "bad-input")


def test_cases_of_an_unregistered_version(loop):
    loop.correct()
    loop.freeze()
    before = loop.client.get(CASES).content
    unregister(loop, "support.corrections")

    assert loop.client.get(CASES).content == before


def test_a_set_of_another_kind_has_none(loop):
    publish(loop)

    assert loop.ask("GET", f"{PATH}/basics/versions/1.0.0/cases") == {"data": [], "hasMore": False}


@pytest.mark.parametrize(
    ("name", "version"), [("nothing", "1.0.0"), ("support.corrections", "1.0.1"), ("support.corrections", "latest")]
)
def test_unknown(loop, name, version):
    loop.freeze()
    response = loop.client.get(f"{PATH}/{name}/versions/{version}/cases")

    assert_refused(response, 404, "test-set-not-found", testSetId=name, version=version)


def test_an_erased_case_is_listed_with_what_it_is(loop, root_client):
    run_id, kept = loop.run(), loop.correct()
    correction = loop.correct(run_id)
    loop.freeze()
    before = {case["caseId"]: case for case in loop.ask("GET", CASES)["data"]}

    loop.erase(run_id, root_client)

    after = {case["caseId"]: case for case in loop.ask("GET", CASES)["data"]}
    assert after == {
        kept: before[kept],
        correction: {
            "caseId": correction,
            "runId": run_id,
            "subject": before[correction]["subject"],
            "input": None,
            "output": None,
            "items": [],
            "erased": True,
        },
    }
    assert loop.ask("GET", f"{PATH}/support.corrections")["spec"]["caseCount"] == 2


@needs_seed_schema
def test_every_kind_of_case_fits_the_contracts_schema(loop, root_client):
    """Built and frozen, by hand, copied, from a draft, promoted; whole and erased."""
    erased, copied = loop.run(), loop.run()
    loop.correct(erased)
    loop.correct(answer="right")
    cases = f"{loop.base}/test-set/cases"
    expect = {"answer": {"verdict": "wrong", "why": "No."}, "decisions": {"verdict": "wrong", "mustNotCall": ["x"]}}
    loop.ask("POST", cases, {"runId": copied, "expect": expect, "expert": True}, status=201)
    loop.ask("POST", cases, {"input": None, "agentVersion": "1.0.0", "expect": expect}, status=201)
    draft = {"query": "q", "expectedOutput": "a", "agentVersion": "1.0.0"}
    loop.ask("POST", f"{cases}/from-draft", draft, status=201)
    loop.ask("POST", f"{cases}/from-run", {"runId": copied}, status=201)
    loop.freeze()
    body = {"projectId": str(loop.project.id), "version": "1.0.0", "agentId": "support"}
    loop.ask("POST", f"{PATH}/built/versions/from-corrections", body, status=201)

    def pages():
        return [loop.ask("GET", where) for where in (CASES, CASES.replace("support.corrections", "built"))]

    whole = pages()
    for run_id in (erased, copied):
        loop.erase(run_id, root_client)
    cleared = pages()

    assert [len(page["data"]) for page in whole + cleared] == [6, 2, 6, 2]
    assert [json.dumps(page).count('"erased"') for page in cleared] == [3, 1]
    assert [faults("TestCasePage", page) for page in whole + cleared] == [[], [], [], []]
