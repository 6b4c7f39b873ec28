"""PATCH /v1/projects/{projectId}/correcting-rules/{ruleId} (contract 18.1)."""

from functools import partial
from uuid import uuid4

import pytest

from corrections.drafts import RuleChange, RuleWhen
from corrections.models import CorrectingRule, CorrectingRuleVersion, CorrectorGroup
from corrections.services.correcting_rules import change_rule, stop_rule
from kindgi_site import clock
from kindgi_site.workspaces.models import AuditEntry
from tests.api.expect import assert_refused, nothing_stored
from tests.at_once import at_once
from tests.queueing import project_group, write_rule


@pytest.fixture
def rule(caller, project):
    when = RuleWhen(agent_ids=("support",), include_dry_runs=True)
    group = str(project_group(project).id)
    return write_rule(caller, project, "Some", when=when, sample=0.5, max_open=7, group_id=group)


@pytest.fixture
def path(project, rule):
    return f"/v1/projects/{project.id}/correcting-rules/{rule.rule_id}"


def whole(rule, caller, response, **different):
    """The record of version 2, but for what is different."""
    record = {
        "ruleId": str(rule.rule_id),
        "projectId": str(rule.rule.project_id),
        "version": 2,
        "name": "Some",
        "when": {"agentIds": ["support"], "includeDryRuns": True},
        "sample": 0.5,
        "maxOpen": 7,
        "correctorGroupId": str(rule.group_id),
        "enabled": True,
        "createdBy": f"user:{caller.id}",
        "createdAt": response["createdAt"],
    } | different
    return {name: value for name, value in record.items() if value is not None}


@pytest.mark.parametrize(
    ("said", "fields"),
    [
        ({}, ""),
        ({"name": " Other "}, "name"),
        ({"when": {}}, "when"),
        ({"when": {"versions": ["live"]}}, "when"),
        ({"sample": 1}, "sample"),
        ({"maxOpen": 1}, "max_open"),
        ({"maxOpen": None}, "max_open"),
        ({"correctorGroupId": None}, "group_id"),
        ({"enabled": False}, "enabled"),
        ({"name": "Other", "maxOpen": None, "enabled": False}, "name max_open enabled"),
    ],
)
def test_a_change_is_a_new_version_and_the_old_one_stays(api_client, caller, rule, path, said, fields):
    first = CorrectingRuleVersion.objects.values().get()

    response = api_client.patch(path, said)

    expected = said | ({"name": said["name"].strip()} if "name" in said else {})
    assert (response.status_code, response.json()) == (200, whole(rule, caller, response.json(), **expected))
    assert CorrectingRuleVersion.objects.values().get(number=1) == first
    assert CorrectingRule.objects.get().version == 2
    entry = AuditEntry.objects.get(action="correcting-rules.update")
    assert (entry.target_id, entry.fields) == (str(rule.rule_id), fields)


def test_another_group_is_looked_for_and_a_retired_one_may_stay(api_client, caller, project, rule, path):
    CorrectorGroup.objects.update(unregistered_at=clock.now())
    assert api_client.patch(path, {"sample": 0.75}).status_code == 200

    for group_id in (str(rule.group_id), str(uuid4())):
        with nothing_stored():
            response = api_client.patch(path, {"correctorGroupId": group_id})

        assert_refused(response, 404, "corrector-group-not-found", correctorGroupId=group_id)
    group = str(project_group(project).id)
    assert api_client.patch(path, {"correctorGroupId": group}).json()["correctorGroupId"] == group


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b"", None),
        (b"null", None),
        ({"name": None}, "name"),
        ({"name": " "}, "name"),
        ({"when": None}, "when"),
        ({"when": {"agentIds": ["a"], "flowIds": ["b"]}}, "flowIds"),
        ({"sample": 0}, "sample"),
        ({"sample": None}, "sample"),
        ({"maxOpen": 0}, "maxOpen"),
        ({"correctorGroupId": ""}, "correctorGroupId"),
        ({"enabled": None}, "enabled"),
    ],
)
def test_what_is_wrong_is_refused_before_the_rule_is_looked_for(api_client, project, rule, path, body, field):
    for where in (path, f"/v1/projects/{project.id}/correcting-rules/{uuid4()}"):
        with nothing_stored():
            response = api_client.patch(where, body)

        if field is None:
            assert_refused(response, 400, "bad-input")
        else:
            assert_refused(response, 400, "bad-input", field=field)


def test_unknown_fields_are_refused(api_client, path):
    with nothing_stored():
        response = api_client.patch(path, {"ruleId": "x", "enabled": True})

    assert_refused(response, 400, "unknown-field", fields=["ruleId"])


def test_a_stopped_rule_is_not_there_to_be_changed(api_client, caller, project, rule, path):
    stop_rule(caller=caller, project=project, rule_id=str(rule.rule_id))

    with nothing_stored():
        response = api_client.patch(path, {"enabled": False})

    assert_refused(response, 404, "correcting-rule-not-found", ruleId=str(rule.rule_id))


@pytest.mark.django_db(transaction=True)
def test_eight_changes_at_one_moment_are_eight_versions(caller, project, rule):
    change = partial(change_rule, caller=caller, project=project, rule_id=str(rule.rule_id))

    at_once([partial(change, change=RuleChange(name=f"n{number}")) for number in range(8)])

    numbers = CorrectingRuleVersion.objects.order_by("number").values_list("number", flat=True)
    assert list(numbers) == list(range(1, 10))
    assert CorrectingRule.objects.get().version == 9
