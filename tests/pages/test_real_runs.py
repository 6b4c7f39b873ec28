"""Real runs open as pages, and real corrections survive being opened and saved again."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import Client

from corrections.drafts import CorrectedItem, CorrectionDraft, ExpectedCall
from corrections.models import Correction, Run
from corrections.services.recording import record_correction
from corrections.vocabulary import Verdict
from kindgi_site import exact_json
from kindgi_site.callers import Caller
from kindgi_site.stored_json import JsonText
from kindgi_site.workspaces.models import Person, Workspace

DATA = Path(settings.BASE_DIR).parent / "shared" / "data"
SAID = ("decisions", "answer", "should_say", "why", "has_right", "has_wrong")

pytestmark = pytest.mark.skipif(not DATA.exists(), reason="the real runs do not lie beside the project")


@pytest.fixture
def real_runs(workspace: Workspace, reviewer: Person) -> None:
    for source in ("airline", "search"):
        call_command("import_runs", str(DATA / source / "runs.jsonl"), workspace=workspace.slug, verbosity=0)


def drafts() -> Iterator[tuple[str, CorrectionDraft]]:
    for source in ("airline", "search"):
        for line in (DATA / source / "corrections.jsonl").read_text().splitlines():
            said = exact_json.parse(line)
            yield (
                said["runId"],
                CorrectionDraft(
                    decisions=Verdict(said["decisions"]) if "decisions" in said else None,
                    should_call=tuple(_call(call) for call in said.get("shouldCall", [])),
                    must_not_call=tuple(said.get("mustNotCall", [])),
                    answer=Verdict(said["answer"]) if "answer" in said else None,
                    should_say=said.get("shouldSay"),
                    why=said.get("why"),
                    items=tuple(
                        CorrectedItem(item["key"], Verdict(item["verdict"]), item["pointer"], item["rank"].whole())
                        for item in said.get("items", [])
                    ),
                ),
            )


def _call(call: dict[str, Any]) -> ExpectedCall:
    args = call.get("args", {})
    return ExpectedCall(call["tool"], args, exact_json.dumps(args))


def entries(stored: JsonText | None) -> list[str]:
    """The entries of a list by value; their order says nothing."""
    return [] if stored is None else sorted(exact_json.canonical(entry) for entry in stored.value)


@pytest.mark.usefixtures("real_runs")
def test_every_run_opens(reviewer_client: Client):
    statuses = {
        reviewer_client.get(f"/runs/{run_id}/").status_code for run_id in Run.objects.values_list("run_id", flat=True)
    }

    assert statuses == {200}
    assert Run.objects.count() == 203


@pytest.mark.usefixtures("real_runs")
def test_every_correction_can_be_opened_and_saved_again_as_it_is(reviewer_client: Client, caller: Caller):
    for run_id, draft in drafts():
        made = record_correction(caller=caller, run_id=run_id, draft=draft)
        form = reviewer_client.get(f"/runs/{run_id}/").context["form"]
        response = reviewer_client.post(f"/runs/{run_id}/corrections/", dict(form.said.lists()))
        again = Correction.objects.get(run_id=run_id, unregistered_at__isnull=True)

        assert response.status_code == 302
        assert again.id != made.id
        for name in SAID:
            assert getattr(again, name) == getattr(made, name)
        for name in ("should_call", "must_not_call", "items"):
            assert entries(getattr(again, name)) == entries(getattr(made, name))
    assert Correction.objects.filter(unregistered_at__isnull=True).count() == 53
