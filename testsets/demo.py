"""The demo's agents as their owner sees them: what is live, a frozen test set, and two versions graded with it."""

from typing import Any

from django.db import transaction

from corrections import demo
from corrections.rules.calls import Call, listed
from corrections.rules.pointers import MISSING
from corrections.vocabulary import SubjectKind, Verdict
from kindgi_site.callers import Caller
from kindgi_site.exact_json import JsonText
from kindgi_site.workspaces.models import Workspace
from testsets.drafts import LiveChangeDraft, OutputDraft, TestRunDraft
from testsets.models import TestCase, TestSet
from testsets.queries.pages import calls_of_case
from testsets.services.freezing import freeze
from testsets.services.live import LATEST, change_live
from testsets.services.test_runs import start_test_run, submit_outputs

LIVE_BEFORE, LIVE_NOW = "2.3.0", "2.4.0"


@transaction.atomic
def load(workspace: Workspace) -> None:
    """What stands on the corrections of the demo; made once."""
    if TestSet.objects.filter(workspace=workspace).exists():
        return
    owen = demo.caller_named(workspace, demo.OWNER)
    project_id = workspace.projects.get(is_default=True).id
    for agent_id, version in ((demo.ORDERS, LIVE_BEFORE), (demo.CLAIMS, "1.1.0")):
        draft = LiveChangeDraft(action=LATEST, version=version)
        change_live(caller=owen, project_id=project_id, agent_id=agent_id, draft=draft)
    built = freeze(
        caller=owen,
        project_id=project_id,
        agent_id=demo.ORDERS,
        version="1.0.0",
        description="What people said of the orders agent in November.",
    )
    cases = list(built.version.cases.order_by("position"))
    _grade(owen, built.version.test_set, LIVE_BEFORE, cases, mended=())
    _grade(owen, built.version.test_set, LIVE_NOW, cases, mended=cases[: len(cases) // 2 + 1])


def _grade(owen: Caller, test_set: TestSet, version: str, cases: list[TestCase], *, mended: Any) -> None:
    draft = TestRunDraft(
        project_id=test_set.project_id,
        subject_kind=SubjectKind.AGENT,
        subject_id=demo.ORDERS,
        subject_version=version,
    )
    run = start_test_run(caller=owen, set_name=test_set.name, draft=draft)
    outputs = [_output(case, is_mended=case in mended) for case in cases]
    submit_outputs(caller=owen, run_id=run.id, outputs=outputs, verdicts={})


def _output(case: TestCase, *, is_mended: bool) -> OutputDraft:
    """What the agent would say now: what the person asked for where it is mended, else what it said then."""
    assert case.wire is not None
    wire = case.wire.value
    expect = wire["expect"]
    recorded = calls_of_case(case.version.test_set.workspace_id, case)
    calls = list(listed(recorded.value)) if recorded else []
    decisions, answer = expect.get("decisions", {}), expect.get("answer", {})
    if is_mended and decisions.get("verdict") == Verdict.WRONG:
        wanted = [Call(tool=call["tool"], arguments=call["args"]) for call in decisions.get("shouldCall", ())]
        dropped = {*decisions.get("mustNotCall", ()), *(call.tool for call in wanted)}
        calls = [call for call in calls if call.tool not in dropped] + wanted
    verdict = Verdict.RIGHT if is_mended else answer.get("verdict", Verdict.RIGHT)
    content = answer.get("shouldSay") if is_mended else None
    return OutputDraft(
        case_id=case.case_id,
        output=JsonText.of({"content": content}) if content else JsonText.of(wire["output"]),
        calls=JsonText.of([_wire(call) for call in calls]),
        answer=JsonText.of({"verdict": verdict}) if answer else None,
        fingerprint="demo",
    )


def _wire(call: Call) -> dict[str, Any]:
    arguments = {} if call.arguments is MISSING else {"arguments": call.arguments}
    return {"toolId": call.tool} | arguments
