"""Erasing a run once more reaches what test sets and test runs took of it since (contract, section 12)."""

from corrections.models import Erasure
from tests.loop import output
from testsets.models import HandCase, TestRunOutput


def test_an_output_and_a_draft_that_name_an_erased_run(loop, root_client):
    correction = loop.correct()
    loop.freeze()
    gone = loop.run()
    loop.erase(gone, root_client)
    at_work = loop.start(repetitions=2)
    loop.submit(at_work, output(correction) | {"runId": gone})
    draft = {"query": "w-query", "expectedOutput": "w-said", "agentVersion": "1.0.0", "sourceKind": "FailedRun",
             "sourceRunId": gone}  # fmt: skip
    loop.ask("POST", f"{loop.base}/test-set/cases/from-draft", draft, status=201)
    loop.freeze("2.0.0")

    counts = [again(root_client, gone), again(root_client, gone)]

    assert (TestRunOutput.objects.get().output, HandCase.objects.get().input) == (None, None)
    assert [case.get("erased") for case in loop.cases("2.0.0")] == [True, None]
    assert counts == [{"testCases": 1, "handCases": 1, "testRunOutputs": 1}, None]


def again(root_client, run_id):
    """What one more erasure cleared; None when there was nothing."""
    known = set(Erasure.objects.values_list("id", flat=True))
    response = root_client.post(f"/v1/runs/{run_id}/erase")
    assert (response.status_code, response.json()["erased"]) == (200, False)
    receipt = Erasure.objects.exclude(id__in=known).first()
    return receipt and {name: count for name, count in receipt.counts.items() if count}
