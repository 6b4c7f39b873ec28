"""Rules and queued runs for tests, made by the services that make them."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from corrections.drafts import RuleDraft, RunDraft
from corrections.models import CorrectingItem, CorrectingRuleVersion, CorrectorGroup, RuleMatch, Run
from corrections.services.correcting_rules import create_rule
from corrections.services.runs import ingest_run
from corrections.vocabulary import ItemState, RunStatus, ScopeKind, SubjectKind
from kindgi_site import clock
from kindgi_site.callers import Caller
from kindgi_site.exact_json import JsonText
from kindgi_site.workspaces.models import Project
from tests.factories import CorrectorGroupFactory

COMPLETED_AT = datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)


def write_rule(caller: Caller, project: Project, name: str = "rule", **said: Any) -> CorrectingRuleVersion:
    """A rule that takes every run, unless said otherwise in the words of RuleDraft."""
    return create_rule(caller=caller, project=project, draft=RuleDraft(name=name, **said))


def run_draft(project: Project, **said: Any) -> RunDraft:
    """A completed turn of the agent `support`, unless said otherwise."""
    plain = {
        "run_id": uuid4(),
        "project_id": project.id,
        "subject_kind": SubjectKind.AGENT,
        "subject_id": "support",
        "subject_version": "1.2.0",
        "status": RunStatus.COMPLETED,
        "input": JsonText('"Hello"'),
        "output": JsonText('{"content":"Hi"}'),
        "completed_at": COMPLETED_AT,
    }
    return RunDraft(**plain | said)


def finish_run(caller: Caller, project: Project, **said: Any) -> Run:
    return ingest_run(caller=caller, draft=run_draft(project, **said))[0]


def project_group(project: Project, **said: Any) -> CorrectorGroup:
    """A group of the project."""
    return CorrectorGroupFactory(workspace=project.workspace, scope_kind=ScopeKind.PROJECT, project=project, **said)


def many_items(rule: CorrectingRuleVersion, project: Project, count: int) -> list[CorrectingItem]:
    """Open items in few statements, in the order they were added."""
    items = [
        CorrectingItem(
            workspace_id=project.workspace_id,
            project=project,
            run_id=UUID(int=number),
            subject_kind=SubjectKind.AGENT,
            subject_id="support",
            subject_version="1.2.0",
            run_status=RunStatus.COMPLETED,
            completed_at=COMPLETED_AT,
            state=ItemState.OPEN,
            added_at=clock.now(),
        )
        for number in range(1, count + 1)
    ]
    CorrectingItem.objects.bulk_create(items)
    RuleMatch.objects.bulk_create(
        RuleMatch(item=item, rule_id=rule.rule_id, version=rule, group_id=rule.group_id) for item in items
    )
    return items
