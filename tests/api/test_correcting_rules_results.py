"""GET /v1/projects/{projectId}/correcting-rules/{ruleId}/results (contract 18.5)."""

from datetime import timedelta

import pytest

from corrections.drafts import CorrectionDraft, RuleChange
from corrections.models import CorrectingItem, Correction, RuleSkip
from corrections.services.correcting_rules import change_rule
from corrections.services.queue import dismiss_item, erase_items
from corrections.services.recording import record_correction
from corrections.services.status import remove_correction
from corrections.vocabulary import SubjectKind, Verdict
from kindgi_site import clock
from tests.api.expect import assert_refused
from tests.factories import CorrectionFactory, caller_of, person_with
from tests.queueing import finish_run, many_items, project_group, write_rule

RIGHT, WRONG = CorrectionDraft(answer=Verdict.RIGHT), CorrectionDraft(answer=Verdict.WRONG, why="no")
NOTHING = {
    "added": 0,
    "open": 0,
    "corrected": 0,
    "dismissed": 0,
    "erased": 0,
    "skippedByCap": 0,
    "corrections": 0,
    "runsWithCorrections": 0,
    "yesShare": None,
    "byGroup": [],
}


def path_of(rule, project) -> str:
    return f"/v1/projects/{project.id}/correcting-rules/{rule.rule_id}/results"


def test_a_rule_that_took_nothing_has_no_results(api_client, caller, project):
    rule = write_rule(caller, project)

    assert api_client.get(path_of(rule, project)).json() == {"ruleId": str(rule.rule_id), "groups": []}


def test_results_by_version_of_the_rule_and_of_the_agent(api_client, caller, project):
    rule = write_rule(caller, project, max_open=3)
    other = caller_of(person_with(project))
    experts = project_group(project, weight=3)
    spoken = CorrectionDraft(answer=Verdict.RIGHT, corrector_group_id=str(experts.id))
    corrected, dismissed, erased = (finish_run(caller, project) for _number in range(3))
    flow = {"subject_kind": SubjectKind.FLOW, "subject_id": "ranking", "subject_version": "9.0.0"}
    finish_run(caller, project)
    finish_run(caller, project, **flow)
    for who, run, draft in (
        (caller, corrected, WRONG),
        (other, corrected, spoken),
        (caller, dismissed, RIGHT),
    ):
        record_correction(caller=who, run_id=run.run_id, draft=draft)
    taken_back = record_correction(caller=other, run_id=dismissed.run_id, draft=WRONG)
    remove_correction(caller=other, correction_id=str(taken_back.id))
    CorrectingItem.objects.filter(run_id=dismissed.run_id).update(state="dismissed", closed_at=clock.now())
    erase_items(project.workspace_id, [erased.run_id])
    change_rule(caller=caller, project=project, rule_id=str(rule.rule_id), change=RuleChange(max_open=None))
    finish_run(caller, project, subject_version="1.10.0")
    finish_run(caller, project, **flow)
    write_rule(caller, project, "another rule, whose items are not this one's")
    finish_run(caller, project, parent_run_id="p")

    body = api_client.get(path_of(rule, project)).json()

    assert body == {
        "ruleId": str(rule.rule_id),
        "groups": [
            NOTHING | {"ruleVersion": 2, "agentVersion": None, "added": 1, "open": 1},
            NOTHING | {"ruleVersion": 2, "agentVersion": "1.10.0", "added": 1, "open": 1},
            NOTHING | {"ruleVersion": 1, "agentVersion": None, "skippedByCap": 1},
            {
                "ruleVersion": 1,
                "agentVersion": "1.2.0",
                "added": 3,
                "open": 0,
                "corrected": 1,
                "dismissed": 1,
                "erased": 1,
                "skippedByCap": 1,
                "corrections": 3,
                "runsWithCorrections": 2,
                "yesShare": 0.8,
                "byGroup": [
                    {"correctorGroupId": str(experts.id), "corrections": 1, "yes": 1},
                    {"correctorGroupId": None, "corrections": 2, "yes": 1},
                ],
            },
        ],
    }


@pytest.mark.parametrize(
    ("weight", "drafts", "share"),
    [(1, [RIGHT], 1), (1, [WRONG], 0), (1, [RIGHT, WRONG], 0.5), (0, [], None)],
)
def test_the_share_of_corrections_with_nothing_wrong(api_client, caller, project, weight, drafts, share):
    rule = write_rule(caller, project)
    run = finish_run(caller, project)
    for draft in drafts:
        record_correction(caller=caller_of(person_with(project)), run_id=run.run_id, draft=draft)

    [group] = api_client.get(path_of(rule, project)).json()["groups"]

    assert (group["yesShare"], group["corrections"]) == (share, len(drafts))


def test_corrections_that_weigh_nothing_have_no_share(api_client, caller, project):
    group = project_group(project, weight=0)
    rule = write_rule(caller, project)
    run = finish_run(caller, project)
    said = CorrectionDraft(answer=Verdict.RIGHT, corrector_group_id=str(group.id))
    record_correction(caller=caller, run_id=run.run_id, draft=said)

    [outcome] = api_client.get(path_of(rule, project)).json()["groups"]

    assert (outcome["yesShare"], outcome["corrections"]) == (None, 1)


def test_since_a_time(api_client, caller, project):
    rule = write_rule(caller, project, max_open=2)
    old, new = finish_run(caller, project), finish_run(caller, project)
    for _number in range(2):
        finish_run(caller, project)
    for run in (old, new):
        record_correction(caller=caller, run_id=run.run_id, draft=RIGHT)
    since = clock.now()
    CorrectingItem.objects.filter(run_id=old.run_id).update(added_at=since - timedelta(milliseconds=1))
    CorrectingItem.objects.filter(run_id=new.run_id).update(added_at=since)
    skipped = RuleSkip.objects.order_by("id").values_list("id", flat=True)
    RuleSkip.objects.filter(id=skipped[0]).update(at=since - timedelta(milliseconds=1))
    RuleSkip.objects.filter(id=skipped[1]).update(at=since)

    body = api_client.get(f"{path_of(rule, project)}?since={clock.wire_time(since)}").json()

    assert body == {
        "ruleId": str(rule.rule_id),
        "since": clock.wire_time(since),
        "groups": [
            {
                "ruleVersion": 1,
                "agentVersion": "1.2.0",
                "added": 1,
                "open": 0,
                "corrected": 1,
                "dismissed": 0,
                "erased": 0,
                "skippedByCap": 1,
                "corrections": 1,
                "runsWithCorrections": 1,
                "yesShare": 1,
                "byGroup": [{"correctorGroupId": None, "corrections": 1, "yes": 1}],
            }
        ],
    }


@pytest.mark.parametrize("since", ["x", "2026-01-01", "2026-01-01T00:00:00", "2026-13-01T00:00:00Z"])
def test_a_time_that_is_none_is_refused(api_client, caller, project, since):
    rule = write_rule(caller, project)

    response = api_client.get(f"{path_of(rule, project)}?since={since}")

    assert_refused(response, 400, "bad-input", field="since")


def test_an_empty_since_is_none(api_client, caller, project):
    rule = write_rule(caller, project)

    assert api_client.get(f"{path_of(rule, project)}?since=").json() == {"ruleId": str(rule.rule_id), "groups": []}


def test_runs_of_another_workspace_with_the_same_id_are_not_counted(api_client, caller, project):
    rule = write_rule(caller, project)
    run = finish_run(caller, project)
    CorrectionFactory(copy__run_id=run.run_id)

    [group] = api_client.get(path_of(rule, project)).json()["groups"]

    assert (group["corrections"], group["added"]) == (0, 1)


@pytest.mark.parametrize("count", [1, 300])
def test_the_number_of_statements_is_fixed(api_client, caller, project, count, django_assert_num_queries):
    rule = write_rule(caller, project)
    api_client.get(path_of(rule, project))
    items = many_items(rule, project, count)
    copies = [CorrectionFactory(copy__project=project, copy__run_id=item.run_id) for item in items[:10]]
    dismiss_item(caller=caller, project=project, run_id=str(items[0].run_id))

    with django_assert_num_queries(8):
        [group] = api_client.get(path_of(rule, project)).json()["groups"]

    assert (group["added"], group["corrections"]) == (count, len(copies))
    assert Correction.objects.count() == len(copies)
