"""Take in runs that whatever ran them hands over (contract 11.2)."""

from django.db import IntegrityError, transaction

from corrections.drafts import RunDraft
from corrections.models import Run, RunContent, RunTool
from corrections.queries.runs import run_not_found
from corrections.rules.calls import calls_made
from corrections.rules.drafts import MAX_TOOL, refusal
from corrections.rules.runs import check_run
from corrections.services.queue import look_at_run
from kindgi_site import clock
from kindgi_site.callers import Action, Caller
from kindgi_site.errors import Code, ConflictError, GoneError
from kindgi_site.exact_json import is_storable
from kindgi_site.stored_json import JsonText
from kindgi_site.workspaces.permissions import check_project_action
from kindgi_site.workspaces.services.audit import record_write

SCALARS = (
    "subject_kind",
    "subject_id",
    "subject_version",
    "conversation_id",
    "via",
    "status",
    "dry_run",
    "started_at",
    "completed_at",
    "parent_run_id",
    "parent_node_id",
    "replay_of",
    "test_run_id",
    "participant_id",
)
PARTS = ("input", "output", "context", "calls")


@transaction.atomic
def ingest_run(*, caller: Caller, draft: RunDraft) -> tuple[Run, bool]:
    """Store a run, or a later state of it; returns (run, whether it is new).

    The project must exist in the caller's workspace. Refuses in the order of contract 11.2. A
    finished run never changes again: the same content is accepted, anything else refused. Holds
    the run's row.
    """
    check_run(draft)
    check_project_action(caller, Action.WRITE, draft.project_id)
    run = _locked(caller, draft)
    if run is None:
        try:
            with transaction.atomic():
                run = _created(caller, draft)
        except IntegrityError:  # somebody handed the same new run in at this moment
            run = _locked(caller, draft)
            if run is None:
                raise
        else:
            _stored(caller, run)
            return run, True
    _check_replaceable(caller, run, draft)
    if not run.is_terminal and not _says_the_same(run, draft):
        _replace(run, draft)
        _stored(caller, run)
    return run, False


def _stored(caller: Caller, run: Run) -> None:
    """What goes with every new state of a run. It gets only one terminal one, so the rules look at it once."""
    record_write(caller, "runs.put", "run", run.run_id)
    if run.is_terminal:
        look_at_run(run)


def _locked(caller: Caller, draft: RunDraft) -> Run | None:
    runs = Run.objects.select_for_update().filter(workspace=caller.workspace_id, run_id=draft.run_id)
    return runs.first()


def _check_replaceable(caller: Caller, run: Run, draft: RunDraft) -> None:
    if run.project_id != draft.project_id:
        if not caller.may(Action.READ, run.project_id):
            raise run_not_found(run.run_id)
        raise refusal("This run is in another project, and runs never move.", "projectId")
    if run.erased_at is not None:
        raise GoneError(Code.RUN_ERASED, "This run's content was erased.", runId=str(run.run_id))
    if run.is_terminal and not _says_the_same(run, draft):
        raise ConflictError(
            Code.RUN_ALREADY_TERMINAL,
            "This run has finished, and this is not the same content.",
            runId=str(run.run_id),
            status=run.status,
        )


def _says_the_same(run: Run, draft: RunDraft) -> bool:
    if any(getattr(run, name) != getattr(draft, name) for name in SCALARS):
        return False
    content = run.content
    return (
        content.failure_message == (draft.failure_message or "")
        and _same_json(run.segments, draft.segments)
        and all(_same_json(getattr(content, name), getattr(draft, name)) for name in PARTS)
    )


def _same_json(stored: JsonText | None, sent: JsonText | None) -> bool:
    if stored is None or sent is None:
        return stored is sent
    return stored.text == sent.text or stored.canonical == sent.canonical


def _created(caller: Caller, draft: RunDraft) -> Run:
    run = Run(workspace_id=caller.workspace_id, project_id=draft.project_id, run_id=draft.run_id)
    run.created_at = run.updated_at = clock.now()
    _fill(run, draft)
    run.save(force_insert=True)
    _content(run, draft).save(force_insert=True)
    _store_tools(run, draft)
    return run


def _replace(run: Run, draft: RunDraft) -> None:
    run.updated_at = clock.now()
    run.purged_at = None  # it has content again
    _fill(run, draft)
    run.save()
    _content(run, draft).save()
    run.tools.all().delete()
    _store_tools(run, draft)


def _fill(run: Run, draft: RunDraft) -> None:
    for name in SCALARS:
        setattr(run, name, getattr(draft, name))
    run.segments = draft.segments


def _content(run: Run, draft: RunDraft) -> RunContent:
    content = RunContent(run=run, failure_message=draft.failure_message or "")
    for name in PARTS:
        setattr(content, name, getattr(draft, name))
    return content


def _store_tools(run: Run, draft: RunDraft) -> None:
    calls = calls_made(
        draft.subject_kind,
        draft.output.value if draft.output else None,
        draft.context.value if draft.context else None,
        draft.calls.value if draft.calls else None,
    )
    # A name that does not fit is kept with the content; it only cannot be filtered by.
    tools = dict.fromkeys(call.tool for call in calls or [])
    names = [tool for tool in tools if 0 < len(tool) <= MAX_TOOL and is_storable(tool)]
    RunTool.objects.bulk_create([RunTool(run=run, tool=name) for name in names])
