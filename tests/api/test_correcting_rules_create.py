"""POST /v1/projects/{projectId}/correcting-rules (contract 18.1)."""

from uuid import uuid4

import pytest

from corrections.models import CorrectingRule, CorrectingRuleVersion
from kindgi_site import clock
from kindgi_site.workspaces.models import AuditEntry
from kindgi_site.workspaces.services.keys import store_key
from tests.api.expect import assert_refused, nothing_stored
from tests.factories import CorrectorGroupFactory, ProjectFactory, service_with
from tests.queueing import project_group
from tests.wire import WireClient


@pytest.fixture
def path(project):
    return f"/v1/projects/{project.id}/correcting-rules"


def test_the_plainest_rule_takes_everything(api_client, reviewer, project, path):
    before = clock.wire_time(clock.now())

    response = api_client.post(path, {"name": "All"})

    rule = CorrectingRule.objects.get()
    body = response.json()
    assert (response.status_code, response["Content-Type"]) == (201, "application/json")
    assert before <= body["createdAt"] <= clock.wire_time(clock.now())
    assert body == {
        "ruleId": str(rule.id),
        "projectId": str(project.id),
        "version": 1,
        "name": "All",
        "when": {},
        "sample": 1,
        "enabled": True,
        "createdBy": f"user:{reviewer.id}",
        "createdAt": body["createdAt"],
    }
    assert '"sample":1,' in response.content.decode()
    entry = AuditEntry.objects.get(target_kind="correcting-rule")
    assert (entry.action, entry.target_id) == ("correcting-rules.create", str(rule.id))
    assert (entry.by_id, entry.fields) == (str(reviewer.id), "name")


def test_everything_that_can_be_said_is_kept(project, workspace, path):
    service = service_with(project)
    client = WireClient(store_key(workspace=workspace, principal=service)[1])
    group = project_group(project)
    when = {
        "agentIds": ["support", "other", "support"],
        "versions": ["live", "1.2.0"],
        "status": ["completed"],
        "includeDryRuns": False,
    }
    said = {
        "name": "  Some \n",
        "when": when,
        "sample": 0.25,
        "maxOpen": 10.0,
        "correctorGroupId": str(group.id),
        "enabled": False,
    }

    body = client.post(path, said).json()

    version = CorrectingRuleVersion.objects.get()
    assert body == {
        "ruleId": str(version.rule_id),
        "projectId": str(project.id),
        "version": 1,
        "name": "Some",
        "when": when | {"agentIds": ["support", "other"]},
        "sample": 0.25,
        "maxOpen": 10,
        "correctorGroupId": str(group.id),
        "enabled": False,
        "createdBy": f"service_account:{service.id}",
        "createdAt": clock.wire_time(version.created_at),
    }
    assert AuditEntry.objects.get(target_kind="correcting-rule").fields == "name when sample max_open group_id enabled"


BAD = {
    "not an object": (b"[]", None),
    "no JSON": (b"{", None),
    "empty": (b"", None),
    "no name": ({}, "name"),
    "blank name": ({"name": " "}, "name"),
    "long name": ({"name": "x" * 201}, "name"),
    "name a number": ({"name": 1}, "name"),
    "null name": ({"name": None}, "name"),
    "when a list": ({"name": "n", "when": []}, "when"),
    "when null": ({"name": "n", "when": None}, "when"),
    "when unknown": ({"name": "n", "when": {"agents": ["a"]}}, "when.agents"),
    "agents empty": ({"name": "n", "when": {"agentIds": []}}, "when.agentIds"),
    "agents a text": ({"name": "n", "when": {"agentIds": "a"}}, "when.agentIds"),
    "agents too many": ({"name": "n", "when": {"agentIds": ["a"] * 51}}, "when.agentIds"),
    "agent blank": ({"name": "n", "when": {"agentIds": [" "]}}, "when.agentIds"),
    "agent too long": ({"name": "n", "when": {"agentIds": ["a" * 201]}}, "when.agentIds"),
    "flow null": ({"name": "n", "when": {"flowIds": [None]}}, "when.flowIds"),
    "versions null": ({"name": "n", "when": {"versions": None}}, "when.versions"),
    "agents and flows": ({"name": "n", "when": {"agentIds": ["a"], "flowIds": ["f"]}}, "flowIds"),
    "status failed": ({"name": "n", "when": {"status": ["failed"]}}, "status"),
    "dry runs a text": ({"name": "n", "when": {"includeDryRuns": "true"}}, "when.includeDryRuns"),
    "sample 0": ({"name": "n", "sample": 0}, "sample"),
    "sample above 1": ({"name": "n", "sample": 1.0001}, "sample"),
    "sample true": ({"name": "n", "sample": True}, "sample"),
    "sample huge": (b'{"name": "n", "sample": 1e999}', "sample"),
    "sample null": ({"name": "n", "sample": None}, "sample"),
    "cap 0": ({"name": "n", "maxOpen": 0}, "maxOpen"),
    "cap above": ({"name": "n", "maxOpen": 10_001}, "maxOpen"),
    "cap a fraction": ({"name": "n", "maxOpen": 1.5}, "maxOpen"),
    "cap true": ({"name": "n", "maxOpen": True}, "maxOpen"),
    "cap null": ({"name": "n", "maxOpen": None}, "maxOpen"),
    "group empty": ({"name": "n", "correctorGroupId": ""}, "correctorGroupId"),
    "group null": ({"name": "n", "correctorGroupId": None}, "correctorGroupId"),
    "enabled a number": ({"name": "n", "enabled": 1}, "enabled"),
}


@pytest.mark.parametrize(("body", "field"), BAD.values(), ids=BAD)
def test_what_is_wrong_is_refused(api_client, path, body, field):
    with nothing_stored():
        response = api_client.post(path, body)

    if field is None:
        assert_refused(response, 400, "bad-input")
    else:
        assert_refused(response, 400, "bad-input", field=field)


def test_at_the_bounds_it_is_taken(api_client, path):
    full = [f"{number:0200}" for number in range(50)]
    said = {"name": "x" * 200, "when": {"flowIds": full, "versions": full}, "sample": 1e-9, "maxOpen": 10_000}

    body = api_client.post(path, said).json()

    assert {name: body[name] for name in said} == said


def test_unknown_fields_are_refused_before_their_neighbours(api_client, path):
    with nothing_stored():
        response = api_client.post(path, {"b": 1, "name": "", "a": 2})

    assert_refused(response, 400, "unknown-field", fields=["b", "a"])


def test_a_group_must_be_live_and_fit_the_project(api_client, project, workspace, path):
    retired = project_group(project, unregistered_at=clock.now())
    elsewhere = project_group(ProjectFactory(workspace=workspace))
    foreign = CorrectorGroupFactory()
    for group_id in (str(retired.id), str(elsewhere.id), str(foreign.id), str(uuid4()), "x"):
        with nothing_stored():
            response = api_client.post(path, {"name": "n", "correctorGroupId": group_id})

        assert_refused(response, 404, "corrector-group-not-found", correctorGroupId=group_id)


def test_a_group_of_the_whole_workspace_will_do(api_client, workspace, path):
    group = CorrectorGroupFactory(workspace=workspace)

    assert api_client.post(path, {"name": "n", "correctorGroupId": str(group.id)}).status_code == 201


def test_the_same_request_again_is_answered_and_makes_no_second_rule(api_client, path):
    first, second = (api_client.post(path, {"name": "n"}, idempotency_key="k") for _time in range(2))

    assert (second.status_code, second.content) == (201, first.content)
    assert CorrectingRule.objects.count() == 1
