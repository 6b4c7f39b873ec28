"""GET /v1/projects/{projectId}/correcting-rules (contract 18.1)."""

import pytest

from corrections.drafts import RuleChange
from corrections.models import CorrectingRule, CorrectingRuleVersion
from corrections.services.correcting_rules import change_rule, stop_rule
from kindgi_site import clock
from tests.api.expect import assert_refused
from tests.factories import ProjectFactory, caller_of, person_with
from tests.queueing import write_rule


@pytest.fixture
def path(project):
    return f"/v1/projects/{project.id}/correcting-rules"


def test_without_rules_the_list_is_empty(api_client, path):
    assert api_client.get(path).json() == {"data": [], "hasMore": False}


def test_live_rules_stand_oldest_first_as_they_apply(api_client, caller, project, path):
    first, stopped, second = (write_rule(caller, project, name) for name in ("a", "b", "c"))
    stop_rule(caller=caller, project=project, rule_id=str(stopped.rule_id))
    applies = change_rule(
        caller=caller, project=project, rule_id=str(first.rule_id), change=RuleChange(name="renamed", max_open=7)
    )
    theirs = ProjectFactory(workspace=project.workspace)
    write_rule(caller_of(person_with(theirs)), theirs)

    body = api_client.get(path).json()

    shared = {"projectId": str(project.id), "when": {}, "sample": 1, "createdBy": f"user:{caller.id}"}
    assert body == {
        "data": [
            shared
            | {
                "ruleId": str(first.rule_id),
                "version": 2,
                "name": "renamed",
                "maxOpen": 7,
                "enabled": True,
                "createdAt": clock.wire_time(applies.created_at),
            },
            shared
            | {
                "ruleId": str(second.rule_id),
                "version": 1,
                "name": "c",
                "enabled": True,
                "createdAt": clock.wire_time(second.created_at),
            },
        ],
        "hasMore": False,
    }


def test_pages_follow_each_other_without_a_gap_also_within_one_moment(api_client, caller, project, path):
    rules = [str(write_rule(caller, project).rule_id) for _number in range(7)]
    CorrectingRule.objects.update(created_at=clock.now())

    found, cursor = [], ""
    for size in (3, 3, 1):
        page = api_client.get(f"{path}?limit=3{cursor}").json()
        assert len(page["data"]) == size
        found += [row["ruleId"] for row in page["data"]]
        cursor = f"&cursor={page.get('nextCursor')}"

    assert (found, page["hasMore"], "nextCursor" in page) == (sorted(rules), False, False)


def test_a_rule_added_meanwhile_shifts_nothing(api_client, caller, project, path):
    first, second = (str(write_rule(caller, project).rule_id) for _number in range(2))
    page = api_client.get(f"{path}?limit=1").json()
    third = str(write_rule(caller, project).rule_id)

    rest = api_client.get(f"{path}?cursor={page['nextCursor']}").json()

    assert [row["ruleId"] for row in page["data"]] == [first]
    assert [row["ruleId"] for row in rest["data"]] == [second, third]


def test_a_cursor_of_another_list_is_refused(api_client, caller, project, path):
    for _number in range(2):
        rule = write_rule(caller, project)
    cursor = api_client.get(f"{path}?limit=1").json()["nextCursor"]

    response = api_client.get(f"{path}/{rule.rule_id}/versions?cursor={cursor}")

    assert_refused(response, 400, "bad-input", field="cursor")


@pytest.mark.parametrize("count", [1, 300])
def test_the_number_of_statements_is_fixed(api_client, caller, project, path, count, django_assert_num_queries):
    api_client.get(path)
    rules = [CorrectingRule(workspace_id=project.workspace_id, project=project) for _number in range(count)]
    CorrectingRule.objects.bulk_create(rules)
    CorrectingRuleVersion.objects.bulk_create(
        CorrectingRuleVersion(rule=rule, number=1, name="n", sample=1.0, enabled=True, created_by="user:x")
        for rule in rules
    )

    with django_assert_num_queries(4):
        body = api_client.get(f"{path}?limit=100").json()

    assert (len(body["data"]), body["hasMore"]) == (min(count, 100), count > 100)
