"""GET /v1/projects/{projectId}/correcting-rules/{ruleId}/versions (contract 18.1)."""

import pytest

from corrections.drafts import RuleChange
from corrections.models import CorrectingRuleVersion
from corrections.services.correcting_rules import change_rule, stop_rule
from kindgi_site import clock
from tests.factories import caller_of, person_with
from tests.queueing import write_rule


def test_versions_stand_newest_first_with_who_wrote_them(api_client, caller, project):
    first = write_rule(caller, project, "a")
    other = caller_of(person_with(project))
    rule_id = str(first.rule_id)
    second = change_rule(caller=other, project=project, rule_id=rule_id, change=RuleChange(name="b", max_open=3))
    stopped, _ = stop_rule(caller=other, project=project, rule_id=rule_id)
    write_rule(caller, project, "another rule")

    body = api_client.get(f"/v1/projects/{project.id}/correcting-rules/{rule_id}/versions").json()

    shared = {
        "ruleId": rule_id,
        "projectId": str(project.id),
        "when": {},
        "sample": 1,
        "enabled": True,
        "unregisteredAt": clock.wire_time(stopped.unregistered_at),
    }
    assert body == {
        "data": [
            shared
            | {
                "version": 2,
                "name": "b",
                "maxOpen": 3,
                "createdBy": f"user:{other.id}",
                "createdAt": clock.wire_time(second.created_at),
            },
            shared
            | {
                "version": 1,
                "name": "a",
                "createdBy": f"user:{caller.id}",
                "createdAt": clock.wire_time(first.created_at),
            },
        ],
        "hasMore": False,
    }


@pytest.mark.parametrize("count", [1, 300])
def test_pages_in_a_fixed_number_of_statements(api_client, caller, project, count, django_assert_num_queries):
    rule = write_rule(caller, project)
    CorrectingRuleVersion.objects.bulk_create(
        CorrectingRuleVersion(
            rule_id=rule.rule_id, number=number, name="n", sample=1.0, enabled=True, created_by="user:x"
        )
        for number in range(2, count + 2)
    )
    path = f"/v1/projects/{project.id}/correcting-rules/{rule.rule_id}/versions?limit=100"
    api_client.get(path)

    found, cursor = [], ""
    while True:
        with django_assert_num_queries(5):
            page = api_client.get(path + cursor).json()
        found += [row["version"] for row in page["data"]]
        if not page["hasMore"]:
            break
        cursor = f"&cursor={page['nextCursor']}"

    assert found == list(range(count + 1, 0, -1))
