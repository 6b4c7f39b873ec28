"""Runs that finish meet the rules of their project once (contract 11.2, 18.3)."""

from dataclasses import replace
from datetime import timedelta
from functools import partial
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from corrections.drafts import RuleChange, RuleWhen
from corrections.models import CorrectingItem, Correction, RuleMatch, RuleSkip, Run
from corrections.rules.queue import is_sampled
from corrections.services.correcting_rules import change_rule, stop_rule
from corrections.services.queue import dismiss_item, erase_items, reopen_item
from corrections.services.runs import ingest_run
from corrections.vocabulary import RunStatus, SubjectKind
from kindgi_site import clock
from tests.at_once import at_once
from tests.factories import CorrectionFactory, ProjectFactory, ProjectRoleFactory, caller_of
from tests.queueing import COMPLETED_AT, finish_run, project_group, run_draft, write_rule

UNFINISHED = {"status": RunStatus.RUNNING, "output": None, "completed_at": None}
FAILED = {"status": RunStatus.FAILED, "output": None}


def listed() -> list[tuple]:
    """(run, its rules at their versions) of every item, oldest first."""
    items = CorrectingItem.objects.order_by("added_at", "id")
    return [
        (item.run_id, [(match.rule_id, match.version.number) for match in item.matches.order_by("rule_id")])
        for item in items
    ]


def test_a_run_that_finishes_is_queued_by_the_rules_it_matches(caller, project):
    group = project_group(project)
    mine = write_rule(caller, project, when=RuleWhen(agent_ids=("support",)), group_id=str(group.id))
    every = write_rule(caller, project)
    write_rule(caller, project, when=RuleWhen(agent_ids=("other",)))
    write_rule(caller, project, enabled=False)
    before = clock.now()

    run = finish_run(caller, project)

    item = CorrectingItem.objects.values().get()
    assert before <= item["added_at"] <= clock.now()
    assert item == {
        "id": item["id"],
        "workspace_id": project.workspace_id,
        "project_id": project.id,
        "run_id": run.run_id,
        "subject_kind": "agent",
        "subject_id": "support",
        "subject_version": "1.2.0",
        "run_status": "completed",
        "completed_at": COMPLETED_AT,
        "state": "open",
        "added_at": item["added_at"],
        "closed_at": None,
        "closed_by": "",
        "reason": "",
    }
    assert sorted(RuleMatch.objects.values_list("item", "rule", "version", "group")) == [
        (item["id"], mine.rule_id, mine.id, group.id),
        (item["id"], every.rule_id, every.id, None),
    ]


def test_a_flow_s_run_is_queued_as_a_flow_s(caller, project):
    write_rule(caller, project, when=RuleWhen(flow_ids=("ranking",)))

    finish_run(caller, project, subject_kind=SubjectKind.FLOW, subject_id="ranking")
    finish_run(caller, project)

    assert [(item.agent_id, item.agent_version, item.flow_id) for item in CorrectingItem.objects.all()] == [
        ("", "", "ranking")
    ]


@pytest.mark.parametrize(
    "said",
    [
        UNFINISHED,
        FAILED,
        FAILED | {"status": RunStatus.CANCELLED},
        {"parent_run_id": "parent"},
        {"replay_of": "earlier"},
        {"dry_run": True},
    ],
)
def test_other_runs_are_not_queued(caller, project, said):
    write_rule(caller, project)

    finish_run(caller, project, **said)

    assert (Run.objects.count(), listed()) == (1, [])


def test_rules_look_when_a_run_first_finishes_and_never_again(caller, project):
    draft = run_draft(project)
    ingest_run(caller=caller, draft=replace(draft, **UNFINISHED))
    rule = write_rule(caller, project)
    assert listed() == []

    ingest_run(caller=caller, draft=draft)
    queued = [(draft.run_id, [(rule.rule_id, 1)])]
    assert listed() == queued

    write_rule(caller, project)
    CorrectingItem.objects.update(state="dismissed", closed_at=clock.now())
    ingest_run(caller=caller, draft=draft)

    assert listed() == queued
    assert CorrectingItem.objects.get().state == "dismissed"


def test_a_rule_written_after_a_run_finished_never_takes_it(caller, project):
    draft = run_draft(project)
    ingest_run(caller=caller, draft=draft)
    write_rule(caller, project)

    ingest_run(caller=caller, draft=draft)

    assert listed() == []


def test_the_version_that_applies_takes_it_and_earlier_items_stay(caller, project):
    rule = write_rule(caller, project)
    first = finish_run(caller, project)
    change_rule(
        caller=caller,
        project=project,
        rule_id=str(rule.rule_id),
        change=RuleChange(group_id=str(project_group(project).id)),
    )
    second = finish_run(caller, project)
    change_rule(caller=caller, project=project, rule_id=str(rule.rule_id), change=RuleChange(enabled=False))
    finish_run(caller, project)

    assert listed() == [(first.run_id, [(rule.rule_id, 1)]), (second.run_id, [(rule.rule_id, 2)])]
    assert [match.group_id is None for match in RuleMatch.objects.order_by("version__number")] == [True, False]


def test_a_stopped_rule_takes_nothing_more_and_its_items_stay(caller, project):
    rule = write_rule(caller, project)
    run = finish_run(caller, project)

    stop_rule(caller=caller, project=project, rule_id=str(rule.rule_id))
    finish_run(caller, project)

    assert listed() == [(run.run_id, [(rule.rule_id, 1)])]


def test_rules_look_at_their_own_project_only(caller, reviewer, project):
    elsewhere = ProjectFactory(workspace=project.workspace)
    ProjectRoleFactory(project=elsewhere, person=reviewer)
    write_rule(caller, project)

    finish_run(caller_of(reviewer), elsewhere)

    assert listed() == []


def runs_around(rule, sample: float, each: int) -> tuple[list[UUID], list[UUID]]:
    """Ids of runs that the rule's sample takes, and as many that it does not."""
    ids = [UUID(int=number) for number in range(1000)]
    taken = [run_id for run_id in ids if is_sampled(str(rule.rule_id), str(run_id), sample)]
    return taken[:each], [run_id for run_id in ids if run_id not in set(taken)][:each]


def test_a_sample_takes_its_share_whatever_the_version(caller, project):
    rule = write_rule(caller, project, sample=0.3)
    taken, left = runs_around(rule, 0.3, 6)
    change_rule(caller=caller, project=project, rule_id=str(rule.rule_id), change=RuleChange(name="renamed"))

    for run_id in sorted([*taken, *left]):
        finish_run(caller, project, run_id=run_id)

    assert [run_id for run_id, _rules in listed()] == taken


def test_a_rule_at_its_cap_leaves_runs_out_and_counts_them(caller, project):
    capped = write_rule(caller, project, max_open=2)
    runs = [finish_run(caller, project) for _number in range(2)]
    before = clock.now()

    finish_run(caller, project)
    finish_run(caller, project, subject_kind=SubjectKind.FLOW, subject_id="ranking", subject_version="3.0.0")

    assert listed() == [(run.run_id, [(capped.rule_id, 1)]) for run in runs]
    skips = RuleSkip.objects.order_by("id")
    assert [(skip.rule_id, skip.version_id, skip.agent_version) for skip in skips] == [
        (capped.rule_id, capped.id, "1.2.0"),
        (capped.rule_id, capped.id, ""),
    ]
    assert all(before <= skip.at <= clock.now() for skip in skips)


def test_a_cap_counts_open_items_only_and_over_all_versions(caller, project):
    rule = write_rule(caller, project, max_open=3)
    first, second, third = (finish_run(caller, project) for _number in range(3))
    change_rule(caller=caller, project=project, rule_id=str(rule.rule_id), change=RuleChange(max_open=2))
    dismiss_item(caller=caller, project=project, run_id=str(first.run_id))
    finish_run(caller, project)
    assert RuleSkip.objects.count() == 1

    erase_items(project.workspace_id, [second.run_id])
    fourth = finish_run(caller, project)

    assert [run for run, _rules in listed()] == [run.run_id for run in (first, second, third, fourth)]
    assert RuleSkip.objects.count() == 1


def test_another_rule_may_queue_what_a_full_one_leaves_out(caller, project):
    full = write_rule(caller, project, max_open=1)
    finish_run(caller, project)
    every = write_rule(caller, project)

    run = finish_run(caller, project)

    assert listed()[1:] == [(run.run_id, [(every.rule_id, 1)])]
    assert [skip.rule_id for skip in RuleSkip.objects.all()] == [full.rule_id]


def test_a_skip_is_counted_only_for_runs_of_the_sample(caller, project):
    rule = write_rule(caller, project, max_open=1, sample=0.5)
    taken, left = runs_around(rule, 0.5, 4)

    for run_id in sorted([*taken, *left]):
        finish_run(caller, project, run_id=run_id)

    assert (len(listed()), RuleSkip.objects.count()) == (1, 3)


def test_reopening_may_go_past_the_cap(caller, project):
    write_rule(caller, project, max_open=1)
    first = finish_run(caller, project)
    dismiss_item(caller=caller, project=project, run_id=str(first.run_id))
    finish_run(caller, project)

    reopen_item(caller=caller, project=project, run_id=str(first.run_id))

    assert CorrectingItem.objects.filter(state="open").count() == 2


def test_a_run_that_was_corrected_already_is_added_as_corrected(caller, project):
    write_rule(caller, project)
    draft = run_draft(project)
    CorrectionFactory(copy__project=project, copy__run_id=draft.run_id)
    before = clock.now()

    ingest_run(caller=caller, draft=draft)

    item = CorrectingItem.objects.get()
    assert (item.state, item.closed_by) == ("corrected", "")
    assert before <= item.closed_at <= clock.now()


def statements(caller, project, **said) -> int:
    draft = run_draft(project, **said)
    with CaptureQueriesContext(connection) as captured:
        ingest_run(caller=caller, draft=draft)
    return len(captured)


def test_rules_cost_one_statement_where_none_is_enabled_and_few_where_many_are(caller, project):
    without = statements(caller, project, parent_run_id="p")
    assert statements(caller, project) == without + 1

    write_rule(caller, project, enabled=False)
    write_rule(caller, project, when=RuleWhen(agent_ids=("other",)))
    assert statements(caller, project) == without + 1

    write_rule(caller, project)
    assert statements(caller, project) == without + 4

    for _number in range(20):
        write_rule(caller, project)
    assert statements(caller, project) == without + 4

    for _number in range(20):
        write_rule(caller, project, max_open=1)
    assert statements(caller, project) == without + 6
    assert statements(caller, project) == without + 7


@pytest.mark.django_db(transaction=True)
def test_eight_runs_finishing_at_one_moment_do_not_pass_the_cap(caller, project):
    capped = write_rule(caller, project, max_open=3)
    every = write_rule(caller, project)

    at_once([partial(finish_run, caller, project) for _number in range(8)])

    assert RuleMatch.objects.filter(rule=capped.rule_id).count() == 3
    assert RuleMatch.objects.filter(rule=every.rule_id).count() == 8
    assert RuleSkip.objects.count() == 5


@pytest.mark.django_db(transaction=True)
def test_one_run_handed_in_eight_times_at_one_moment_is_one_item(caller, project):
    write_rule(caller, project)
    draft = run_draft(project)

    at_once([partial(ingest_run, caller=caller, draft=draft) for _number in range(8)])

    assert (CorrectingItem.objects.count(), RuleMatch.objects.count()) == (1, 1)


def test_items_are_added_in_the_order_of_time(caller, project):
    write_rule(caller, project)
    runs = [finish_run(caller, project) for _number in range(3)]

    added = list(CorrectingItem.objects.order_by("added_at", "id").values_list("added_at", "run_id"))

    assert [run_id for _at, run_id in added] == [run.run_id for run in runs]
    assert added[-1][0] - added[0][0] < timedelta(minutes=1)
    assert Correction.objects.count() == 0
