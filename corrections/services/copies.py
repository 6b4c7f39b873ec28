"""What is kept of a run when it is first corrected, or taken into a test set."""

from corrections.models import Run, RunContent, RunCopy
from corrections.rules.calls import calls_made
from corrections.rules.copies import copied_context
from corrections.vocabulary import SubjectKind
from kindgi_site.stored_json import JsonText


def copy_of(run: Run, content: RunContent) -> RunCopy:
    """An unsaved copy of a run as it stands (contract 7.5), cut to the bounds."""
    context_text = content.context.text if content.context else None
    copied = copied_context(
        subject_kind=run.subject_kind,
        run_id=str(run.run_id),
        context_text=context_text,
        replay_of=run.replay_of,
    )
    return RunCopy(
        workspace_id=run.workspace_id,
        project_id=run.project_id,
        run_id=run.run_id,
        subject_kind=run.subject_kind,
        subject_id=run.subject_id,
        subject_version=run.subject_version,
        input=content.input,
        output=content.output,
        context=copied.wire,
        segments=run.segments,
        calls=content.calls if run.is_agent_turn else copied.flow_calls,
        called_tools=_called_tools(run, content),
        is_replay=bool(run.replay_of) or _says_it_replays(content.output),
    )


def _called_tools(run: Run, content: RunContent) -> JsonText | None:
    calls = calls_made(
        run.subject_kind,
        content.output and content.output.value,
        content.context.value if content.context and run.subject_kind == SubjectKind.FLOW else None,
        content.calls and content.calls.value,
    )
    return None if calls is None else JsonText.of([call.tool for call in calls])


def _says_it_replays(output: JsonText | None) -> bool:
    """An output object with a text at `replay.of` is a replay's (contract 14.3)."""
    value = output.value if output else None
    replay = value.get("replay") if isinstance(value, dict) else None
    return isinstance(replay, dict) and isinstance(replay.get("of"), str)
