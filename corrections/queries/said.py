"""What a stored correction says, in the words of a draft: for adding up, freezing and grading."""

from collections.abc import Iterable
from uuid import UUID

from django.db.models import QuerySet

from corrections.drafts import CorrectionDraft
from corrections.models import Correction, CorrectorGroup
from corrections.rules.expectations import read_items, stored_calls
from corrections.rules.weights import Counted
from corrections.vocabulary import Verdict


def said_of(correction: Correction) -> CorrectionDraft:
    return CorrectionDraft(
        decisions=Verdict(correction.decisions) if correction.decisions else None,
        should_call=stored_calls(correction.should_call),
        must_not_call=tuple(correction.must_not_call.value) if correction.must_not_call else (),
        answer=Verdict(correction.answer) if correction.answer else None,
        should_say=correction.should_say or None,
        why=correction.why or None,
        items=read_items(correction.items.value) if correction.items else (),
        corrector_group_id=str(correction.group_id) if correction.group_id else None,
        participant_id=correction.participant_id or None,
    )


def counted(correction: Correction) -> Counted:
    return Counted(correction_id=str(correction.id), said=said_of(correction), expert=correction.expert)


def live_corrections_of(copy_ids: Iterable[UUID]) -> QuerySet[Correction]:
    """The live corrections of some run copies, newest first."""
    live = Correction.objects.filter(copy__in=list(copy_ids), unregistered_at__isnull=True)
    return live.order_by("-created_at", "-id")


def group_weights(workspace_id: UUID) -> dict[str, float]:
    """Every group's weight as it is now, retired ones included, by id."""
    weights = CorrectorGroup.objects.filter(workspace=workspace_id).values_list("id", "weight")
    return {str(group_id): weight for group_id, weight in weights}
