"""Build a test set version from what people said of runs (contract 14.3)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Q, QuerySet

from corrections.models import Correction, RunCopy
from corrections.queries.corrections import as_uuid
from corrections.queries.said import counted, group_weights, live_corrections_of
from corrections.rules.segments import starts_with
from corrections.rules.weights import answer_place, expected_decisions, item_sums
from corrections.services.erasure import hold_erasures
from kindgi_site import clock
from kindgi_site.callers import Action, Caller
from kindgi_site.stored_json import JsonText
from kindgi_site.workspaces.permissions import check_project_action
from kindgi_site.workspaces.services.audit import record_write
from testsets.drafts import Selection, VersionDraft
from testsets.models import TestCase, TestSetVersion
from testsets.rules.versions import CORRECTIONS
from testsets.services.sets import new_version

MAX_CASES = 1000
CHUNK = 100

Progress = Callable[[int], object]


@dataclass(frozen=True, slots=True)
class Built:
    version: TestSetVersion
    case_count: int
    truncated: bool


@transaction.atomic
def build_from_corrections(
    *,
    caller: Caller,
    set_name: str,
    version: str,
    selection: Selection,
    description: str = "",
    progress: Progress = lambda _done: None,
) -> Built:
    """Freeze what is said of the selected runs now, at the weights of now, as a new version.

    At most 1000 cases, newest corrected run first; three statements for each hundred of them.
    `progress` is told how many cases were added.
    """
    check_project_action(caller, Action.ADMIN, selection.project_id)
    hold_erasures(caller.workspace_id)
    copy_ids, truncated = selected_copies(caller.workspace_id, selection)
    draft = VersionDraft(
        set_name=set_name,
        version=version,
        project_id=selection.project_id,
        kind=CORRECTIONS,
        description=description,
        spec={
            "source": CORRECTIONS,
            "projectId": str(selection.project_id),
            "query": dict(selection.as_sent),
            "caseCount": len(copy_ids),
            "truncated": truncated,
            "builtAt": clock.wire_time(clock.now()),
        },
    )
    made = new_version(caller=caller, draft=draft)
    weights = group_weights(caller.workspace_id)
    for start in range(0, len(copy_ids), CHUNK):
        chunk = copy_ids[start : start + CHUNK]
        TestCase.objects.bulk_create(_cases(made, chunk, start, selection, weights))
        progress(len(chunk))
    record_write(caller, "test-sets.build", "test-set-version", made.id, ["version"])
    return Built(made, len(copy_ids), truncated)


def selected_copies(workspace_id: UUID, selection: Selection) -> tuple[list[UUID], bool]:
    """(ids of the copies that become cases, newest captured first; whether more would have qualified)."""
    chosen: list[UUID] = []
    for copy_id in _qualifying(workspace_id, selection):
        if len(chosen) == MAX_CASES:
            return chosen, True
        chosen.append(copy_id)
    return chosen, False


def _qualifying(workspace_id: UUID, selection: Selection) -> Iterator[UUID]:
    copies = candidates(workspace_id, selection).order_by("-captured_at", "-run_id")
    if not selection.segments:
        yield from copies.values_list("id", flat=True)[: MAX_CASES + 1]
        return
    for copy_id, segments in copies.values_list("id", "segments").iterator(chunk_size=500):
        if segments is not None and starts_with(segments.value, selection.segments):
            yield copy_id


def candidates(workspace_id: UUID, selection: Selection) -> QuerySet[RunCopy]:
    """The run copies of the selection but for its segments, each with how many corrections count."""
    copies = RunCopy.objects.filter(
        workspace=workspace_id,
        project=selection.project_id,
        subject_kind=selection.subject_kind,
        subject_id=selection.subject_id,
        is_replay=False,
        erased_at__isnull=True,
    )
    if selection.subject_version is not None:
        copies = copies.filter(subject_version=selection.subject_version)
    if selection.since is not None:
        copies = copies.filter(captured_at__gte=selection.since)
    if selection.until is not None:
        copies = copies.filter(captured_at__lt=selection.until)
    live = Q(corrections__unregistered_at__isnull=True)
    if selection.group_ids is not None:
        live &= Q(corrections__group__in=_group_keys(selection))
    return copies.annotate(counted=Count("corrections", filter=live)).filter(counted__gte=selection.min_corrections)


def _group_keys(selection: Selection) -> list[UUID]:
    keys = [as_uuid(group_id) for group_id in selection.group_ids or ()]
    return [key for key in keys if key is not None]


def _cases(
    version: TestSetVersion, copy_ids: Sequence[UUID], start: int, selection: Selection, weights: dict[str, float]
) -> list[TestCase]:
    copies = RunCopy.objects.defer("calls").in_bulk(list(copy_ids))
    said: dict[UUID, list[Correction]] = {copy_id: [] for copy_id in copy_ids}
    corrections = live_corrections_of(copy_ids)
    if selection.group_ids is not None:
        corrections = corrections.filter(group__in=_group_keys(selection))
    for correction in corrections:
        said[correction.copy_id].append(correction)
    return [
        TestCase(
            version=version,
            position=start + index,
            case_id=str(copies[copy_id].run_id),
            run_id=copies[copy_id].run_id,
            wire=built_case(copies[copy_id], said[copy_id], weights),
            called_tools=copies[copy_id].called_tools,
        )
        for index, copy_id in enumerate(copy_ids)
    ]


def built_case(copy: RunCopy, corrections: Sequence[Correction], weights: dict[str, float]) -> JsonText:
    """A case's whole wire object: the run copy, and its corrections (newest first) added up (contract 13)."""
    votes = [counted(correction) for correction in corrections]
    place = answer_place(copy.subject_kind, copy.output.value if copy.output else None)
    items = [item.wire() for item in item_sums(votes, weights, place)]
    decisions = [entry.wire() for entry in expected_decisions(votes)]
    case = case_head(str(copy.run_id), copy) | {"items": items}
    return JsonText.of(case | ({"corrections": decisions} if decisions else {}))


def case_head(case_id: str, copy: RunCopy) -> dict[str, object]:
    """The part of a case that is the run copy, its JSON as it was stored."""
    case: dict[str, object] = {
        "caseId": case_id,
        "runId": str(copy.run_id),
        "subject": {"kind": copy.subject_kind, "id": copy.subject_id, "version": copy.subject_version},
        "input": copy.input,
    }
    if copy.context is not None:
        case["context"] = copy.context
    case["output"] = copy.output
    if copy.segments is not None:
        case["segments"] = copy.segments
    return case
