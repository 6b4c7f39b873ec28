"""GET /v1/projects/{projectId}/correcting-queue (contract 18.4)."""

from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from corrections.drafts import CorrectionDraft, RuleChange, RuleWhen
from corrections.models import CorrectingItem, CorrectorGroup
from corrections.services.correcting_rules import change_rule
from corrections.services.queue import dismiss_item, erase_items
from corrections.services.recording import record_correction
from corrections.vocabulary import SubjectKind, Verdict
from kindgi_site import clock
from kindgi_site.callers import ReviewerRole
from kindgi_site.workspaces.services.keys import store_key
from tests.api.expect import assert_refused, nothing_stored
from tests.factories import (
    CorrectionFactory,
    CorrectorGroupFactory,
    ProjectFactory,
    ProjectRoleFactory,
    caller_of,
    person_with,
    service_with,
)
from tests.queueing import finish_run, many_items, project_group, write_rule
from tests.wire import WireClient

RIGHT = CorrectionDraft(answer=Verdict.RIGHT)


@pytest.fixture
def path(project):
    return f"/v1/projects/{project.id}/correcting-queue"


def run_ids(response) -> list[str]:
    body = response.json()
    assert body["total"] == len(body["data"])
    return [row["runId"] for row in body["data"]]


def ids(*runs) -> list[str]:
    return [str(run.run_id) for run in runs]


def test_an_empty_queue(api_client, path):
    assert api_client.get(path).json() == {"data": [], "hasMore": False, "total": 0}


def test_an_item_says_what_the_run_was_and_where_it_stands(api_client, caller, project, path):
    group, another = project_group(project), project_group(project)
    wanting = write_rule(caller, project, "experts", group_id=str(group.id))
    for_anybody = write_rule(caller, project, "anybody")
    change_rule(
        caller=caller, project=project, rule_id=str(for_anybody.rule_id), change=RuleChange(when=RuleWhen(versions=()))
    )
    write_rule(caller, project, "the same experts", group_id=str(group.id), when=RuleWhen(flow_ids=("ranking",)))
    agent = finish_run(caller, project)
    flow = finish_run(caller, project, subject_kind=SubjectKind.FLOW, subject_id="ranking", subject_version="3.0.0")
    for maker, draft in (
        (caller, RIGHT),
        (caller_of(person_with(project)), RIGHT),
        (
            caller_of(person_with(project)),
            CorrectionDraft(answer=Verdict.RIGHT, corrector_group_id=str(another.id)),
        ),
    ):
        record_correction(caller=maker, run_id=agent.run_id, draft=draft)
    dismiss_item(caller=caller, project=project, run_id=str(flow.run_id), reason="Ours.")
    first, second = CorrectingItem.objects.order_by("added_at", "id")
    third_rule = str(second.matches.order_by("rule_id").last().rule_id)

    body = api_client.get(path).json()

    rules = [{"ruleId": str(wanting.rule_id), "version": 1}, {"ruleId": str(for_anybody.rule_id), "version": 2}]
    shared = {
        "projectId": str(project.id),
        "runStatus": "completed",
        "completedAt": "2026-01-02T03:04:05.678Z",
        "wantedGroupIds": [str(group.id)],
        "anyCorrection": True,
    }
    assert body == {
        "data": [
            shared
            | {
                "runId": str(agent.run_id),
                "agentId": "support",
                "agentVersion": "1.2.0",
                "flowId": "agent.turn",
                "rules": rules,
                "progress": {
                    "total": 3,
                    "byGroup": [
                        {"correctorGroupId": str(another.id), "count": 1},
                        {"correctorGroupId": None, "count": 2},
                    ],
                },
                "addedAt": clock.wire_time(first.added_at),
                "state": "open",
                "can": {"dismiss": True, "reopen": False},
            },
            shared
            | {
                "runId": str(flow.run_id),
                "flowId": "ranking",
                "rules": [*rules, {"ruleId": third_rule, "version": 1}],
                "progress": {"total": 0, "byGroup": []},
                "addedAt": clock.wire_time(second.added_at),
                "state": "dismissed",
                "closedAt": clock.wire_time(second.closed_at),
                "closedBy": f"user:{caller.id}",
                "reason": "Ours.",
                "can": {"dismiss": False, "reopen": True},
            },
        ],
        "hasMore": False,
        "total": 2,
    }


@pytest.fixture
def each(caller, project):
    """A run in each of the states, in the order of their names here."""
    write_rule(caller, project)
    runs = {state: finish_run(caller, project) for state in ("open", "corrected", "dismissed", "erased")}
    record_correction(caller=caller, run_id=runs["corrected"].run_id, draft=RIGHT)
    dismiss_item(caller=caller, project=project, run_id=str(runs["dismissed"].run_id))
    erase_items(project.workspace_id, [runs["erased"].run_id])
    return runs


@pytest.mark.parametrize("state", ["open", "corrected", "dismissed", "erased"])
def test_by_state(api_client, each, path, state):
    response = api_client.get(f"{path}?state={state}")

    assert run_ids(response) == ids(each[state])
    [row] = response.json()["data"]
    assert (row["state"], row["can"]) == (state, {"dismiss": state == "open", "reopen": state == "dismissed"})


def test_without_a_state_all_are_listed_also_for_who_may_change_nothing(viewer_client, each, path):
    response = viewer_client.get(f"{path}?state=")

    assert run_ids(response) == ids(*each.values())
    assert {str(row["can"]) for row in response.json()["data"]} == {str({"dismiss": False, "reopen": False})}


def test_by_agent_rule_and_group(api_client, caller, project, path):
    group = project_group(project)
    rule = write_rule(caller, project, when=RuleWhen(agent_ids=("support",)))
    wanting = write_rule(caller, project, when=RuleWhen(versions=("2.0.0",)), group_id=str(group.id))
    support, newer = finish_run(caller, project), finish_run(caller, project, subject_version="2.0.0")
    flow = finish_run(caller, project, subject_kind=SubjectKind.FLOW, subject_id="support", subject_version="2.0.0")

    assert run_ids(api_client.get(f"{path}?agentId=support")) == ids(support, newer)
    assert run_ids(api_client.get(f"{path}?agentId=other")) == []
    assert run_ids(api_client.get(f"{path}?ruleId={rule.rule_id}")) == ids(support, newer)
    assert run_ids(api_client.get(f"{path}?ruleId={wanting.rule_id}")) == ids(newer, flow)
    assert run_ids(api_client.get(f"{path}?correctorGroupId={group.id}")) == ids(newer, flow)
    assert run_ids(api_client.get(f"{path}?correctorGroupId={group.id}&agentId=support")) == ids(newer)
    for name in ("ruleId", "correctorGroupId"):
        for unknown in (uuid4(), "x"):
            assert run_ids(api_client.get(f"{path}?{name}={unknown}")) == []


def test_by_time_strictly(api_client, caller, project, path, each):
    at = clock.now()
    CorrectingItem.objects.filter(run_id=each["open"].run_id).update(added_at=at + timedelta(milliseconds=1))
    CorrectingItem.objects.filter(run_id=each["erased"].run_id).update(added_at=at)
    CorrectingItem.objects.exclude(state="open").update(closed_at=at)
    CorrectingItem.objects.filter(run_id=each["dismissed"].run_id).update(closed_at=at + timedelta(milliseconds=1))

    assert run_ids(api_client.get(f"{path}?addedAfter={clock.wire_time(at)}")) == ids(each["open"])
    assert run_ids(api_client.get(f"{path}?closedAfter={clock.wire_time(at)}")) == ids(each["dismissed"])


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("state=closed", "state"),
        ("state=open,erased", "state"),
        ("forMe=yes", "forMe"),
        ("forMe=True", "forMe"),
        ("addedAfter=2026-01-01", "addedAfter"),
        ("closedAfter=now", "closedAfter"),
        ("agentId=%00", "agentId"),
    ],
)
def test_filters_that_mean_nothing_are_refused(api_client, path, query, field):
    assert_refused(api_client.get(f"{path}?{query}"), 400, "bad-input", field=field)


@pytest.fixture
def wanted(caller, project, workspace):
    """A run wanted by each kind of group, by the name of the kind; none takes anybody's correction."""
    kinds = {
        "unrestricted": project_group(project),
        "of the workspace": CorrectorGroupFactory(workspace=workspace),
        "retired": project_group(project, unregistered_at=clock.now()),
        "of seniors": project_group(project, min_reviewer_role=ReviewerRole.SENIOR),
        "of standard reviewers": project_group(project, min_reviewer_role=ReviewerRole.STANDARD),
        "of services": project_group(project, principal_kinds=["service"]),
        "of others": project_group(project, principal_ids=["somebody"]),
        "of the caller": project_group(project, principal_ids=[caller.id], principal_kinds=["user"]),
    }
    CorrectorGroup.objects.filter(id=kinds["retired"].id).update(unregistered_at=None)
    runs = {}
    for kind, group in kinds.items():
        write_rule(caller, project, when=RuleWhen(agent_ids=(kind,)), group_id=str(group.id))
        runs[kind] = finish_run(caller, project, subject_id=kind)
    CorrectorGroup.objects.filter(id=kinds["retired"].id).update(unregistered_at=clock.now())
    return runs


def test_for_me_are_those_that_the_caller_s_correction_is_of_use_to(api_client, wanted, path):
    mine = ("unrestricted", "of the workspace", "of standard reviewers", "of the caller")

    assert run_ids(api_client.get(f"{path}?forMe=true")) == ids(*(wanted[kind] for kind in mine))
    assert run_ids(api_client.get(f"{path}?forMe=false")) == ids(*wanted.values())


def test_for_me_differs_from_caller_to_caller(workspace, project, wanted, path):
    service = WireClient(store_key(workspace=workspace, principal=service_with(project))[1])
    senior = WireClient(
        store_key(workspace=workspace, principal=person_with(project), reviewer_role=ReviewerRole.SENIOR)[1]
    )

    assert run_ids(service.get(f"{path}?forMe=true")) == ids(
        wanted["unrestricted"], wanted["of the workspace"], wanted["of services"]
    )
    assert run_ids(senior.get(f"{path}?forMe=true")) == ids(
        wanted["unrestricted"], wanted["of the workspace"], wanted["of seniors"], wanted["of standard reviewers"]
    )


def test_for_me_are_those_that_anybody_s_correction_closes(api_client, caller, project, path):
    nobodys = project_group(project, principal_ids=["somebody"])
    write_rule(caller, project, group_id=str(nobodys.id))
    only_theirs = finish_run(caller, project)
    write_rule(caller, project)
    anybodys = finish_run(caller, project)

    assert run_ids(api_client.get(f"{path}?forMe=true")) == ids(anybodys)
    assert run_ids(api_client.get(path)) == ids(only_theirs, anybodys)


def test_the_total_alone(api_client, each, path):
    with nothing_stored():
        response = api_client.get(f"{path}?limit=0&state=open")

    assert response.json() == {"data": [], "hasMore": False, "total": 1}


def test_pages_have_the_total_and_no_gap_also_within_one_moment(api_client, caller, project, path):
    rule = write_rule(caller, project)
    items = many_items(rule, project, 7)
    CorrectingItem.objects.update(added_at=clock.now())

    found, cursor = [], ""
    for size in (3, 3, 1):
        page = api_client.get(f"{path}?limit=3&state=open{cursor}").json()
        assert (len(page["data"]), page["total"]) == (size, 7)
        found += [row["runId"] for row in page["data"]]
        cursor = f"&cursor={page.get('nextCursor')}"

    assert found == [str(item.run_id) for item in items]
    assert "nextCursor" not in page


def test_a_cursor_is_for_its_filters(api_client, caller, project, path):
    many_items(write_rule(caller, project), project, 3)
    cursor = api_client.get(f"{path}?limit=1&state=open").json()["nextCursor"]

    assert api_client.get(f"{path}?limit=2&state=open&cursor={cursor}").status_code == 200
    assert_refused(api_client.get(f"{path}?limit=1&cursor={cursor}"), 400, "bad-input", field="cursor")


def test_other_projects_have_their_own_queue(api_client, caller, reviewer, project, path):
    elsewhere = ProjectFactory(workspace=project.workspace)
    ProjectRoleFactory(project=elsewhere, person=reviewer)
    everywhere = caller_of(reviewer)
    for where in (project, elsewhere):
        write_rule(everywhere, where)
    here, there = (finish_run(everywhere, where) for where in (project, elsewhere))

    assert run_ids(api_client.get(path)) == ids(here)
    assert run_ids(api_client.get(f"/v1/projects/{elsewhere.id}/correcting-queue")) == ids(there)


def test_corrections_of_another_workspace_s_run_of_the_same_id_do_not_count(api_client, caller, project, path):
    write_rule(caller, project)
    run = finish_run(caller, project)
    CorrectionFactory(copy__run_id=run.run_id)

    [row] = api_client.get(path).json()["data"]

    assert (row["state"], row["progress"]) == ("open", {"total": 0, "byGroup": []})


@pytest.mark.parametrize(("query", "statements"), [("", 7), ("&forMe=true", 8), ("&state=open&agentId=support", 7)])
@pytest.mark.parametrize("count", [1, 300])
def test_the_number_of_statements_is_fixed(
    api_client, caller, project, path, count, query, statements, django_assert_num_queries
):
    rule = write_rule(caller, project)
    api_client.get(path)
    items = many_items(rule, project, count)
    for item in items[:5]:
        CorrectionFactory(copy__project=project, copy__run_id=item.run_id)

    with django_assert_num_queries(statements):
        body = api_client.get(f"{path}?limit=100{query}").json()

    assert (len(body["data"]), body["total"], body["hasMore"]) == (min(count, 100), count, count > 100)
    assert body["data"][0]["progress"]["total"] == 1
    assert UUID(body["data"][0]["runId"]) == items[0].run_id
