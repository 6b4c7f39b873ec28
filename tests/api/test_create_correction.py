"""`POST /v1/corrections`: the ordered checks and the whole answers (contract 7.1, 7.2)."""

import json
from uuid import uuid4

import pytest

from corrections.models import Correction, Run, RunContent, RunCopy
from kindgi_site import clock
from kindgi_site.callers import ReviewerRole
from kindgi_site.clock import wire_time
from kindgi_site.exact_json import JsonText
from kindgi_site.workspaces.services.keys import store_key
from tests.api.expect import assert_refused, golden, nothing_stored
from tests.factories import (
    CorrectorGroupFactory,
    FlowRunFactory,
    ProjectFactory,
    RunFactory,
    WorkspaceFactory,
    caller_behind,
    person_with,
    service_with,
)
from tests.seed_schema import faults, needs_seed_schema
from tests.wire import WireClient

PATH = "/v1/corrections"

KINDS = {
    "end_user": {"decisions": "wrong", "mustNotCall": ["close"], "participantId": "end-user"},
    "wrong_decisions": {
        "decisions": "wrong",
        "shouldCall": [{"tool": "refund", "args": {"b": 2, "a": None}}, {"tool": "notify"}],
        "mustNotCall": ["close", "cancel", "close"],
        "answer": "right",
        "why": "The refund is missing.",
    },
    "wrong_answer": {"answer": "wrong", "shouldSay": "On Tuesday. ", "why": "It is late."},
    "wrong_item": {
        "items": [
            {"verdict": "right", "key": "b", "rank": 2.0, "pointer": ""},
            {"key": "a", "verdict": "wrong", "pointer": "/sources/1"},
        ],
        "why": "",
        "shouldCall": [],
    },
    "nothing_wrong": {"decisions": "right", "answer": "right", "items": [{"key": "é", "verdict": "right"}]},
}


def answer_of(response, recorded, **more):
    """The golden answer of a kind of correction, with what only the server knows."""
    return golden(
        f"correction_{more.pop('kind')}",
        id=str(recorded.id),
        tenant=str(recorded.workspace_id),
        project=str(recorded.project_id),
        run=str(recorded.run_id),
        maker=recorded.made_by_id,
        at=wire_time(recorded.created_at),
        **more,
    )


@needs_seed_schema
@pytest.mark.parametrize(("kind", "said"), KINDS.items(), ids=KINDS)
def test_the_answer_is_the_correction_as_stored(api_client, run, reviewer, kind, said):
    before = clock.now()

    response = api_client.post(PATH, {"runId": str(run.run_id)} | said)

    recorded = Correction.objects.get()
    body = json.loads(response.content)
    assert before <= recorded.created_at <= clock.now()
    assert recorded.made_by_id == str(reviewer.id)
    assert (response.status_code, body) == (201, answer_of(response, recorded, kind=kind))
    assert list(body) == list(answer_of(response, recorded, kind=kind))
    assert faults("Correction", body) == []


@needs_seed_schema
def test_who_speaks_for_a_restricted_group_is_an_expert(project, run, workspace):
    group = CorrectorGroupFactory(workspace=workspace, principal_kinds=["service"])
    service = service_with(project)
    client = WireClient(store_key(workspace=workspace, principal=service)[1])

    response = client.post(PATH, {"runId": str(run.run_id), "answer": "right", "correctorGroupId": str(group.id)})

    recorded = Correction.objects.get()
    body = json.loads(response.content)
    assert recorded.made_by_id == str(service.id)
    assert (response.status_code, body) == (201, answer_of(response, recorded, kind="expert", group=str(group.id)))
    assert faults("Correction", body) == []


@needs_seed_schema
def test_a_flows_correction_names_the_flow(api_client, project):
    run = FlowRunFactory(project=project)

    response = api_client.post(PATH, {"runId": str(run.run_id), "answer": "right"})

    body = json.loads(response.content)
    assert (response.status_code, body["subject"]) == (201, {"kind": "flow", "id": "ranking", "version": "1.2.0"})
    assert faults("Correction", body) == []


def test_arguments_come_back_text_for_text(api_client, run):
    args = '{"b":1.0,"a":12345678901234567890,"n":1e400,"nul":"\\u0000\\ud800","a":{"z":[-0,1E2]}}'
    body = f'{{"runId":"{run.run_id}","decisions":"wrong","shouldCall":[{{"tool":"refund","args":{args}}}]}}'

    response = api_client.post(PATH, body)

    # A repeated key within arguments may be told once: the last one wins.
    told = '{"b":1.0,"a":{"z":[-0,1E2]},"n":1e400,"nul":"\\u0000\\ud800"}'
    assert response.status_code == 201
    assert any(f'"args":{text}' in response.content.decode() for text in (args, told)), response.content


def test_the_run_id_may_be_written_in_capitals(api_client, run):
    assert api_client.post(PATH, {"runId": str(run.run_id).upper(), "answer": "right"}).status_code == 201


def test_a_later_correction_of_the_same_maker_supersedes(api_client, run):
    first = json.loads(api_client.post(PATH, {"runId": str(run.run_id), "answer": "right"}).content)
    second = json.loads(api_client.post(PATH, {"runId": str(run.run_id), "decisions": "right"}).content)

    earlier = json.loads(api_client.get(f"{PATH}/{first['id']}").content)
    earlier.pop("run")
    assert earlier == first | {
        "status": "removed",
        "updatedAt": second["createdAt"],
        "unregisteredAt": second["createdAt"],
        "supersededBy": second["id"],
    }
    assert RunCopy.objects.count() == 1


# The ordered checks: each beats the next.


def correct(client, run_id, **said):
    return client.post(PATH, {"runId": str(run_id), "answer": "right"} | said)


def denied(project, reason, action="write"):
    return {"action": action, "resource": {"type": "project", "id": str(project.id)}, "reason": reason}


@pytest.fixture
def outsider_client(project, workspace):
    """Of the same workspace, without a role in the project."""
    return WireClient(store_key(workspace=workspace, principal=person_with(project, None))[1])


NO_WRITE = "You need the write permission on this project."
NO_POINTER = {"items": [{"key": "a", "verdict": "right", "pointer": "/nowhere"}]}


def test_the_body_beats_the_unknown_run(viewer_client, project):
    with nothing_stored():
        response = correct(viewer_client, uuid4(), answer="no")

    assert_refused(response, 400, "bad-input", field="answer")


@pytest.mark.parametrize("run_id", ["0bd5f2e4-6f3c-4c19-8d0b-6a3a1a6f2f4e", "no-uuid", " x"])
def test_the_unknown_run_beats_the_permission(outsider_client, run_id):
    with nothing_stored():
        response = correct(outsider_client, run_id)

    assert_refused(response, 404, "run-not-found", runId=run_id)


@pytest.mark.parametrize("spelling", ["{hex}", "{{{id}}}", "urn:uuid:{id}"])
def test_only_the_run_id_itself_names_the_run(api_client, run, spelling):
    run_id = spelling.format(hex=run.run_id.hex, id=run.run_id)
    with nothing_stored():
        response = correct(api_client, run_id)

    assert_refused(response, 404, "run-not-found", runId=run_id)


def test_a_run_of_another_workspace_does_not_exist(api_client):
    elsewhere = RunFactory()
    with nothing_stored():
        response = correct(api_client, elsewhere.run_id)

    assert_refused(response, 404, "run-not-found", runId=str(elsewhere.run_id))


@pytest.mark.parametrize("who", ["viewer_client", "outsider_client"])
def test_the_permission_beats_the_erasure(request, project, run, who):
    client = request.getfixturevalue(who)
    Run.objects.update(erased_at=clock.now(), status="running")
    with nothing_stored():
        response = correct(client, run.run_id, correctorGroupId="none")

    assert_refused(response, 403, "permission-denied", **denied(project, NO_WRITE))


def test_the_erasure_beats_the_unfinished_run(api_client, run):
    Run.objects.update(erased_at=clock.now(), status="running")
    with nothing_stored():
        response = correct(api_client, run.run_id, correctorGroupId="none")

    assert_refused(response, 410, "run-erased", runId=str(run.run_id))


@pytest.mark.parametrize("status", ["pending", "running", "suspended", "failed", "cancelled"])
def test_the_unfinished_run_beats_the_group(api_client, run, status):
    Run.objects.update(status=status)
    RunContent.objects.update(output=None)
    with nothing_stored():
        response = correct(api_client, run.run_id, correctorGroupId="none", **NO_POINTER)

    assert_refused(response, 409, "run-not-finished", runId=str(run.run_id), status=status)


def test_a_run_whose_content_was_dropped_for_its_age_has_no_output_to_correct(api_client, run):
    Run.objects.update(purged_at=clock.now())
    RunContent.objects.update(input=None, output=None, context=None, calls=None)
    with nothing_stored():
        response = correct(api_client, run.run_id)

    details = {"runId": str(run.run_id), "status": "completed", "reason": "purged"}
    assert_refused(response, 409, "run-not-finished", **details)


def unknown_group(**_):
    return uuid4()


def malformed_group(**_):
    return "reviewers"


def retired_group(workspace, **_):
    return CorrectorGroupFactory(
        workspace=workspace, unregistered_at=clock.now(), min_reviewer_role=ReviewerRole.ADMIN
    ).id


def group_of_another_project(workspace, **_):
    other = ProjectFactory(workspace=workspace)
    return CorrectorGroupFactory(
        workspace=workspace, scope_kind="project", project=other, min_reviewer_role=ReviewerRole.ADMIN
    ).id


def group_of_another_agent(workspace, project):
    return CorrectorGroupFactory(workspace=workspace, scope_kind="agent", project=project, agent_id="sales").id


def group_of_another_workspace(**_):
    return CorrectorGroupFactory(workspace=WorkspaceFactory()).id


@pytest.mark.parametrize(
    "group",
    [
        unknown_group,
        malformed_group,
        retired_group,
        group_of_another_project,
        group_of_another_agent,
        group_of_another_workspace,
    ],
)
def test_the_group_that_does_not_apply_beats_its_restriction(api_client, run, project, workspace, group):
    group_id = str(group(workspace=workspace, project=project))
    with nothing_stored():
        response = correct(api_client, run.run_id, correctorGroupId=group_id, **NO_POINTER)

    assert_refused(response, 400, "corrector-group-not-applicable", correctorGroupId=group_id)


def test_a_groups_agent_is_not_a_flow_of_that_name(api_client, project, workspace):
    run = FlowRunFactory(project=project)
    group = CorrectorGroupFactory(workspace=workspace, scope_kind="agent", project=project, agent_id="ranking")
    with nothing_stored():
        response = correct(api_client, run.run_id, correctorGroupId=str(group.id))

    assert_refused(response, 400, "corrector-group-not-applicable", correctorGroupId=str(group.id))


@pytest.mark.parametrize("scope", ["tenant", "project", "agent"])
def test_a_group_whose_scope_covers_the_run_applies(api_client, run, project, workspace, scope):
    group = CorrectorGroupFactory(
        workspace=workspace,
        scope_kind=scope,
        project=None if scope == "tenant" else project,
        agent_id="support" if scope == "agent" else "",
    )

    body = json.loads(correct(api_client, run.run_id, correctorGroupId=str(group.id)).content)

    assert (body["correctorGroupId"], "expert" in body) == (str(group.id), False)


RESTRICTIONS = {
    "kind before id and role": (
        {"principal_kinds": ["service"], "principal_ids": ["x"], "min_reviewer_role": "admin"},
        "This group is not for this kind of caller.",
    ),
    "id before role": (
        {"principal_kinds": ["user"], "principal_ids": ["x"], "min_reviewer_role": "admin"},
        "The caller is not among those who may speak for this group.",
    ),
    "role": ({"min_reviewer_role": "senior"}, "This group needs the reviewer role senior or above."),
}


@pytest.mark.parametrize(("restriction", "reason"), RESTRICTIONS.values(), ids=RESTRICTIONS)
def test_the_restriction_beats_the_items(api_client, run, project, workspace, restriction, reason):
    group = CorrectorGroupFactory(workspace=workspace, **restriction)
    with nothing_stored():
        response = correct(api_client, run.run_id, correctorGroupId=str(group.id), **NO_POINTER)

    assert_refused(response, 403, "corrector-group-not-allowed", **denied(project, reason))


def test_every_part_of_a_restriction_that_is_met_lets_the_caller_speak(api_client, api_key, run, workspace):
    group = CorrectorGroupFactory(
        workspace=workspace,
        principal_kinds=["user"],
        principal_ids=["x", caller_behind(api_key).id],
        min_reviewer_role=ReviewerRole.STANDARD,
    )

    response = correct(api_client, run.run_id, correctorGroupId=str(group.id))

    assert json.loads(response.content)["expert"] is True


def test_the_first_item_that_leads_nowhere_is_named(api_client, run):
    said = [("a", "/content"), ("b", "/sources/2"), ("c", "/sources/-")]
    pointed = [{"key": key, "verdict": "right", "pointer": pointer} for key, pointer in said]
    with nothing_stored():
        response = correct(api_client, run.run_id, items=pointed)

    assert_refused(response, 400, "item-not-found", key="b", pointer="/sources/2")


POINTED = '{"a/b":1,"m~n":2,"~1":3,"":4,"list":["x"],"null":null,"01":5,"deep":{"list":[[0,{"k":[]}]]}}'
FOUND = ["", "/a~1b", "/m~0n", "/~01", "/", "/list/0", "/null", "/01", "/deep/list/0/1/k"]
NOT_FOUND = ["/list/01", "/list/-", "/list/1.0", "/list/+0", "/list/-1", "/list/", "/list/1", "/list/0/0", "/null/a",
             "/a/b", "//", "/deep/list/0/2", "/list/9999999999999999999999"]  # fmt: skip


@pytest.mark.parametrize("pointer", [*FOUND, "/" + "p" * 499])
def test_a_pointer_is_followed_by_the_letter(api_client, project, pointer):
    output = JsonText(POINTED[:-1] + f',"{"p" * 499}":0}}')
    run = RunFactory(project=project, content__output=output)

    response = correct(api_client, run.run_id, items=[{"key": "a", "verdict": "right", "pointer": pointer}])

    assert (response.status_code, json.loads(response.content).get("items")) == (
        201,
        [{"key": "a", "pointer": pointer, "verdict": "right"}],
    )


@pytest.mark.parametrize("pointer", NOT_FOUND)
def test_a_pointer_that_leads_nowhere_is_refused(api_client, project, pointer):
    run = RunFactory(project=project, content__output=JsonText(POINTED))
    with nothing_stored():
        response = correct(api_client, run.run_id, items=[{"key": "a", "verdict": "right", "pointer": pointer}])

    assert_refused(response, 400, "item-not-found", key="a", pointer=pointer)


def test_no_key_no_correction(run):
    with nothing_stored():
        response = correct(WireClient(None), run.run_id)

    assert_refused(response, 401, "auth-missing")


@pytest.mark.parametrize("around", [1, 300])
def test_recording_over_the_wire_takes_few_statements(
    api_client, run, project, workspace, around, django_assert_max_num_queries
):
    group = CorrectorGroupFactory(workspace=workspace)
    for _number in range(around):
        correct(api_client, RunFactory(project=project).run_id)
        CorrectorGroupFactory(workspace=workspace)
    said = {"correctorGroupId": str(group.id), "items": [{"key": "a", "verdict": "right", "pointer": "/sources/0"}]}
    correct(api_client, RunFactory(project=project).run_id)

    for _time in ("the first, with its copy", "a later one"):
        with django_assert_max_num_queries(12):
            assert correct(api_client, run.run_id, **said).status_code == 201
