"""Who may speak for a corrector group (contract 9.3), and who decides for an agent's owner (section 8)."""

from corrections.marks import Party
from corrections.models import AgentOwner, Correction, CorrectorGroup
from corrections.vocabulary import SubjectKind
from kindgi_site.callers import Action, Caller, ReviewerRole


def reason_against_speaking(caller: Caller, group: CorrectorGroup) -> str | None:
    """Why the caller may not speak for a group, or None when they may: the first unmet part, in order."""
    if group.principal_kinds and caller.kind not in group.principal_kinds:
        return "This group is not for this kind of caller."
    if group.principal_ids and caller.id not in group.principal_ids:
        return "The caller is not among those who may speak for this group."
    if group.min_reviewer_role:
        wanted = ReviewerRole(group.min_reviewer_role)
        if caller.reviewer_role is None or caller.reviewer_role.rank < wanted.rank:
            return f"This group needs the reviewer role {wanted} or above."
    return None


def may_speak_for(caller: Caller, group: CorrectorGroup) -> bool:
    return reason_against_speaking(caller, group) is None


def may_decide_as_owner(caller: Caller, correction: Correction) -> bool:
    """The owner guard (contract, section 8): the agent's recorded owner, or admin on the project."""
    if caller.may(Action.ADMIN, correction.project_id):
        return True
    if correction.subject_kind != SubjectKind.AGENT:
        return False
    owner = AgentOwner.objects.filter(project=correction.project_id, agent_id=correction.subject_id).first()
    return owner is not None and owner.owner == Party(caller.kind, caller.id)
