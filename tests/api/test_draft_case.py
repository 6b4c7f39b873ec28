"""`POST …/test-set/cases/from-draft` (decisions 6 and 17)."""

import pytest

from corrections.models import Run
from tests.api.expect import assert_refused, nothing_stored
from tests.factories import ProjectFactory, RunFactory
from tests.life import LONG_AGO
from testsets.models import HandCase

DRAFT = {"query": "Where is order 7?", "expectedOutput": "On Tuesday.", "agentVersion": "1.0.0"}


@pytest.fixture
def path(loop):
    return f"{loop.base}/test-set/cases/from-draft"


def test_everything_said(loop, path):
    body = DRAFT | {
        "context": {"page": 1.0},
        "parameters": {"locale": "nl"},
        "expectedToolCalls": [{"name": "find_order", "arguments": {"order": 7}}, {"name": "tell"}],
        "sourceKind": "FailedRun",
        "sourceRunId": "run-7",
    }

    response = loop.client.post(path, body)

    case = HandCase.objects.get()
    assert (response.status_code, response.json()) == (
        201,
        {
            "caseId": f"case-{case.id}",
            "subject": {"kind": "agent", "id": "support", "version": "1.0.0"},
            "input": {"query": "Where is order 7?", "context": {"page": 1.0}, "parameters": {"locale": "nl"}},
            "output": None,
            "items": [
                {
                    "key": "answer",
                    "yes": 0,
                    "no": 1,
                    "yesWeight": 0,
                    "totalWeight": 1,
                    "reasons": [{"verdict": "no", "reason": "On Tuesday."}],
                }
            ],
            "expect": {
                "decisions": {
                    "verdict": "wrong",
                    "shouldCall": [{"tool": "find_order", "args": {"order": 7}}, {"tool": "tell", "args": {}}],
                },
                "answer": {"verdict": "wrong", "shouldSay": "On Tuesday."},
            },
            "source": "hand",
            "sourceKind": "FailedRun",
            "sourceRunId": "run-7",
        },
    )
    assert loop.client.get(f"{loop.base}/test-set/cases").content.count(b'"page": 1.0') == 1


@pytest.mark.parametrize(
    ("said", "expect"),
    [
        ({"expectedOutput": "Yes."}, {"answer": {"verdict": "wrong", "shouldSay": "Yes."}}),
        (
            {"expectedToolCalls": [{"name": "tell"}]},
            {"decisions": {"verdict": "wrong", "shouldCall": [{"tool": "tell", "args": {}}]}},
        ),
    ],
)
def test_one_of_the_two_is_enough(loop, path, said, expect):
    case = loop.ask("POST", path, {"query": "Is it?", "agentVersion": "1.0.0"} | said, status=201)

    assert (case["input"], case["expect"]) == ({"query": "Is it?"}, expect)
    assert not {"sourceKind", "sourceRunId"} & set(case)


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"query": None}, "query"),
        ({"query": " "}, "query"),
        ({"expectedOutput": None}, "expectedOutput"),
        ({"expectedOutput": None, "expectedToolCalls": []}, "expectedOutput"),
        ({"expectedOutput": 7}, "expectedOutput"),
        ({"expectedToolCalls": [{"name": ""}]}, "expectedToolCalls"),
        ({"expectedToolCalls": [{"name": "a", "arguments": []}]}, "expectedToolCalls"),
        ({"expectedToolCalls": [{"name": "a", "odd": 1}]}, "expectedToolCalls"),
        ({"parameters": {"a": 1}}, "parameters"),
        ({"parameters": []}, "parameters"),
        ({"sourceKind": "FailedRun"}, "sourceKind"),
        ({"sourceKind": "Other", "sourceRunId": "run-7"}, "sourceKind"),
        ({"sourceRunId": ""}, "sourceRunId"),
        ({"agentVersion": "x"}, "agentVersion"),
    ],
)
def test_bodies_that_are_refused(loop, path, wrong, field):
    body = {name: value for name, value in (DRAFT | wrong).items() if value is not None}
    with nothing_stored():
        response = loop.client.post(path, body)

    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (400, "bad-input")
    assert error["details"]["field"].partition(".")[0] == field


def test_the_version_is_the_live_one_else_that_of_the_newest_run_else_needed(loop, path, project):
    body = {"query": "When?", "expectedOutput": "Now."}

    def version():
        return loop.ask("POST", path, body, status=201)["subject"]["version"]

    RunFactory(project=ProjectFactory(workspace=project.workspace), subject_version="9.0.0")
    RunFactory(project=project, subject_id="billing", subject_version="9.0.0")
    with nothing_stored():
        assert_refused(loop.client.post(path, body), 400, "bad-input", field="agentVersion")

    RunFactory(project=project, subject_version="3.0.0")
    older = RunFactory(project=project, subject_version="4.0.0")
    Run.objects.filter(id=older.id).update(created_at=LONG_AGO)
    assert version() == "3.0.0"

    loop.change("latest", "2.0.0")
    assert version() == "2.0.0"
    assert loop.ask("POST", path, DRAFT, status=201)["subject"]["version"] == "1.0.0"


def test_a_viewer_may_not(loop, path, viewer_client):
    with nothing_stored():
        assert viewer_client.post(path, DRAFT).status_code == 403
