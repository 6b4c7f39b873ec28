"""Add, change and remove hand cases: `…/test-set/cases` and `…/cases/{caseId}` (contract 15)."""

from datetime import timedelta

import pytest

from corrections.models import Run
from kindgi_site.callers import ReviewerRole
from kindgi_site.workspaces.services.keys import store_key
from tests.api.expect import assert_refused, nothing_stored
from tests.factories import ProjectFactory, ReviewerFactory, person_with
from tests.life import LONG_AGO
from tests.loop import ANSWER, RIGHT_CALL, Loop
from tests.wire import WireClient
from testsets.models import HandCase

RIGHT_BOTH = {"decisions": {"verdict": "right"}, "answer": {"verdict": "right"}}
SAYING = {"answer": {"verdict": "wrong", "shouldSay": "On Tuesday.", "why": "It was moved."}}
SUBJECT = {"kind": "agent", "id": "support", "version": "1.0.0"}
UNKNOWN = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
def path(loop):
    return f"{loop.base}/test-set/cases"


def own(**more):
    """A case with content of its own; None leaves a field out."""
    said = {"input": {"message": "When?"}, "agentVersion": "1.0.0", "expect": SAYING} | more
    return {name: value for name, value in said.items() if value is not None}


def add(loop, path, body):
    return loop.ask("POST", path, body, status=201)


def test_with_content_of_its_own(loop, path, admin):
    item = {"key": "faq", "pointer": "/sources/0", "rank": 2, "verdict": "wrong"}
    expect = {
        "decisions": {"verdict": "wrong", "shouldCall": [{"tool": "a", "args": {"n": 1.0}}], "mustNotCall": ["b"]},
        **SAYING,
        "items": [item],
    }
    body = own(
        output={"content": "Monday.", "sources": ["faq"]},
        calls=[RIGHT_CALL],
        context={"history": ["Hello."], "toolEnv": {"a": {"HOST": "x"}}},
        segments=[{"key": "country", "value": "NL"}],
        note="From the handbook.",
        expect=expect,
    )

    response = loop.client.post(path, body)

    case = HandCase.objects.get()
    expected = {
        "caseId": f"case-{case.id}",
        "subject": SUBJECT,
        "input": body["input"],
        "context": body["context"],
        "output": body["output"],
        "segments": body["segments"],
        "items": [
            {
                "key": "faq",
                "pointer": "/sources/0",
                "rank": 2,
                "yes": 0,
                "no": 1,
                "yesWeight": 0,
                "totalWeight": 1,
                "reasons": [],
            },
            {
                "key": "answer",
                "pointer": "",
                "yes": 0,
                "no": 1,
                "yesWeight": 0,
                "totalWeight": 1,
                "reasons": [{"verdict": "no", "reason": "It was moved."}],
            },
        ],
        "expect": expect,
        "source": "hand",
        "note": "From the handbook.",
    }
    assert (response.status_code, response.json()) == (201, expected)
    assert loop.ask("GET", path) == {"data": [expected], "hasMore": False}
    assert (case.created_by_kind, case.created_by_id) == ("user", str(admin.id))


def test_copied_from_a_run(loop, path):
    run_id = loop.run(context={"retrieved": 1.0, "other": 1}, segments=[{"key": "country", "value": "NL"}])

    case = add(loop, path, {"runId": run_id, "expect": RIGHT_BOTH})

    assert case == {
        "caseId": case["caseId"],
        "runId": run_id,
        "subject": SUBJECT,
        "input": {"message": "Where is my order?"},
        "context": {"retrieved": 1.0},
        "output": ANSWER,
        "segments": [{"key": "country", "value": "NL"}],
        "items": [{"key": "answer", "pointer": "", "yes": 1, "no": 0, "yesWeight": 1, "totalWeight": 1, "reasons": []}],
        "expect": RIGHT_BOTH,
        "source": "hand",
    }
    stored = HandCase.objects.get()
    assert (stored.called_tools.value, stored.calls.value[0]["toolId"]) == (["find_order"], "find_order")


def test_one_run_may_be_copied_twice(loop, path):
    run_id = loop.run()
    for _again in range(2):
        add(loop, path, {"runId": run_id, "expect": RIGHT_BOTH})

    assert HandCase.objects.count() == 2


def test_null_is_an_input(loop, path):
    assert add(loop, path, own(input=None) | {"input": None})["input"] is None


def test_segments_and_context_with_nothing_in_them_are_left_out(loop, path):
    case = add(loop, path, own(segments=[], context={"unknown": 1}))

    assert not {"segments", "context"} & set(case)


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        pytest.param({"expect": None}, "expect", id="no expect"),
        pytest.param({"expect": {}}, "decisions", id="nothing expected"),
        pytest.param({"expect": {"answer": {"verdict": "wrong"}}}, "answer", id="wrong without words"),
        pytest.param({"expect": {"answer": {"verdict": "right"}}}, "expect", id="right answer, no output"),
        pytest.param({"expect": {"decisions": {"verdict": "right"}}}, "expect", id="right decisions, unknown calls"),
        pytest.param({"expect": {"items": [{"key": "a", "verdict": "wrong"}]}}, "expect", id="items, no output"),
        pytest.param({"expect": {"decisions": {"verdict": "wrong"}}}, "decisions", id="wrong decisions, no calls"),
        pytest.param({"expect": {"odd": 1}}, "expect.odd", id="unknown part"),
        pytest.param({"expect": {"answer": {"verdict": "maybe"}}}, "expect.answer.verdict", id="no verdict"),
        pytest.param({"input": None}, "runId", id="no input"),
        pytest.param({"agentVersion": None}, "runId", id="no version"),
        pytest.param({"agentVersion": "one"}, "agentVersion", id="version no version"),
        pytest.param({"runId": UNKNOWN}, "input", id="a run and content"),
        pytest.param({"runId": 7}, "runId", id="run no text"),
        pytest.param({"calls": [{}]}, "calls", id="call without a tool"),
        pytest.param({"context": {"history": 5}}, "context", id="history no list"),
        pytest.param({"context": []}, "context", id="context no object"),
        pytest.param({"segments": [{"key": "A", "value": "x"}]}, "segments", id="segment key"),
        pytest.param({"expert": 1}, "expert", id="expert no flag"),
        pytest.param({"note": "x" * 2001}, "note", id="note too long"),
    ],
)
def test_bodies_that_are_refused(loop, path, wrong, field):
    with nothing_stored():
        response = loop.client.post(path, own(**wrong))

    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (400, "bad-input")
    assert error["details"]["field"] in (field, field.partition(".")[0]), error


def test_an_unknown_field_and_null(loop, path):
    with nothing_stored():
        assert_refused(loop.client.post(path, own(odd=1)), 400, "unknown-field", fields=["odd"])
        assert_refused(loop.client.post(path, own() | {"note": None}), 400, "bad-input", field="note")


def test_a_pointer_into_nothing(loop, path):
    item = {"key": "a", "pointer": "/nothing", "verdict": "right"}
    with nothing_stored():
        response = loop.client.post(path, own(output={"a": 1}, expect={"items": [item]}))

    assert_refused(response, 400, "item-not-found", key="a", pointer="/nothing")
    case = loop.client.post(path, own(output={"a": 1})).json()["caseId"]
    with nothing_stored():
        response = loop.client.patch(f"{path}/{case}", {"expect": {"items": [item]}})

    assert_refused(response, 400, "item-not-found", key="a", pointer="/nothing")


def test_runs_that_cannot_be_copied(loop, path, root_client):
    elsewhere = Loop(root_client, ProjectFactory(workspace=loop.project.workspace)).run()
    other_agent = loop.run(agent={"id": "billing", "version": "1.0.0"})
    erased, running = loop.run(), loop.run()
    loop.erase(erased, root_client)
    Run.objects.filter(run_id=running).update(status="running")

    def asked(run_id):
        return loop.client.post(path, {"runId": run_id, "expect": RIGHT_BOTH})

    with nothing_stored():
        for run_id in (elsewhere, other_agent, UNKNOWN, "no-uuid"):
            assert_refused(asked(run_id), 404, "run-not-found", runId=run_id)
        assert_refused(asked(erased), 410, "run-erased", runId=erased)
        assert_refused(asked(running), 409, "run-not-finished", runId=running, status="running")


def client_of(project, role):
    """An editor of the project, on the roster in some role, or not at all."""
    person = person_with(project)
    if role is not None:
        ReviewerFactory(workspace=project.workspace, person=person, role=role)
    return WireClient(store_key(workspace=project.workspace, principal=person)[1])


@pytest.mark.parametrize("role", [None, *ReviewerRole])
def test_an_experts_case_takes_an_administrator_or_a_senior_reviewer(loop, path, role):
    client = client_of(loop.project, role)
    may = role is not None and role.rank >= ReviewerRole.SENIOR.rank

    response = client.post(path, own(expert=True))

    assert response.status_code == (201 if may else 403)
    assert HandCase.objects.filter(expert=True).count() == may
    assert client.post(path, own(expert=False)).status_code == 201
    assert add(loop, path, own(expert=True))["expert"] is True


def test_an_experts_weights_are_the_weights(loop, path):
    case = add(loop, path, own(expert=True))

    assert case["items"][0]["expert"] == {"yesWeight": 0, "totalWeight": 1}
    assert case["items"][0]["reasons"] == [{"verdict": "no", "reason": "It was moved.", "expert": True}]


def test_change_every_part(loop, path):
    case = add(loop, path, own(output=ANSWER, calls=[RIGHT_CALL]))
    one = f"{path}/{case['caseId']}"

    changed = loop.ask("PATCH", one, {"expect": RIGHT_BOTH, "expert": True, "note": "Better."})

    item = {"key": "answer", "pointer": "", "yes": 1, "no": 0, "yesWeight": 1, "totalWeight": 1}
    expert = {"expert": {"yesWeight": 1, "totalWeight": 1}, "reasons": []}
    assert changed == case | {"items": [item | expert], "expect": RIGHT_BOTH, "expert": True, "note": "Better."}
    assert loop.ask("GET", path)["data"] == [changed]
    assert loop.ask("PATCH", one, {}) == changed
    back = loop.ask("PATCH", one, {"expert": False, "note": "", "expect": SAYING})
    assert back == case


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"expect": {}}, "bad-input"),
        ({"expect": {"decisions": {"verdict": "right"}}}, "bad-input"),
        ({"expect": {"answer": {"verdict": "right"}}}, "bad-input"),
        ({"expect": None}, "bad-input"),
        ({"input": 1}, "unknown-field"),
    ],
)
def test_changes_that_are_refused(loop, path, body, code):
    one = f"{path}/{add(loop, path, own())['caseId']}"
    with nothing_stored():
        response = loop.client.patch(one, body)

    assert (response.status_code, response.json()["error"]["code"]) == (400, code)


def test_changing_and_keeping_an_expert_mark(loop, path):
    """Whoever may write changes an expert's case; only making it one takes an expert."""
    plain, expert = (f"{path}/{add(loop, path, own(expert=mark))['caseId']}" for mark in (False, True))
    editor = client_of(loop.project, None)

    assert editor.patch(expert, {"expert": True, "note": "Seen."}).status_code == 200
    with nothing_stored():
        assert editor.patch(plain, {"expert": True}).status_code == 403


def test_remove(loop, path):
    case = add(loop, path, own())["caseId"]

    assert loop.ask("POST", f"{path}/{case}/unregister") == {"caseId": case, "unregistered": True}

    assert loop.ask("GET", path) == {"data": [], "hasMore": False}
    with nothing_stored():
        assert_refused(loop.client.post(f"{path}/{case}/unregister"), 404, "test-case-not-found", caseId=case)
        assert_refused(loop.client.patch(f"{path}/{case}", {"note": "x"}), 404, "test-case-not-found", caseId=case)


@pytest.mark.parametrize("case", ["case-", f"case-{UNKNOWN}", UNKNOWN, "x", "case-x", "%00"])
def test_unknown_cases(loop, path, case):
    shown = case.replace("%00", "\0")
    with nothing_stored():
        assert_refused(loop.client.patch(f"{path}/{case}", {}), 404, "test-case-not-found", caseId=shown)
        assert_refused(loop.client.post(f"{path}/{case}/unregister"), 404, "test-case-not-found", caseId=shown)


def test_the_case_of_another_agent_or_project(loop, path, root_client):
    other = Loop(root_client, ProjectFactory(workspace=loop.project.workspace))
    elsewhere = add(other, f"{other.base}/test-set/cases", own())["caseId"]
    billing = add(loop, path.replace("support", "billing"), own())["caseId"]
    with nothing_stored():
        for case in (elsewhere, billing):
            assert_refused(loop.client.patch(f"{path}/{case}", {}), 404, "test-case-not-found", caseId=case)


def test_a_corrections_case_is_the_corrections(loop, path):
    """Also of a correction that is out of the set by now: its cases are in versions frozen before."""
    inside, left, removed = loop.correct(), loop.correct(), loop.correct()
    loop.ask("POST", f"/v1/corrections/{left}/status", {"status": "wont-fix"})
    loop.ask("POST", f"/v1/corrections/{removed}/unregister")
    with nothing_stored():
        for correction in (inside, left, removed):
            for response in (
                loop.client.patch(f"{path}/{correction}", {}),
                loop.client.post(f"{path}/{correction}/unregister"),
            ):
                assert_refused(response, 409, "test-case-correction-owned", caseId=correction)


def test_the_correction_of_another_agent_or_project(loop, path, root_client):
    other = Loop(root_client, ProjectFactory(workspace=loop.project.workspace))
    billing = Loop(loop.client, loop.project, "billing")
    corrections = [other.correct(), billing.correct()]
    with nothing_stored():
        for correction in corrections:
            assert_refused(loop.client.patch(f"{path}/{correction}", {}), 404, "test-case-not-found", caseId=correction)


def test_who_may_write(loop, path, viewer_client, foreign_client):
    case = add(loop, path, own())["caseId"]
    reason = "You need the write permission on this project."
    resource = {"type": "project", "id": str(loop.project.id)}
    asked = [("POST", path, own()), ("PATCH", f"{path}/{case}", {}), ("POST", f"{path}/{case}/unregister", {})]
    with nothing_stored():
        for method, where, body in asked:
            denied = viewer_client.request(method, where, body)
            assert_refused(denied, 403, "permission-denied", action="write", resource=resource, reason=reason)
            unknown = foreign_client.request(method, where, body)
            assert_refused(unknown, 404, "project-not-found", projectId=str(loop.project.id))


def test_a_case_copied_from_a_run_goes_when_the_run_is_erased(loop, path, root_client):
    run_id = loop.run()
    add(loop, path, {"runId": run_id, "expect": RIGHT_BOTH})
    kept = add(loop, path, own())
    HandCase.objects.filter(run_id=run_id).update(created_at=LONG_AGO + timedelta(days=1))

    loop.erase(run_id, root_client)

    assert loop.ask("GET", path)["data"] == [kept]
