"""Runs and corrections of real agents over /v1: handed in, corrected, read back, counted (contract 7, 8.1, 11)."""

import json
from collections import Counter
from pathlib import Path

import pytest

from corrections.models import Correction, Run, RunCopy
from tests.seed_schema import faults, needs_seed_schema

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
pytestmark = pytest.mark.skipif(not DATA.exists(), reason="the recorded runs are not here")

SETS = {"airline": (200, 50), "search": (3, 3)}
# Counted by eye: 28 wrong decisions, one wrong answer, 21 with nothing wrong; a wrong item in every search.
STATUSES = {"airline": {"with-owner": 28, "open": 1, "fixed": 21}, "search": {"open": 3}}
PARTS = ("input", "output", "calls", "context", "segments")


def lines(name, kind):
    return [json.loads(line) for line in (DATA / name / f"{kind}.jsonl").read_text().splitlines()]


def hand_in(client, project, name):
    for run in lines(name, "runs"):
        run_id = run.pop("runId")
        response = client.put(f"/v1/runs/{run_id}", run | {"projectId": str(project.id)})
        assert response.status_code == 201, (run_id, response.content)


def expected_start(said):
    """The table of contract 8.1, read anew."""
    if "participantId" in said:
        return "open", None
    if said.get("decisions") == "wrong":
        return "with-owner", "owner"
    if said.get("answer") == "wrong" or any(item["verdict"] == "wrong" for item in said.get("items", [])):
        return "open", "improve"
    return "fixed", None


@pytest.mark.parametrize(("name", "counts"), SETS.items(), ids=SETS)
def test_every_run_is_taken_once_and_reads_back_as_it_was_handed_in(api_client, project, name, counts):
    hand_in(api_client, project, name)
    before = list(Run.objects.order_by("id").values())

    for run in lines(name, "runs"):
        run_id = run.pop("runId")
        again = api_client.put(f"/v1/runs/{run_id}", run | {"projectId": str(project.id)})
        body = api_client.get(f"/v1/runs/{run_id}?include=input,output,calls,context").json()
        assert again.status_code == 200
        assert {part: body.get(part) for part in PARTS} == {part: run.get(part) for part in PARTS}

    assert (len(before), list(Run.objects.order_by("id").values())) == (counts[0], before)


@needs_seed_schema
@pytest.mark.parametrize(("name", "counts"), SETS.items(), ids=SETS)
def test_every_correction_is_accepted_sorted_and_reads_back(api_client, project, name, counts):
    hand_in(api_client, project, name)
    runs = {run["runId"]: run for run in lines(name, "runs")}
    told = Counter()

    for said in lines(name, "corrections"):
        response = api_client.post("/v1/corrections", said)
        posted = response.json()
        assert response.status_code == 201, (said["runId"], response.content)
        body = api_client.get(f"/v1/corrections/{posted['id']}").json()

        assert faults("Correction", posted) + faults("CorrectionWithCopies", body) == []
        assert body == posted | {"run": body["run"]}
        assert {part: posted.get(part) for part in said} == said | whole_calls(said)
        check_copy(body["run"], runs[said["runId"]])
        told[posted["status"], posted.get("sortedTo")] += 1

    assert (Correction.objects.count(), RunCopy.objects.count()) == (counts[1], counts[1])
    assert told == Counter(map(expected_start, lines(name, "corrections")))
    assert Counter(Correction.objects.values_list("status", flat=True)) == STATUSES[name]


def whole_calls(said):
    """Arguments that were left out are told as none."""
    return {part: [{"args": {}} | call for call in said[part]] for part in said if part == "shouldCall"}


def check_copy(copy, run):
    assert (copy["input"], copy["output"], copy["segments"]) == (run["input"], run["output"], run.get("segments", []))
    history = run.get("context", {}).get("history", [])
    assert copy.get("context", {}).get("history", []) == history[-200:]
