"""Correcting rules in words, and what came of them."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _

from corrections.models import CorrectingRuleVersion
from corrections.presenters.text import plain
from corrections.queries.correcting_rules import Outcome
from corrections.rules.queue import LIVE, read_when


@dataclass(frozen=True, slots=True)
class RuleShown:
    """One version of a rule. `takes` are the parts of what it looks for; `who` wrote it."""

    version: CorrectingRuleVersion
    name: str
    takes: list[str]
    share: str
    wants: str
    who: str


@dataclass(frozen=True, slots=True)
class OutcomeShown:
    outcome: Outcome
    right: str


def rule_shown(version: CorrectingRuleVersion, names: Mapping[str, str]) -> RuleShown:
    """The version's group must be joined."""
    return RuleShown(
        version=version,
        name=plain(version.name),
        takes=_takes(version),
        share=_percent(version.sample),
        wants=version.group.name if version.group else _("anybody’s correction"),
        who=names.get(author_id(version)) or _("A program"),
    )


def author_id(version: CorrectingRuleVersion) -> str:
    return version.created_by.partition(":")[2]


def _takes(version: CorrectingRuleVersion) -> list[str]:
    when = read_when(version.when)
    said = [plain(name) for name in (*when.agent_ids, *when.flow_ids)]
    if not said:
        said = [_("every agent and flow")]
    versions = [_("whichever is live") if one == LIVE else plain(one) for one in when.versions]
    if versions:
        said.append(_("versions %(versions)s") % {"versions": ", ".join(versions)})
    if when.include_dry_runs:
        said.append(_("dry runs too"))
    return said


def outcome_shown(outcome: Outcome) -> OutcomeShown:
    return OutcomeShown(outcome, "" if outcome.yes_share is None else _percent(outcome.yes_share))


def _percent(share: float) -> str:
    return f"{share * 100:.3g}\N{NO-BREAK SPACE}%"
