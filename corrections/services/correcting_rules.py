"""Write, change and stop correcting rules (contract 18.1). Each change is a version; none is ever changed."""

from dataclasses import fields
from uuid import UUID

from django.db import transaction

from corrections.drafts import RuleChange, RuleDraft, Unsaid
from corrections.models import CorrectingRule, CorrectingRuleVersion
from corrections.queries.correcting_rules import rule_not_found
from corrections.queries.corrections import as_uuid
from corrections.queries.groups import group_not_found
from corrections.queries.queue import live_groups_in
from corrections.rules.queue import changed, checked_rule, read_when, wire_when
from kindgi_site import clock
from kindgi_site.callers import Action, Caller
from kindgi_site.workspaces.models import Project
from kindgi_site.workspaces.permissions import check_project_action
from kindgi_site.workspaces.services.audit import record_write


@transaction.atomic
def create_rule(*, caller: Caller, project: Project, draft: RuleDraft) -> CorrectingRuleVersion:
    """Version 1 of a new rule; it looks at the runs that finish from now on."""
    check_project_action(caller, Action.WRITE, project.id)
    draft = checked_rule(draft)
    group_id = _checked_group(project, draft.group_id)
    rule = CorrectingRule(workspace_id=project.workspace_id, project=project)
    rule.save(force_insert=True)
    version = _version(caller, rule, draft, group_id)
    record_write(caller, "correcting-rules.create", "correcting-rule", rule.id, _differing(draft, RuleDraft(name="")))
    return version


@transaction.atomic
def change_rule(*, caller: Caller, project: Project, rule_id: str, change: RuleChange) -> CorrectingRuleVersion:
    """A new version with what the change says; one that says nothing is a version too. Holds the rule's row.

    Items queued by earlier versions stay as they are. A stopped rule is not there to be changed: NotFoundError.
    """
    check_project_action(caller, Action.WRITE, project.id)
    checked_rule(changed(RuleDraft(name="-"), change))  # what is wrong in itself comes before what is not there
    rule = _locked(project, rule_id)
    if rule.unregistered_at is not None:
        raise rule_not_found(rule_id)
    before = rule.versions.get(number=rule.version)
    draft = checked_rule(changed(_draft_of(before), change))
    # A group that the rule has already may have been retired since; only a new one is looked for.
    group_id = before.group_id if isinstance(change.group_id, Unsaid) else _checked_group(project, change.group_id)
    rule.version += 1
    rule.save(update_fields=["version"])
    version = _version(caller, rule, draft, group_id)
    record_write(caller, "correcting-rules.update", "correcting-rule", rule.id, _differing(change, RuleChange()))
    return version


@transaction.atomic
def stop_rule(*, caller: Caller, project: Project, rule_id: str) -> tuple[CorrectingRule, bool]:
    """The rule takes no more runs; what it queued stays. Returns (rule, whether it was running). Holds its row."""
    check_project_action(caller, Action.WRITE, project.id)
    rule = _locked(project, rule_id)
    if rule.unregistered_at is not None:
        return rule, False
    rule.unregistered_at = clock.now()
    rule.save(update_fields=["unregistered_at"])
    record_write(caller, "correcting-rules.unregister", "correcting-rule", rule.id)
    return rule, True


def _locked(project: Project, rule_id: str) -> CorrectingRule:
    key = as_uuid(rule_id)
    rules = CorrectingRule.objects.select_for_update(no_key=True)
    found = key and rules.filter(project=project, id=key).first()
    if not found:
        raise rule_not_found(rule_id)
    return found


def _checked_group(project: Project, group_id: str | None) -> UUID | None:
    """A live group of whose kind there can be a correction in the project; NotFoundError."""
    if group_id is None:
        return None
    key = as_uuid(group_id)
    if key is None or not live_groups_in(project).filter(id=key).exists():
        raise group_not_found(group_id)
    return key


def _version(caller: Caller, rule: CorrectingRule, draft: RuleDraft, group_id: UUID | None) -> CorrectingRuleVersion:
    version = CorrectingRuleVersion(
        rule=rule,
        number=rule.version,
        name=draft.name,
        when=wire_when(draft.when),
        sample=draft.sample,
        max_open=draft.max_open,
        group_id=group_id,
        enabled=draft.enabled,
        created_by=caller.principal,
    )
    version.save(force_insert=True)
    return version


def _draft_of(version: CorrectingRuleVersion) -> RuleDraft:
    return RuleDraft(
        name=version.name,
        when=read_when(version.when),
        sample=version.sample,
        max_open=version.max_open,
        group_id=str(version.group_id) if version.group_id else None,
        enabled=version.enabled,
    )


def _differing(said: RuleDraft | RuleChange, plain: RuleDraft | RuleChange) -> list[str]:
    """The names of what was said."""
    return [field.name for field in fields(said) if getattr(said, field.name) != getattr(plain, field.name)]
