"""`POST …/test-set/freeze` and the cases of frozen versions (contract 14.4, 15)."""

from datetime import timedelta

import pytest

from corrections.models import Correction, CorrectorGroup
from corrections.vocabulary import Status, Verdict
from kindgi_site.exact_json import JsonText
from tests.api.expect import assert_refused, nothing_stored
from tests.api.set_bodies import PATH, publish
from tests.at_once import at_once
from tests.factories import CorrectionFactory, CorrectorGroupFactory, ProjectFactory, RunCopyFactory, crowd
from tests.life import LONG_AGO
from tests.loop import ANSWER, RIGHT_CALL, WRONG_CALL, Loop
from tests.seed_schema import faults, needs_seed_schema
from tests.wire import WireClient
from testsets.models import HandCase, TestCase, TestSetVersion

NAME = "support.corrections"
VERSION = f"{PATH}/{NAME}/versions/1.0.0"
HAND = {
    "input": {"message": "Where is it?"},
    "agentVersion": "1.0.0",
    "output": ANSWER,
    "calls": [RIGHT_CALL],
    "expect": {"decisions": {"verdict": "right"}, "answer": {"verdict": "right"}},
}


@pytest.fixture
def path(loop):
    return f"{loop.base}/test-set/freeze"


def cases(loop, version=VERSION):
    return loop.ask("GET", f"{version}/cases?limit=100")["data"]


def add(loop, **more):
    return loop.ask("POST", f"{loop.base}/test-set/cases", HAND | more, status=201)["caseId"]


def test_a_correction_and_a_hand_case_whole(loop, path):
    group = CorrectorGroupFactory(workspace=loop.project.workspace, weight=3)
    context, segments = {"retrieved": ["faq"]}, [{"key": "country", "value": "NL"}]
    run_id = loop.run(calls=[WRONG_CALL], context=context, segments=segments)
    said = {
        "decisions": "wrong",
        "shouldCall": [{"tool": "find_order", "args": {"order": 7}}],
        "mustNotCall": ["cancel"],
        "answer": "wrong",
        "shouldSay": "On Tuesday.",
        "why": "It was moved.",
        "items": [{"key": "content", "pointer": "/content", "rank": 0, "verdict": "right"}],
    }
    correction = loop.correct(run_id, **said, correctorGroupId=str(group.id))
    hand = add(loop, expert=True, note="From the handbook.")

    response = loop.client.post(path, {"version": "1.0.0", "description": "The first."})

    answer = {"testSetId": NAME, "version": "1.0.0", "kind": "corrections", "caseCount": 2, "truncated": False}
    assert (response.status_code, response.json()) == (201, answer)
    assert cases(loop) == [
        {
            "caseId": hand,
            "subject": {"kind": "agent", "id": "support", "version": "1.0.0"},
            "input": HAND["input"],
            "output": ANSWER,
            "items": [
                {
                    "key": "answer",
                    "pointer": "",
                    "yes": 1,
                    "no": 0,
                    "yesWeight": 1,
                    "totalWeight": 1,
                    "expert": {"yesWeight": 1, "totalWeight": 1},
                    "reasons": [],
                }
            ],
            "expect": HAND["expect"],
            "expert": True,
        },
        {
            "caseId": correction,
            "runId": run_id,
            "subject": {"kind": "agent", "id": "support", "version": "1.0.0"},
            "input": {"message": "Where is my order?"},
            "context": context,
            "output": ANSWER,
            "segments": segments,
            "items": [
                {
                    "key": "content",
                    "pointer": "/content",
                    "rank": 0,
                    "yes": 1,
                    "no": 0,
                    "yesWeight": 3,
                    "totalWeight": 3,
                    "expert": {"yesWeight": 0, "totalWeight": 0, "correctionIds": []},
                    "correctionIds": [correction],
                    "reasons": [{"verdict": "yes", "reason": "It was moved.", "correctorGroupId": str(group.id)}],
                },
                {
                    "key": "answer",
                    "pointer": "",
                    "yes": 0,
                    "no": 1,
                    "yesWeight": 0,
                    "totalWeight": 3,
                    "expert": {"yesWeight": 0, "totalWeight": 0, "correctionIds": []},
                    "correctionIds": [correction],
                    "reasons": [{"verdict": "no", "reason": "It was moved.", "correctorGroupId": str(group.id)}],
                },
            ],
            "corrections": [
                {
                    "correctionId": correction,
                    "correctorGroupId": str(group.id),
                    "calls": said["shouldCall"],
                    "notCalled": ["cancel"],
                }
            ],
            "expect": {
                "decisions": {"verdict": "wrong", "shouldCall": said["shouldCall"], "mustNotCall": ["cancel"]},
                "answer": {"verdict": "wrong", "shouldSay": "On Tuesday.", "why": "It was moved."},
                "items": said["items"],
            },
        },
    ]
    version = loop.ask("GET", VERSION)
    assert (version["kind"], version["description"]) == ("corrections", "The first.")
    assert version["spec"] == {
        "source": "agent-test-set",
        "projectId": str(loop.project.id),
        "agentId": "support",
        "caseCount": 2,
        "truncated": False,
        "builtAt": version["spec"]["builtAt"],
    }


def test_frozen_as_it_was_listed_live(loop, path):
    loop.correct()
    add(loop)
    listed = loop.ask("GET", f"{loop.base}/test-set/cases")["data"]
    loop.freeze()

    live = [{name: value for name, value in case.items() if name not in ("source", "status")} for case in listed]
    assert cases(loop) == live


def test_recorded_text_stays_as_it_was_sent(loop, path):
    run_id = loop.run(output={"content": "x", "n": 12345678901234567890})
    loop.correct(run_id, decisions="wrong", shouldCall=[{"tool": "find_order", "args": {"order": 7.0}}])
    loop.freeze()

    text = loop.client.get(f"{VERSION}/cases").content.decode()

    assert '"n": 12345678901234567890' in text
    assert text.count('"args":{"order":7.0}') == 2


def test_order_is_newest_captured_first_with_hand_cases_in_between(loop, project):
    made = []
    for minutes in (1, 3, 3, 5):
        copy = RunCopyFactory(project=project, captured_at=LONG_AGO + timedelta(minutes=minutes))
        made.append(str(CorrectionFactory(copy=copy).id))
    for minutes in (2, 4):
        made.append(add(loop))
        HandCase.objects.filter(id=made[-1].removeprefix("case-")).update(
            created_at=LONG_AGO + timedelta(minutes=minutes)
        )

    loop.freeze()

    first, one, other, last, low, high = made
    assert [case["caseId"] for case in cases(loop)] == [last, high, *sorted((one, other), reverse=True), low, first]


def test_an_incomplete_case_is_left_out(loop, path):
    run_id = loop.run()
    loop.ask("POST", f"{loop.base}/test-set/cases/from-run", {"runId": run_id, "sourceKind": "FailedRun"}, status=201)

    assert loop.ask("POST", path, {"version": "1.0.0"}, status=201)["caseCount"] == 0


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("support", "support.corrections"),
        ("help%20desk%20%C3%A9", "help-desk--.corrections"),
        ("%E6%97%A5", "agent.corrections"),
        ("-x", "x.corrections"),
        ("a" * 200, "a" * 188 + ".corrections"),
    ],
)
def test_the_sets_name_comes_from_the_agents(loop, agent, name):
    path = f"/v1/projects/{loop.project.id}/agents/{agent}/test-set/freeze"

    assert loop.ask("POST", path, {"version": "1.0.0"}, status=201)["testSetId"] == name


def test_a_name_of_ones_own(loop, path):
    assert loop.ask("POST", path, {"version": "1.0.0", "testSetId": "mine"}, status=201)["testSetId"] == "mine"
    assert loop.ask("GET", f"{loop.base}/test-set")["latestFrozen"] == {"testSetId": "mine", "version": "1.0.0"}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "version"),
        ({"version": "1.0"}, "version"),
        ({"version": "1.0.0", "testSetId": "a b"}, "testSetId"),
        ({"version": "1.0.0", "testSetId": ""}, "testSetId"),
        ({"version": "1.0.0", "description": 1}, "description"),
    ],
)
def test_bodies_that_are_refused(loop, path, body, field):
    with nothing_stored():
        assert_refused(loop.client.post(path, body), 400, "bad-input", field=field)


def test_an_agent_whose_id_no_agent_can_have(loop):
    for agent in ("a%00", "a" * 201):
        base = f"/v1/projects/{loop.project.id}/agents/{agent}/test-set"
        with nothing_stored():
            assert_refused(loop.client.post(f"{base}/freeze", {"version": "1.0.0"}), 400, "bad-input", field="agentId")
            assert_refused(loop.client.post(f"{base}/cases", HAND), 400, "bad-input", field="agentId")
        assert loop.ask("GET", f"{base}/cases") == {"data": [], "hasMore": False}
        assert loop.ask("GET", base)["caseCount"] == 0


def test_who_may(loop, path, api_client, foreign_client):
    reason = "You need the admin permission on this project."
    resource = {"type": "project", "id": str(loop.project.id)}
    body = {"version": "1.0.0"}
    with nothing_stored():
        denied = api_client.post(path, body)
        assert_refused(denied, 403, "permission-denied", action="admin", resource=resource, reason=reason)
        unknown = foreign_client.post(path, body)
        assert_refused(unknown, 404, "project-not-found", projectId=str(loop.project.id))
        no_uuid = path.replace(str(loop.project.id), "x")
        assert_refused(loop.client.post(no_uuid, body), 400, "bad-input", field="projectId")


def test_the_same_version_again_changes_nothing(loop, path):
    loop.correct()
    loop.freeze()
    before = loop.client.get(f"{VERSION}/cases").content
    loop.correct()

    with nothing_stored():
        response = loop.client.post(path, {"version": "1.0.0"})

    assert_refused(response, 409, "test-set-already-registered", testSetId=NAME, version="1.0.0")
    assert loop.client.get(f"{VERSION}/cases").content == before


def test_a_name_that_belongs_to_another_project(loop, path, root_client):
    publish(Loop(root_client, ProjectFactory(workspace=loop.project.workspace)), NAME)
    with nothing_stored():
        response = loop.client.post(path, {"version": "2.0.0"})

    assert_refused(response, 409, "test-set-project-mismatch", testSetId=NAME)


@pytest.mark.django_db(transaction=True)
def test_two_who_freeze_one_version_at_once(loop, path):
    loop.correct()
    key = loop.client.key

    statuses = at_once([lambda: WireClient(key).post(path, {"version": "1.0.0"}).status_code for _one in range(2)])

    assert sorted(statuses) == [201, 409]
    assert (TestSetVersion.objects.count(), TestCase.objects.count()) == (1, 1)


def test_a_frozen_version_does_not_change(loop, root_client):
    """Not by superseding its corrections, new weights, the runs once more, a retired group, or changed hand cases."""
    group = CorrectorGroupFactory(workspace=loop.project.workspace, weight=2)
    run_id = loop.run()
    loop.correct(run_id, answer="wrong", why="Late.", correctorGroupId=str(group.id))
    removed = loop.correct()
    hand = add(loop)
    loop.freeze()
    paths = [VERSION, f"{VERSION}/cases?limit=2", f"{VERSION}/cases"]
    before = [loop.client.get(path).content.partition(b'"nextCursor"')[0] for path in paths]

    loop.correct(run_id, answer="right")
    loop.ask("POST", f"/v1/corrections/{removed}/unregister")
    again = {
        "projectId": str(loop.project.id),
        "agent": {"id": "support", "version": "1.0.0"},
        "status": "completed",
        "completedAt": "2026-03-01T09:30:00Z",
        "input": {"message": "Where is my order?"},
        "output": ANSWER,
        "calls": [RIGHT_CALL],
    }
    loop.ask("PUT", f"/v1/runs/{run_id}", again)
    patched = {"weight": 9}
    assert root_client.patch(f"/v1/corrector-groups/{group.id}", patched).status_code == 200
    assert root_client.post(f"/v1/corrector-groups/{group.id}/unregister").status_code == 200
    loop.ask("PATCH", f"{loop.base}/test-set/cases/{hand}", {"expect": {"answer": {"verdict": "wrong", "why": "No."}}})
    loop.ask("POST", f"{loop.base}/test-set/cases/{hand}/unregister")
    loop.freeze("1.1.0")

    assert CorrectorGroup.objects.get().weight == 9
    assert CorrectorGroup.objects.get().unregistered_at is not None
    assert Correction.objects.filter(status=Status.REMOVED).count() == 2
    assert [loop.client.get(path).content.partition(b'"nextCursor"')[0] for path in paths] == before
    assert len(cases(loop, VERSION.replace("1.0.0", "1.1.0"))) == 1


@pytest.mark.parametrize(("count", "truncated"), [(999, False), (1000, True)])
def test_at_most_a_thousand_cases(loop, path, project, count, truncated):
    """One of them by hand, the oldest of all, so that it is the one that is left out."""
    crowd(project, count)
    hand = add(loop)
    HandCase.objects.update(created_at=LONG_AGO)

    answer = loop.ask("POST", path, {"version": "1.0.0"}, status=201)

    assert (answer["caseCount"], answer["truncated"]) == (1000, truncated)
    assert TestCase.objects.count() == 1000
    assert TestCase.objects.filter(case_id=hand).exists() is not truncated
    positions = TestCase.objects.order_by("position").values_list("position", flat=True)
    assert list(positions) == list(range(1000))


@pytest.mark.parametrize("hundreds", [1, 3])
def test_two_statements_for_each_hundred_corrections(loop, path, project, hundreds, django_assert_num_queries):
    crowd(project, hundreds * 100)
    loop.client.get(PATH)

    with django_assert_num_queries(17 + 2 * hundreds):
        assert loop.ask("POST", path, {"version": "1.0.0"}, status=201)["caseCount"] == hundreds * 100


@needs_seed_schema
def test_pages_of_frozen_and_erased_cases_fit_the_contracts_schema(loop, root_client, project):
    erased = loop.run()
    loop.correct(erased)
    add(loop)
    add(loop, context={"history": ["Hello."], "other": 1, "toolEnv": {"find_order": {"HOST": "x"}, "odd": 7}})
    CorrectionFactory(copy=RunCopyFactory(project=project), decisions=Verdict.RIGHT, expert=True)
    copied = loop.run(context={"retrieved": [1]}, segments=[{"key": "country", "value": "NL"}])
    body = {"runId": copied, "expect": {"items": [{"key": "content", "pointer": "/content", "verdict": "right"}]}}
    loop.ask("POST", f"{loop.base}/test-set/cases", body, status=201)
    CorrectionFactory(
        copy=RunCopyFactory(project=project, segments=JsonText.of([{"key": "a", "value": "b"}])),
        decisions=Verdict.WRONG,
        must_not_call=JsonText.of(["cancel"]),
        expert=True,
    )
    loop.freeze()

    first = loop.ask("GET", f"{VERSION}/cases")
    loop.erase(erased, root_client)
    loop.erase(copied, root_client)
    second = loop.ask("GET", f"{VERSION}/cases")

    assert [len(page["data"]) for page in (first, second)] == [6, 6]
    assert [faults("TestCasePage", page) for page in (first, second)] == [[], []]
    assert sum("erased" in case for case in second["data"]) == 2
    assert [case["caseId"] for case in first["data"]] == [case["caseId"] for case in second["data"]]
