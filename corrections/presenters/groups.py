"""Corrector groups in words: what each covers, how much it counts, who may speak for it."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from corrections.models import CorrectorGroup
from corrections.presenters.text import plain
from corrections.vocabulary import ScopeKind
from kindgi_site.callers import ReviewerRole


@dataclass(frozen=True, slots=True)
class GroupShown:
    """`names` are those who are named, for who administers the group; others read how many in `speakers`."""

    group: CorrectorGroup
    weight: str
    covers: str
    speakers: list[str]
    names: list[str]
    may_change: bool


def group_shown(group: CorrectorGroup, names: Mapping[str, str], *, may_change: bool) -> GroupShown:
    """The group's project must be joined."""
    return GroupShown(
        group=group,
        weight=f"{group.weight:g}",
        covers=_covers(group),
        speakers=_speakers(group),
        names=[names.get(one) or plain(one) for one in group.principal_ids] if may_change else [],
        may_change=may_change and group.unregistered_at is None,
    )


def _covers(group: CorrectorGroup) -> str:
    if group.scope_kind == ScopeKind.TENANT or group.project is None:
        return _("the whole workspace")
    if group.scope_kind == ScopeKind.PROJECT:
        return _("project %(project)s") % {"project": group.project.name}
    return _("agent %(agent)s in %(project)s") % {"agent": plain(group.agent_id), "project": group.project.name}


def _speakers(group: CorrectorGroup) -> list[str]:
    """Every part must hold; none at all means anybody."""
    roles = {
        ReviewerRole.STANDARD: _("reviewers on the roster"),
        ReviewerRole.SENIOR: _("senior reviewers and above"),
        ReviewerRole.ADMIN: _("reviewers who are admins"),
    }
    said = [roles[ReviewerRole(group.min_reviewer_role)]] if group.min_reviewer_role else []
    if len(group.principal_kinds) == 1:
        said.append(_("people only") if group.principal_kinds == ["user"] else _("programs only"))
    count = len(group.principal_ids)
    if count:
        said.append(ngettext("%(count)d by name", "%(count)d by name", count) % {"count": count})
    return said
