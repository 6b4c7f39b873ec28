"""`GET …/test-set` and `GET …/test-set/cases`: the live set of an agent (contract 15)."""

from urllib.parse import quote

import pytest

from corrections.vocabulary import SortedTo, Status
from tests.api.expect import assert_refused
from tests.factories import CorrectionFactory, CorrectorGroupFactory, ProjectFactory, RunCopyFactory
from tests.life import FIXED, LONG_AGO, REOPENED, correction_in
from tests.loop import ANSWER, WRONG_CALL, Loop
from testsets.models import TestSetVersion


@pytest.fixture
def path(loop):
    return f"{loop.base}/test-set"


def add(loop, path):
    body = {"input": 1, "agentVersion": "1.0.0", "expect": {"answer": {"verdict": "wrong", "why": "No."}}}
    return loop.ask("POST", f"{path}/cases", body, status=201)


def ids(loop, path):
    return [case["caseId"] for case in loop.ask("GET", f"{path}/cases")["data"]]


def test_an_agent_nobody_has_heard_of(loop, path):
    empty = {"caseCount": 0, "fromCorrections": 0, "byHand": 0, "incomplete": 0}
    assert loop.ask("GET", path) == {"projectId": str(loop.project.id), "agentId": "support"} | empty
    assert loop.ask("GET", f"{path}/cases") == {"data": [], "hasMore": False}


@pytest.mark.parametrize("agent", ["team/support", "/support", "two\nlines", "ä b%2F"])
def test_an_agents_id_may_hold_anything_percent_encoded(loop, agent):
    """Clients leave nothing in a path unencoded (contract 20)."""
    loop.agent, loop.base = agent, f"/v1/projects/{loop.project.id}/agents/{quote(agent, safe='')}"
    case = loop.correct()

    assert ids(loop, f"{loop.base}/test-set") == [case]
    assert add(loop, f"{loop.base}/test-set")["subject"]["id"] == agent
    assert loop.change("pin", "1.1.0")["agentId"] == agent
    assert loop.ask("GET", f"{loop.base}/live")["version"] == "1.1.0"
    assert loop.ask("GET", loop.base)["agentId"] == agent
    loop.freeze()


def test_a_stray_slash_is_no_part_of_an_agents_id(loop, path):
    for address in (loop.base, path, f"{loop.base}/live-changes"):
        response = loop.client.get(f"{address}/")
        assert (response.status_code, response["Location"]) == (301, address)


def test_counts(loop, path):
    loop.correct()
    loop.correct()
    add(loop, path)

    assert loop.ask("GET", path) == {
        "projectId": str(loop.project.id),
        "agentId": "support",
        "caseCount": 3,
        "fromCorrections": 2,
        "byHand": 1,
        "incomplete": 0,
    }


def test_the_latest_frozen_version_that_is_in_use(loop, path):
    for version in ("1.0.0", "1.1.0"):
        loop.freeze(version)
    assert loop.ask("GET", path)["latestFrozen"] == {"testSetId": "support.corrections", "version": "1.1.0"}

    loop.ask("POST", "/v1/test-sets/support.corrections/versions/1.1.0/unregister")
    assert loop.ask("GET", path)["latestFrozen"]["version"] == "1.0.0"

    loop.ask("POST", "/v1/test-sets/support.corrections/versions/1.0.0/unregister")
    assert "latestFrozen" not in loop.ask("GET", path)


def test_a_version_built_from_corrections_is_no_frozen_one(loop, path):
    body = {"projectId": str(loop.project.id), "version": "1.0.0", "agentId": "support"}
    loop.ask("POST", "/v1/test-sets/support.corrections/versions/from-corrections", body, status=201)

    assert TestSetVersion.objects.count() == 1
    assert "latestFrozen" not in loop.ask("GET", path)


def test_a_live_case_whole(loop, path):
    group = CorrectorGroupFactory(workspace=loop.project.workspace, weight=2)
    run_id = loop.run(calls=[WRONG_CALL])
    should = [{"tool": "find_order", "args": {"order": 7}}]
    said = {"decisions": "wrong", "shouldCall": should, "answer": "wrong", "why": "Late."}
    correction = loop.correct(run_id, **said, correctorGroupId=str(group.id))

    (case,) = loop.ask("GET", f"{path}/cases")["data"]

    assert case == {
        "caseId": correction,
        "runId": run_id,
        "subject": {"kind": "agent", "id": "support", "version": "1.0.0"},
        "input": {"message": "Where is my order?"},
        "output": ANSWER,
        "items": [
            {
                "key": "answer",
                "pointer": "",
                "yes": 0,
                "no": 1,
                "yesWeight": 0,
                "totalWeight": 2,
                "expert": {"yesWeight": 0, "totalWeight": 0, "correctionIds": []},
                "correctionIds": [correction],
                "reasons": [{"verdict": "no", "reason": "Late.", "correctorGroupId": str(group.id)}],
            }
        ],
        "corrections": [
            {"correctionId": correction, "correctorGroupId": str(group.id), "calls": should, "notCalled": []}
        ],
        "expect": {
            "decisions": {"verdict": "wrong", "shouldCall": should},
            "answer": {"verdict": "wrong", "why": "Late."},
        },
        "source": "correction",
        "status": "with-owner",
    }


@pytest.mark.parametrize(
    ("status", "sorted_to", "more", "is_in"),
    [
        pytest.param(Status.OPEN, None, {}, True, id="open, unsorted"),
        pytest.param(Status.OPEN, None, REOPENED, True, id="reopened, unsorted: recorded right before"),
        pytest.param(Status.OPEN, SortedTo.IMPROVE, {}, True, id="open, sorted"),
        pytest.param(Status.WITH_OWNER, None, {}, True, id="with the owner"),
        pytest.param(Status.BEING_FIXED, SortedTo.IMPROVE, {}, True, id="being fixed"),
        pytest.param(Status.FIXED, SortedTo.IMPROVE, FIXED, True, id="fixed"),
        pytest.param(Status.WONT_FIX, SortedTo.IMPROVE, {}, False, id="will not be fixed"),
        pytest.param(Status.REMOVED, None, {}, False, id="removed"),
        pytest.param(Status.OPEN, None, {"participant_id": "customer-1"}, False, id="an end user's, unsorted"),
        pytest.param(Status.OPEN, SortedTo.IMPROVE, {"participant_id": "customer-1"}, True, id="an end user's, sorted"),
        pytest.param(Status.FIXED, SortedTo.IMPROVE, {"participant_id": "c"}, True, id="an end user's, fixed"),
    ],
)
def test_which_corrections_are_in_it(loop, path, project, status, sorted_to, more, is_in):
    correction = correction_in(project, status, sorted_to, **more)

    assert ids(loop, path) == [str(correction.id)] * is_in
    assert loop.ask("GET", path)["fromCorrections"] == is_in


def test_corrections_of_other_runs_are_not_in_it(loop, path, project):
    """Replays, erased runs, other agents, flows and projects."""
    for more in (
        {"is_replay": True},
        {"erased_at": LONG_AGO},
        {"subject_id": "billing"},
        {"subject_kind": "flow"},
        {"project": ProjectFactory(workspace=project.workspace)},
    ):
        CorrectionFactory(copy=RunCopyFactory(**{"project": project} | more))

    assert ids(loop, path) == []


def test_pages_go_through_corrections_and_hand_cases_alike(loop, path):
    made = []
    for _one in range(3):
        run_id = loop.run()
        made += [loop.correct(run_id), add(loop, path)["caseId"]]

    seen, cursor = [], ""
    while cursor is not None:
        page = loop.ask("GET", f"{path}/cases?limit=2{cursor}")
        seen += [case["caseId"] for case in page["data"]]
        cursor = f"&cursor={page['nextCursor']}" if page["hasMore"] else None

    assert seen == ids(loop, path)
    assert sorted(seen) == sorted(made)


def test_two_corrections_of_one_run_are_two_cases_on_any_page(loop, path, api_client):
    """Both at the run's one time of capture."""
    run_id = loop.run()
    first = loop.correct(run_id)
    second = api_client.post("/v1/corrections", {"runId": run_id, "answer": "right"}).json()["id"]

    page = loop.ask("GET", f"{path}/cases?limit=1")
    rest = loop.ask("GET", f"{path}/cases?limit=1&cursor={page['nextCursor']}")

    assert [case["caseId"] for case in page["data"] + rest["data"]] == sorted((first, second), reverse=True)


def test_who_may_read(loop, path, viewer_client, foreign_client, root_client):
    for where in (path, f"{path}/cases"):
        assert viewer_client.get(where).status_code == 200
        details = {"projectId": str(loop.project.id)}
        assert_refused(foreign_client.get(where), 404, "project-not-found", **details)
        assert_refused(loop.client.get(where.replace(str(loop.project.id), "x")), 400, "bad-input", field="projectId")
    unread = Loop(root_client, ProjectFactory(workspace=loop.project.workspace))
    response = loop.client.get(f"{unread.base}/test-set")
    assert_refused(response, 404, "project-not-found", projectId=str(unread.project.id))


@pytest.mark.parametrize("count", [1, 3])
def test_statements_do_not_grow_with_the_cases(loop, path, count, django_assert_num_queries):
    for _one in range(count):
        loop.correct()
        add(loop, path)
    loop.client.get(path)

    with django_assert_num_queries(6):
        assert len(ids(loop, path)) == 2 * count
