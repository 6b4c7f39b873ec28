"""No word of what was erased is left in the database's own bytes (contract 12.3, decision 10)."""

import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest
from django.db import connection

from tests.loop import ANSWER, WRONG_CALL, output

pytestmark = pytest.mark.django_db(transaction=True)


def test_what_an_erased_participant_said_of_a_run_that_stays_goes_from_every_copy(loop, root_client, tmp_path):
    """The run served somebody else; the participant's words were frozen, built, promoted and graded beside others'."""
    run = loop.run(calls=[WRONG_CALL])
    loop.correct(run, answer="wrong", why="Somebody else says so.")
    wanted = {"decisions": "wrong", "shouldCall": [{"tool": "find_order", "args": {"order": "WORD-wanted"}}]}
    theirs = loop.correct(
        run, answer="wrong", why="WORD-why", shouldSay="WORD-should-say", participantId="WORD-participant", **wanted
    )
    hand = loop.ask("POST", f"{loop.base}/test-set/cases/from-run", {"runId": run}, status=201)["caseId"]
    loop.ask("POST", f"/v1/corrections/{theirs}/sort", {"to": "owner"})
    loop.freeze()
    loop.build("1.0.0")
    for case, name in ((theirs, "support.corrections"), (run, "built")):
        graded = loop.start(testSetId=name)
        loop.submit(graded, output(case))
        loop.client.post(f"/v1/test-runs/{graded}/complete", idempotency_key=name)
    assert found_words(tmp_path) >= {b"WORD-wanted", b"WORD-why", b"WORD-should-say", b"WORD-participant"}

    erased = root_client.post("/v1/memory/erasures", {"subject": {"kind": "participant", "id": "WORD-participant"}})

    assert erased.json()["counts"]["corrections"] == 1
    assert found_words(tmp_path) == set()
    built = loop.cases("1.0.0", "built")[0]
    reasons = [reason["reason"] for item in built["items"] for reason in item["reasons"]]
    assert (reasons, built["output"], "erased" in built) == (["Somebody else says so."], ANSWER, False)
    assert built["corrections"] == [
        {"correctionId": theirs, "calls": [{"tool": "find_order", "args": {}}], "notCalled": []}
    ]
    frozen = {case["caseId"]: case["expect"] for case in loop.cases("1.0.0")}
    expected = {
        "decisions": {"verdict": "wrong", "shouldCall": [{"tool": "find_order", "args": {}}]},
        "answer": {"verdict": "wrong"},
    }
    assert (frozen[theirs], frozen[hand]) == (expected, expected)


def test_no_erased_word_is_left_anywhere_in_the_database(loop, root_client, tmp_path):
    """Of a run that was corrected, promoted, drafted from, frozen, built, graded and replayed, with every answer kept.

    The words are looked for in the bytes of the SQLite file with its log, or in a dump of the PostgreSQL database.
    """
    say_every_word(loop)
    words = found_words(tmp_path)
    assert words >= {b"WORD-" + name for name in NAMES}, "the search itself finds what is there"
    run = loop.words_run

    response = root_client.post("/v1/memory/erasures", {"subject": {"kind": "participant", "id": "WORD-participant"}})
    assert response.status_code == 202
    assert run not in str(response.content)

    assert found_words(tmp_path) == set()


NAMES = (
    b"input", b"output", b"history", b"segment", b"argument", b"should-say", b"why", b"note", b"reason", b"wanted",
    b"hand-note", b"hand-expect", b"draft-query", b"draft-output", b"submitted", b"verdict", b"stopped", b"error",
    b"key", b"participant",
)  # fmt: skip


def say_every_word(loop):
    """Each step with an Idempotency-Key, so that its answer is stored too."""
    keys = iter(range(100))
    ask = loop.client.request

    def keyed(method, path, body=b"", **headers):
        more = {} if method == "GET" else {"idempotency_key": f"k{next(keys)}"}
        return ask(method, path, body, **headers | more)

    loop.client.request = keyed
    run = loop.words_run = loop.run(
        input={"message": "WORD-input"},
        output={"content": "WORD-output"},
        calls=[{"toolId": "find_order", "arguments": {"order": "WORD-argument"}}],
        context={"history": ["WORD-history"]},
        segments=[{"key": "team", "value": "WORD-segment"}],
        participantId="WORD-participant",
    )
    said = {"decisions": "wrong", "shouldCall": [{"tool": "find_order", "args": {"order": "WORD-wanted"}}]}
    answer = {"answer": "wrong", "shouldSay": "WORD-should-say", "why": "WORD-why"}
    correction = loop.correct(run, **said, **answer)
    loop.ask("POST", f"/v1/corrections/{correction}/sort", {"to": "owner", "reason": "WORD-reason"})
    loop.ask("POST", f"/v1/corrections/{correction}/status", {"status": "with-owner", "note": "WORD-note"})
    base = f"{loop.base}/test-set/cases"
    hand = {
        "runId": run,
        "note": "WORD-hand-note",
        "expect": {"answer": {"verdict": "wrong", "why": "WORD-hand-expect"}},
    }
    hand_id = loop.ask("POST", base, hand, status=201)["caseId"]
    loop.ask("PATCH", f"{base}/{hand_id}", {"note": "WORD-hand-note again"})
    draft = {"query": "WORD-draft-query", "expectedOutput": "WORD-draft-output"}
    source = {"sourceKind": "NegativeScore", "sourceRunId": run, "agentVersion": "1.0.0"}
    loop.ask("POST", f"{base}/from-draft", draft | source, status=201)
    loop.ask("POST", f"{base}/from-run", {"runId": run}, status=201)
    loop.freeze()
    loop.build("1.0.0")
    for finish in (True, False):
        graded = loop.start(repetitions=3)
        loop.submit(
            graded,
            {
                "caseId": correction,
                "output": {"content": "WORD-submitted", "output": {"list": [{"id": "WORD-key"}]}},
                "calls": [{"toolId": "find_order", "arguments": {"order": "WORD-submitted"}}],
                "answer": {"verdict": "wrong", "reason": "WORD-verdict"},
            },
            {"caseId": correction, "repetition": 1, "stopped": {"reason": "WORD-stopped"}},
            {"caseId": correction, "repetition": 2, "error": "WORD-error"},
        )
        if finish:
            loop.ask("POST", f"/v1/test-runs/{graded}/complete")


def found_words(tmp_path):
    """Every WORD-… in the database's own bytes; what a transaction left in SQLite's log is read too."""
    data = _sqlite_bytes() if connection.vendor == "sqlite" else _postgresql_dump(tmp_path)
    return {b"WORD-" + name for name in NAMES if b"WORD-" + name in data} | ({b"WORD-"} if b"WORD-" in data else set())


def _sqlite_bytes():
    file = Path(connection.settings_dict["NAME"])
    with sqlite3.connect(file) as reader:
        reader.execute("SELECT 1")
    return b"".join(part.read_bytes() for part in file.parent.glob(f"{file.name}*") if not part.name.endswith("-shm"))


def _postgresql_dump(tmp_path):
    if shutil.which("pg_dump") is None:
        pytest.skip("pg_dump is not installed")
    made = connection.settings_dict
    address = f"postgresql://{made['USER']}@{made['HOST']}:{made['PORT']}/{made['NAME']}"
    file = tmp_path / "dump.sql"
    subprocess.run(["pg_dump", "--file", str(file), address], check=True, timeout=60)  # noqa: S603, S607
    return file.read_bytes()
