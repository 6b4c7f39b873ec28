"""`GET /v1/corrections/{correctionId}`: the correction with the copy of its run, text for text (contract 7.5, 7.6)."""

import json
from uuid import uuid4

import pytest

from corrections.models import Correction, Run, RunContent, RunCopy
from kindgi_site import clock
from kindgi_site.clock import wire_time
from kindgi_site.exact_json import JsonText
from kindgi_site.workspaces.services.keys import store_key
from tests.api.expect import assert_refused, golden
from tests.factories import (
    CorrectionFactory,
    CorrectorGroupFactory,
    FlowRunFactory,
    ProjectFactory,
    RunCopyFactory,
    RunFactory,
    person_with,
)
from tests.seed_schema import faults, needs_seed_schema
from tests.wire import WireClient

PATH = "/v1/corrections"
CONTEXT = """{"history":[{"role":"user","content":"Hello"},"anything"],"retrieved":[{"id":"faq-1"}],"recalled":null,
    "sessionApproval":{"approved":false,"rationale":"Too dear.","by":"ana"},
    "toolEnv":{"find_order":{"region":"eu"},"pay":{"limit":7}},"flow":{"calls":[],"steps":[]},"other":1}"""


def recorded(client, run, **said):
    response = client.post(PATH, {"runId": str(run.run_id)} | (said or {"answer": "right"}))
    assert response.status_code == 201, response.content
    return json.loads(response.content)


def fetched(client, correction):
    response = client.get(f"{PATH}/{correction['id']}")
    assert response.status_code == 200, response.content
    return json.loads(response.content)


@needs_seed_schema
def test_the_answer_is_the_correction_with_its_copy(api_client, project):
    run = RunFactory(
        project=project,
        replay_of="0a6f63a0-3c39-4f5e-8d0e-6f0f1a2b3c4d",
        segments=JsonText('[{"key":"region","value":"eu"},{"key":"shop","value":"berlin"}]'),
        content__context=JsonText(CONTEXT),
    )
    posted = recorded(api_client, run)

    body = fetched(api_client, posted)

    row, copy = Correction.objects.get(), RunCopy.objects.get()
    expected = golden(
        "correction_with_copy",
        id=str(row.id),
        tenant=str(row.workspace_id),
        project=str(row.project_id),
        run=str(run.run_id),
        maker=row.made_by_id,
        at=wire_time(row.created_at),
        captured=wire_time(copy.captured_at),
    )
    assert body == expected
    assert {name: value for name, value in body.items() if name != "run"} == posted
    assert (list(body), list(body["run"])) == (list(expected), list(expected["run"]))
    assert faults("CorrectionWithCopies", body) == []


@needs_seed_schema
@pytest.mark.parametrize(
    "said",
    [
        {"decisions": "wrong", "shouldCall": [{"tool": "refund", "args": {"a": 1.5}}], "mustNotCall": ["close"]},
        {"answer": "wrong", "shouldSay": "On Tuesday.", "why": "Late."},
        {"items": [{"key": "a", "pointer": "", "rank": 0, "verdict": "wrong"}]},
        {"answer": "right", "participantId": "end-user"},
        {"decisions": "right"},
    ],
)
def test_every_kind_of_correction_reads_as_it_was_answered(api_client, run, said):
    posted = recorded(api_client, run, **said)

    body = fetched(api_client, posted)

    assert body | {"run": None} == posted | {"run": None}
    assert faults("CorrectionWithCopies", body) == []


@needs_seed_schema
def test_a_copy_of_a_run_that_had_no_context_and_no_segments(api_client, run):
    copy = fetched(api_client, recorded(api_client, run))["run"]

    assert (copy["segments"], "context" in copy) == ([], False)


FLOW_CALLS = """[
    {"toolId":"search","arguments":{"q":"x"},"error":"late","callId":"c1","startedAt":"2026-01-01T00:00:00Z",
     "durationMs":12.5,"nodeId":"n1","scope":"s","extra":1},
    {"toolId":"rank","runId":"child","result":null,"fromEvent":true}]"""
FLOW_STEPS = (
    """[{"agentId":"writer","agentVersion":"1.0.0","retrieved":[1],"recalled":{},"nodeId":"n2","scope":"s","x":1}]"""
)


@needs_seed_schema
def test_a_flows_failed_calls_show_only_the_fields_of_the_seed(api_client, project):
    context = JsonText(f'{{"flow":{{"calls":{FLOW_CALLS},"steps":{FLOW_STEPS}}},"history":["not a flow\'s"]}}')
    run = FlowRunFactory(project=project, content__context=context)

    body = fetched(api_client, recorded(api_client, run))

    run_id = str(run.run_id)
    assert body["run"]["context"] == {
        "flow": {
            "calls": [
                {"runId": run_id, "nodeId": "n1", "scope": "s", "toolId": "search", "arguments": {"q": "x"}},
                {"runId": "child", "toolId": "rank", "result": None, "fromEvent": True},
            ],
            "steps": [
                {
                    "runId": run_id,
                    "nodeId": "n2",
                    "scope": "s",
                    "agentId": "writer",
                    "agentVersion": "1.0.0",
                    "retrieved": [1],
                    "recalled": {},
                }
            ],
        }
    }
    assert faults("CorrectionWithCopies", body) == []


@needs_seed_schema
@pytest.mark.parametrize(("said", "kept", "truncated"), [(200, 200, None), (201, 200, True)])
def test_the_history_of_a_copy_has_a_bound(api_client, project, said, kept, truncated):
    context = JsonText.of({"history": list(range(said))})
    run = RunFactory(project=project, content__context=context)

    body = fetched(api_client, recorded(api_client, run))

    context = body["run"]["context"]
    assert (context["history"], context.get("historyTruncated")) == (list(range(said - kept, said)), truncated)
    assert faults("CorrectionWithCopies", body) == []


@needs_seed_schema
@pytest.mark.parametrize(("said", "kept", "truncated"), [(500, 500, None), (501, 500, True)])
def test_the_calls_of_a_copy_have_a_bound(api_client, project, said, kept, truncated):
    calls = [{"toolId": f"t{number}"} for number in range(said)]
    run = FlowRunFactory(project=project, content__context=JsonText.of({"flow": {"calls": calls, "steps": []}}))

    body = fetched(api_client, recorded(api_client, run))

    flow = body["run"]["context"]["flow"]
    assert ([call["toolId"] for call in flow["calls"]], flow.get("truncated")) == (
        [f"t{number}" for number in range(kept)],
        truncated,
    )
    assert faults("CorrectionWithCopies", body) == []


# Any correction, at any time.


@needs_seed_schema
def test_a_superseded_correction_and_its_successor_share_the_copy(api_client, run):
    first = recorded(api_client, run)
    RunContent.objects.update(output=JsonText.of("changed since"))
    second = recorded(api_client, run, decisions="right")

    earlier, later = fetched(api_client, first), fetched(api_client, second)

    assert earlier["run"] == later["run"]
    assert (earlier["status"], earlier["supersededBy"]) == ("removed", second["id"])
    assert faults("CorrectionWithCopies", earlier) == []


def test_the_copy_outlives_its_run(api_client, run):
    posted = recorded(api_client, run)
    before = fetched(api_client, posted)
    Run.objects.all().delete()

    assert fetched(api_client, posted) == before


@needs_seed_schema
def test_an_erased_copy_has_no_words(api_client, run):
    posted = recorded(api_client, run)
    before = fetched(api_client, posted)
    RunCopy.objects.update(input=None, output=None, context=None, segments=None, erased_at=clock.now())

    body = fetched(api_client, posted)

    kept = {name: before["run"][name] for name in ("runId", "subject", "capturedAt")}
    assert body == before | {"run": kept | {"input": None, "output": None}}
    assert faults("CorrectionWithCopies", body) == []


def test_the_whole_row_is_told(api_client, project, workspace):
    """Every optional field of 7.1, on rows such as the status routes will leave behind."""
    at, told = clock.now(), wire_time(clock.now())
    copy = RunCopyFactory(project=project)
    group = CorrectorGroupFactory(workspace=workspace)
    row = CorrectionFactory(
        copy=copy,
        group=group,
        expert=True,
        status="open",
        sorted_to="developer",
        sorted_by_kind="fix-job",
        sorted_reason="A bug.",
        sorted_at=at,
        link_kind="pull-request",
        link_target="https://example.com/pull/7",
        fixed_how="latest",
        fixed_version="1.3.0",
        fixed_at=at,
        reopened_how="went-back",
        reopened_version="1.2.0",
        reopened_by_kind="user",
        reopened_by_id="u1",
        reopened_at=at,
        note_text="Look again.",
        note_by_kind="service",
        note_by_id="s1",
        note_at=at,
    )

    body = fetched(api_client, {"id": str(row.id)})

    told = wire_time(at)
    assert body == {
        "id": str(row.id),
        "tenantId": str(workspace.id),
        "projectId": str(project.id),
        "runId": str(copy.run_id),
        "subject": {"kind": "agent", "id": "support", "version": "1.2.0"},
        "answer": "wrong",
        "why": "It is late.",
        "correctorGroupId": str(group.id),
        "expert": True,
        "madeBy": {"kind": "service", "id": row.made_by_id},
        "status": "open",
        "sortedTo": "developer",
        "sorted": {"by": {"kind": "fix-job"}, "reason": "A bug.", "at": told},
        "link": {"kind": "pull-request", "url": "https://example.com/pull/7"},
        "fixedIn": {"version": "1.3.0", "how": "latest", "at": told},
        "reopenedIn": {"version": "1.2.0", "how": "went-back", "by": {"kind": "user", "id": "u1"}, "at": told},
        "statusNote": {"text": "Look again.", "by": {"kind": "service", "id": "s1"}, "at": told},
        "createdAt": wire_time(row.created_at),
        "updatedAt": wire_time(row.updated_at),
        "run": body["run"],
    }


def test_a_link_to_a_run_has_its_id(api_client, project):
    row = CorrectionFactory(copy__project=project, link_kind="improve-run", link_target="run-7")

    assert fetched(api_client, {"id": str(row.id)})["link"] == {"kind": "improve-run", "id": "run-7"}


# What is not the caller's is not there.


def not_found_of(response, correction_id):
    """The body of a 404 without what may differ, after a look at what must be there."""
    assert_refused(response, 404, "correction-not-found", correctionId=correction_id)
    return response.content.replace(response["X-Request-Id"].encode(), b"").replace(correction_id.encode(), b"")


def test_unknown_foreign_and_unreadable_are_one_answer(api_client, workspace):
    ids = [
        str(uuid4()),
        str(CorrectionFactory().id),
        str(CorrectionFactory(copy__project=ProjectFactory(workspace=workspace)).id),
        "not-a-uuid",
    ]

    told = {not_found_of(api_client.get(f"{PATH}/{correction_id}"), correction_id) for correction_id in ids}

    assert len(told) == 1


@pytest.mark.parametrize("spelling", ["{hex}", "urn:uuid:{id}", "{id}x"])
def test_only_the_id_itself_names_a_correction(api_client, run, spelling):
    posted = recorded(api_client, run)
    correction_id = spelling.format(hex=posted["id"].replace("-", ""), id=posted["id"])

    assert_refused(api_client.get(f"{PATH}/{correction_id}"), 404, "correction-not-found", correctionId=correction_id)


def test_a_viewer_may_read(api_client, viewer_client, run):
    posted = recorded(api_client, run)

    assert fetched(viewer_client, posted) == fetched(api_client, posted)


def test_an_admin_of_the_workspace_reads_every_project(workspace, project):
    admin = person_with(project, None, is_admin=True)
    client = WireClient(store_key(workspace=workspace, principal=admin)[1])
    row = CorrectionFactory(copy__project=ProjectFactory(workspace=workspace))

    assert fetched(client, {"id": str(row.id)})["id"] == str(row.id)


def test_a_key_limited_to_another_project_reads_nothing(reviewer, workspace, run, api_client):
    posted = recorded(api_client, run)
    other = ProjectFactory(workspace=workspace)
    limited = WireClient(store_key(workspace=workspace, principal=reviewer, project=other)[1])

    assert_refused(limited.get(f"{PATH}/{posted['id']}"), 404, "correction-not-found", correctionId=posted["id"])


@pytest.mark.parametrize("around", [1, 300])
def test_reading_takes_few_statements(api_client, run, project, around, django_assert_max_num_queries):
    for _number in range(around):
        CorrectionFactory(copy__project=project)
        CorrectionFactory(copy=RunCopy.objects.first())
    posted = recorded(api_client, run)
    api_client.get("/v1/runs")

    with django_assert_max_num_queries(4):
        fetched(api_client, posted)
