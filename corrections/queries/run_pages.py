"""What the pages of runs show, in a fixed number of statements however many rows there are."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from uuid import UUID

from django.db.models import CharField, F, QuerySet, Value
from django.db.models.functions import Cast, Substr

from corrections.models import Correction, Run, RunContent, RunCopy, RunTool
from corrections.queries.corrections import as_uuid, corrections_readable_by
from corrections.queries.runs import run_not_found, runs_readable_by
from corrections.vocabulary import SubjectKind
from kindgi_site.callers import Action, Caller
from kindgi_site.stored_json import JsonText
from kindgi_site.workspaces.models import Person, Project, ServiceAccount
from kindgi_site.workspaces.permissions import check_project_action

PAGE_SIZE = 50
HEAD = 1500  # of an input, for its first words
RECENT = 200  # runs that forms take their suggestions from
LONGEST_HISTORY = 100


def runs_for_list(caller: Caller) -> QuerySet[Run]:
    """Newest first, with their projects and the head of what came in."""
    head = Substr("content__input", 1, HEAD, output_field=CharField())
    # Projects are few: joined, they would take SQLite's planner off the index that the list is read by.
    return runs_readable_by(caller).prefetch_related("project").annotate(input_head=head)


def live_corrections_of(caller: Caller, runs: Iterable[Run]) -> dict[UUID, list[Correction]]:
    """The live corrections of some runs by run id, newest first, with only what a list shows of them."""
    shown = corrections_readable_by(caller).filter(
        run_id__in=[run.run_id for run in runs], unregistered_at__isnull=True
    )
    # Put in order here: asked for it, SQLite walks all corrections in that order to find these few.
    rows = shown.order_by().only(
        "run_id", "has_right", "has_wrong", "expert", "made_by_kind", "made_by_id", "created_at"
    )
    found: dict[UUID, list[Correction]] = {}
    for correction in sorted(rows, key=attrgetter("created_at", "id"), reverse=True):
        found.setdefault(correction.run_id, []).append(correction)
    return found


def subjects_seen(caller: Caller, project_id: UUID | None = None) -> list[tuple[str, str]]:
    """(agent or flow, version) pairs among the newest runs, of one project or of any."""
    runs = runs_readable_by(caller)
    if project_id is not None:
        runs = runs.filter(project=project_id)
    return sorted(set(runs.values_list("subject_id", "subject_version")[:RECENT]))


def versions_seen(caller: Caller, project_id: UUID, agent_id: str) -> list[str]:
    """Versions of an agent among its newest runs in a project."""
    runs = runs_readable_by(caller).filter(project=project_id, subject_kind=SubjectKind.AGENT, subject_id=agent_id)
    return sorted(set(runs.values_list("subject_version", flat=True)[:RECENT]))


def tools_seen(caller: Caller, subject_id: str | None = None) -> list[str]:
    """Tools that the newest runs called, of one agent or flow or of any."""
    runs = runs_readable_by(caller)
    if subject_id is not None:
        runs = runs.filter(subject_id=subject_id)
    recent = list(runs.values_list("id", flat=True)[:RECENT])
    return list(RunTool.objects.filter(run__in=recent).order_by("tool").values_list("tool", flat=True).distinct())


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a run's page shows of a run: its stored copy once there is one, else what was handed in.

    `run` is None when only the copy is left.
    """

    run: Run | None
    copy: RunCopy | None
    content: RunContent | None

    @property
    def source(self) -> Run | RunCopy:
        found = self.copy or self.run
        assert found is not None
        return found

    @property
    def project(self) -> Project:
        return self.source.project

    @property
    def input(self) -> JsonText | None:
        return self._part("input")

    @property
    def output(self) -> JsonText | None:
        return self._part("output")

    @property
    def context(self) -> JsonText | None:
        return self._part("context")

    @property
    def calls(self) -> JsonText | None:
        return self._part("calls")

    @property
    def segments(self) -> JsonText | None:
        return self.source.segments

    def _part(self, name: str) -> JsonText | None:
        kept = self.copy or self.content
        return getattr(kept, name) if kept is not None else None


def evidence_of(caller: Caller, run_id: UUID) -> Evidence:
    """NotFoundError when the workspace has neither run nor copy, ForbiddenError when the caller may not read it."""
    copy = RunCopy.objects.filter(workspace=caller.workspace_id, run_id=run_id).select_related("project").first()
    runs = Run.objects.filter(workspace=caller.workspace_id, run_id=run_id).select_related("project")
    run = (runs if copy else runs.select_related("content")).first()
    if run is None and copy is None:
        raise run_not_found(run_id)
    evidence = Evidence(run, copy, None if copy or run is None else getattr(run, "content", None))
    check_project_action(caller, Action.READ, evidence.source.project_id)
    return evidence


def corrections_of_run(caller: Caller, run_id: UUID) -> list[Correction]:
    """The newest corrections of a run, removed and superseded ones too, with their groups; newest first."""
    corrections = corrections_readable_by(caller).filter(run_id=run_id).select_related("group")
    return list(corrections[:LONGEST_HISTORY])


def own_correction(caller: Caller, run_id: UUID) -> Correction | None:
    """The caller's live correction of a run: the one that a further one would supersede."""
    return (
        corrections_readable_by(caller)
        .filter(
            run_id=run_id,
            made_by_kind=caller.kind,
            made_by_id=caller.id,
            participant_id="",
            participant_slot="",
            unregistered_at__isnull=True,
        )
        .first()
    )


def names_of_makers(corrections: Sequence[Correction]) -> dict[str, str]:
    """The names of those who made some corrections, by their ids, in one statement."""
    return names_of(correction.made_by_id for correction in corrections)


def names_of(party_ids: Iterable[str]) -> dict[str, str]:
    """The names of people and services by their ids, in one statement."""
    ids = {key for party_id in party_ids if (key := as_uuid(party_id))}
    people = Person.objects.filter(id__in=ids).values_list("id", "username", "first_name", "last_name")
    none = Cast(Value(""), CharField())
    services = ServiceAccount.objects.filter(id__in=ids).values_list("id", F("name"), none, none)
    rows = people.union(services, all=True)
    return {str(key): f"{first} {last}".strip() or name for key, name, first, last in rows}
