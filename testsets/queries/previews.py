"""What building from a selection would take in and leave out, before anything is built."""

from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, Q

from corrections.models import RunCopy
from corrections.queries.corrections import as_uuid
from corrections.rules.segments import starts_with
from testsets.drafts import Selection

MOST_CASES = 1000


@dataclass(frozen=True, slots=True)
class Preview:
    """`corrected` runs of the subject have a live correction; each is a case or left out for the first reason met."""

    corrected: int
    cases: int
    replays: int
    erased: int
    other_versions: int
    other_times: int
    too_few: int
    other_segments: int
    over_the_cap: int

    @property
    def left_out(self) -> int:
        return self.corrected - self.cases


def preview_of(workspace_id: UUID, selection: Selection) -> Preview:
    """Two statements, or three when segments narrow it: those are read one by one, as building does."""
    live = Q(corrections__unregistered_at__isnull=True)
    said = live
    if selection.group_ids is not None:
        keys = [as_uuid(group_id) for group_id in selection.group_ids]
        said &= Q(corrections__group__in=[key for key in keys if key is not None])
    copies = RunCopy.objects.filter(
        workspace=workspace_id,
        project=selection.project_id,
        subject_kind=selection.subject_kind,
        subject_id=selection.subject_id,
    )
    copies = copies.annotate(live=Count("corrections", filter=live), counted=Count("corrections", filter=said))
    corrected = copies.filter(live__gte=1)
    steps = _steps(selection)
    passed = Q()
    counts = {"corrected": Count("id")}
    for name, condition in steps.items():
        counts[name] = Count("id", filter=passed & ~condition)
        passed &= condition
    found = corrected.aggregate(**counts, left=Count("id", filter=passed))
    fitting = found.pop("left")
    if selection.segments:
        rows = corrected.filter(passed).values_list("segments", flat=True).iterator(chunk_size=500)
        fitting = sum(row is not None and starts_with(row.value, selection.segments) for row in rows)
    left = found["corrected"] - sum(found[name] for name in steps)
    cases = min(fitting, MOST_CASES)
    return Preview(**found, cases=cases, other_segments=left - fitting, over_the_cap=fitting - cases)


def _steps(selection: Selection) -> dict[str, Q]:
    """What a copy must pass, in the order in which a person would ask."""
    times = Q()
    if selection.since is not None:
        times &= Q(captured_at__gte=selection.since)
    if selection.until is not None:
        times &= Q(captured_at__lt=selection.until)
    is_version = Q() if selection.subject_version is None else Q(subject_version=selection.subject_version)
    always = Q(id__isnull=False)
    return {
        "replays": Q(is_replay=False),
        "erased": Q(erased_at__isnull=True),
        "other_versions": is_version or always,
        "other_times": times or always,
        "too_few": Q(counted__gte=selection.min_corrections),
    }
