"""GET /v1/projects/{projectId}/correcting-rules/{ruleId} (contract 18.1)."""

from corrections.drafts import RuleChange, RuleWhen
from corrections.services.correcting_rules import change_rule, stop_rule
from kindgi_site import clock
from tests.queueing import project_group, write_rule


def test_the_version_that_applies_is_shown_also_of_a_stopped_rule(api_client, caller, project):
    group = project_group(project)
    rule = write_rule(caller, project, "a", when=RuleWhen(flow_ids=("f",)), sample=0.5, group_id=str(group.id))
    second = change_rule(
        caller=caller, project=project, rule_id=str(rule.rule_id), change=RuleChange(name="b", enabled=False)
    )
    path = f"/v1/projects/{project.id}/correcting-rules/{rule.rule_id}"

    body = api_client.get(path).json()

    whole = {
        "ruleId": str(rule.rule_id),
        "projectId": str(project.id),
        "version": 2,
        "name": "b",
        "when": {"flowIds": ["f"]},
        "sample": 0.5,
        "correctorGroupId": str(group.id),
        "enabled": False,
        "createdBy": f"user:{caller.id}",
        "createdAt": clock.wire_time(second.created_at),
    }
    assert body == whole
    stopped, _ = stop_rule(caller=caller, project=project, rule_id=str(rule.rule_id))
    assert api_client.get(path.replace(str(rule.rule_id), str(rule.rule_id).upper())).json() == whole | {
        "unregisteredAt": clock.wire_time(stopped.unregistered_at)
    }
    assert api_client.head(path).status_code == 200
