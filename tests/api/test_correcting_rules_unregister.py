"""POST /v1/projects/{projectId}/correcting-rules/{ruleId}/unregister (contract 18.1)."""

from corrections.models import CorrectingItem, CorrectingRule, RuleMatch
from kindgi_site import clock
from kindgi_site.workspaces.models import AuditEntry
from tests.api.expect import nothing_stored
from tests.queueing import finish_run, write_rule


def test_a_rule_is_stopped_once_and_its_items_stay(api_client, caller, project):
    rule = write_rule(caller, project)
    finish_run(caller, project)
    items, matches = list(CorrectingItem.objects.values()), list(RuleMatch.objects.values())
    path = f"/v1/projects/{project.id}/correcting-rules/{rule.rule_id}/unregister"
    before = clock.now()

    first = api_client.post(path)

    assert (first.status_code, first.json()) == (200, {"ruleId": str(rule.rule_id), "unregistered": True})
    assert before <= CorrectingRule.objects.get().unregistered_at <= clock.now()
    assert (list(CorrectingItem.objects.values()), list(RuleMatch.objects.values())) == (items, matches)
    assert AuditEntry.objects.get(action="correcting-rules.unregister").target_id == str(rule.rule_id)
    with nothing_stored():
        second = api_client.post(path)
    assert (second.status_code, second.json()) == (200, {"ruleId": str(rule.rule_id), "unregistered": False})
