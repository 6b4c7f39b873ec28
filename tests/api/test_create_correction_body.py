"""The body of `POST /v1/corrections`: every rule at its limit and one past it, in the table's order (contract 7.2)."""

import pytest

from corrections.models import Correction
from tests.api.expect import assert_refused, nothing_stored

PATH = "/v1/corrections"
CALL = {"tool": "refund"}
ITEM = {"key": "a", "verdict": "right"}
FAR = "\U0001f6eb"  # one character, two UTF-16 units, four bytes


def wrong_decisions(**said):
    return {"decisions": "wrong", "shouldCall": [CALL]} | said


def call(tool="refund", **args):
    return wrong_decisions(shouldCall=[{"tool": tool, **args}])


def item(**said):
    return {"items": [ITEM | said]}


def items(*keys):
    return {"items": [{"key": key, "verdict": "right"} for key in keys]}


def args_of(characters):
    """Arguments whose canonical JSON has that many characters, sent longer: spaces, escapes, `1.0`."""
    filling = FAR * (characters - len('{"n":1,"t":""}'))
    return {"args": {"t": filling, "n": 1.0}}


ALLOWED = {
    "every field": wrong_decisions(
        mustNotCall=["close"],
        answer="wrong",
        shouldSay="On Tuesday.",
        why="It is late.",
        items=[ITEM | {"pointer": "/sources/0", "rank": 0}],
        participantId="end-user",
    ),
    "50 in shouldCall": wrong_decisions(shouldCall=[{"tool": f"t{n}"} for n in range(50)]),
    "a tool of 200 characters": call(FAR * 200),
    "a tool of one character": call("t"),
    "the same tool twice": wrong_decisions(shouldCall=[CALL, CALL]),
    "args of 100 fields": call(args={f"f{n}": n for n in range(100)}),
    "args of 4000 characters": call(**args_of(4000)),
    "args that no text column holds": call(args={"a": "\0\ud800"}),
    "50 in mustNotCall": wrong_decisions(shouldCall=[], mustNotCall=[f"t{n}" for n in range(50)]),
    "mustNotCall of 200 characters": wrong_decisions(mustNotCall=[FAR * 200]),
    "mustNotCall of one character": wrong_decisions(mustNotCall=["t"]),
    "empty lists beside right decisions": {"decisions": "right", "shouldCall": [], "mustNotCall": [], "items": []},
    "shouldSay of 4000 characters": {"answer": "wrong", "shouldSay": FAR * 4000},
    "why of 4000 characters": {"answer": "wrong", "why": FAR * 4000},
    "why with nothing wrong": {"answer": "right", "why": "Well said."},
    "why beside a blank shouldSay": {"answer": "wrong", "shouldSay": " ", "why": "Late."},
    "shouldSay beside an empty why": {"answer": "wrong", "shouldSay": "On Tuesday.", "why": ""},
    "100 items": items(*(f"k{n}" for n in range(100))),
    "a key of 200 characters": item(key=FAR * 200),
    "a key that is trimmed nowhere": items("a", " a", "a "),
    "a pointer to everything": item(pointer=""),
    "rank 0": item(rank=0),
    "rank 2.0": item(rank=2.0),
    "a participant of 256 characters": {"answer": "right", "participantId": FAR * 256},
    "items alone": items("a"),
}


@pytest.mark.parametrize("said", ALLOWED.values(), ids=ALLOWED)
def test_a_body_at_the_limits_is_accepted(api_client, run, said):
    response = api_client.post(PATH, {"runId": str(run.run_id)} | said)

    assert (response.status_code, Correction.objects.count()) == (201, 1), response.content


REFUSED = {
    "decisions of another word": ({"decisions": "Right"}, "decisions"),
    "decisions true": ({"decisions": True}, "decisions"),
    "decisions null": ({"decisions": None, "answer": "right"}, "decisions"),
    "answer of another word": ({"answer": "maybe"}, "answer"),
    "answer null": ({"answer": None, "decisions": "right"}, "answer"),
    "51 in shouldCall": (wrong_decisions(shouldCall=[{"tool": f"t{n}"} for n in range(51)]), "shouldCall"),
    "shouldCall an object": (wrong_decisions(shouldCall=CALL), "shouldCall"),
    "shouldCall null": (wrong_decisions(shouldCall=None), "shouldCall"),
    "shouldCall of texts": (wrong_decisions(shouldCall=["refund"]), "shouldCall"),
    "shouldCall with right decisions": ({"decisions": "right", "shouldCall": [CALL]}, "shouldCall"),
    "shouldCall without decisions": ({"answer": "right", "shouldCall": [CALL]}, "shouldCall"),
    "a tool of 201 characters": (call("t" * 201), "shouldCall.tool"),
    "an empty tool": (call(""), "shouldCall.tool"),
    "no tool": (wrong_decisions(shouldCall=[{"args": {}}]), "shouldCall.tool"),
    "a tool that is a number": (call(7), "shouldCall.tool"),
    "a tool with NUL": (call("a\0"), "shouldCall.tool"),
    "args a list": (call(args=[]), "shouldCall.args"),
    "args null": (call(args=None), "shouldCall.args"),
    "args of 101 fields": (call(args={f"f{n}": n for n in range(101)}), "shouldCall"),
    "args of 4001 characters": (call(**args_of(4001)), "shouldCall"),
    "an unknown field in shouldCall": (call(when="now"), "shouldCall.when"),
    "51 in mustNotCall": (wrong_decisions(mustNotCall=["t"] * 51), "mustNotCall"),
    "mustNotCall a text": (wrong_decisions(mustNotCall="t"), "mustNotCall"),
    "mustNotCall null": (wrong_decisions(mustNotCall=None), "mustNotCall"),
    "mustNotCall of 201 characters": (wrong_decisions(mustNotCall=["t" * 201]), "mustNotCall"),
    "an empty text in mustNotCall": (wrong_decisions(mustNotCall=[""]), "mustNotCall"),
    "a number in mustNotCall": (wrong_decisions(mustNotCall=[7]), "mustNotCall"),
    "mustNotCall with right decisions": ({"decisions": "right", "mustNotCall": ["t"]}, "mustNotCall"),
    "mustNotCall without decisions": ({"answer": "right", "mustNotCall": ["t"]}, "mustNotCall"),
    "a tool in both": (wrong_decisions(mustNotCall=["close", "refund"]), "mustNotCall"),
    "wrong decisions alone": ({"decisions": "wrong"}, "decisions"),
    "wrong decisions with empty lists": ({"decisions": "wrong", "shouldCall": [], "mustNotCall": []}, "decisions"),
    "shouldSay of 4001 characters": ({"answer": "wrong", "shouldSay": "s" * 4001}, "shouldSay"),
    "shouldSay with a right answer": ({"answer": "right", "shouldSay": "s"}, "shouldSay"),
    "shouldSay without answer": ({"decisions": "right", "shouldSay": "s"}, "shouldSay"),
    "shouldSay null": ({"answer": "wrong", "shouldSay": None, "why": "w"}, "shouldSay"),
    "shouldSay a number": ({"answer": "wrong", "shouldSay": 1, "why": "w"}, "shouldSay"),
    "why of 4001 characters": ({"answer": "right", "why": "w" * 4001}, "why"),
    "why null": ({"answer": "right", "why": None}, "why"),
    "why with NUL": ({"answer": "right", "why": "a\0b"}, "why"),
    "why with a surrogate": ({"answer": "right", "why": "a\ud800b"}, "why"),
    "a wrong answer alone": ({"answer": "wrong"}, "answer"),
    "a wrong answer with blanks": ({"answer": "wrong", "shouldSay": " \n", "why": "\t\u2003"}, "answer"),
    "101 items": (items(*(f"k{n}" for n in range(101))), "items"),
    "items an object": ({"items": ITEM}, "items"),
    "items null": ({"items": None, "answer": "right"}, "items"),
    "no key": ({"items": [{"verdict": "right"}]}, "items.key"),
    "an empty key": (item(key=""), "items.key"),
    "a blank key": (item(key=" \u00a0"), "items.key"),
    "a key of 201 characters": (item(key="k" * 201), "items.key"),
    "a key with a surrogate": (item(key="\udfff"), "items.key"),
    "no verdict": ({"items": [{"key": "a"}]}, "items.verdict"),
    "verdict yes": (item(verdict="yes"), "items.verdict"),
    "a pointer of 501 characters": (item(pointer="/" + "p" * 500), "items.pointer"),
    "a pointer without slash": (item(pointer="sources"), "items"),
    "a pointer with ~2": (item(pointer="/~2"), "items"),
    "a pointer that ends in ~": (item(pointer="/a~"), "items"),
    "a pointer null": (item(pointer=None), "items.pointer"),
    "rank -1": (item(rank=-1), "items.rank"),
    "rank true": (item(rank=True), "items.rank"),
    "rank 1.5": (item(rank=1.5), "items.rank"),
    "rank a text": (item(rank="1"), "items.rank"),
    "rank null": (item(rank=None), "items.rank"),
    "a key twice": (items("a", "b", "a"), "items"),
    "an unknown field in items": (item(itemValue=1), "items.itemValue"),
    "an empty group": ({"answer": "right", "correctorGroupId": ""}, "correctorGroupId"),
    "a blank group": ({"answer": "right", "correctorGroupId": " "}, "correctorGroupId"),
    "a group that is a number": ({"answer": "right", "correctorGroupId": 7}, "correctorGroupId"),
    "a group null": ({"answer": "right", "correctorGroupId": None}, "correctorGroupId"),
    "an empty participant": ({"answer": "right", "participantId": ""}, "participantId"),
    "a blank participant": ({"answer": "right", "participantId": "\t"}, "participantId"),
    "a participant null": ({"answer": "right", "participantId": None}, "participantId"),
    "a participant of 257 characters": ({"answer": "right", "participantId": "p" * 257}, "participantId"),
    "nothing said": ({"why": "Because."}, "decisions"),
    "an empty items alone": ({"items": []}, "decisions"),
    "no run": ({"runId": "", "answer": "right"}, "runId"),
    "a blank run": ({"runId": " ", "answer": "right"}, "runId"),
    "a run that is a number": ({"runId": 7, "answer": "right"}, "runId"),
    "a run null": ({"runId": None, "answer": "right"}, "runId"),
    # The table's order: the first row that is broken is the one that is told.
    "two rows broken, run first": ({"runId": 7, "decisions": "no"}, "runId"),
    "two rows broken, answer before shouldCall": ({"answer": "no", "shouldCall": 7}, "answer"),
    "two rows broken, shouldCall before why": (
        {"answer": "right", "shouldCall": [CALL], "why": "w" * 4001},
        "shouldCall",
    ),
    "two rows broken, both before why": (wrong_decisions(mustNotCall=["refund"], why=7), "mustNotCall"),
    "two rows broken, decisions before items": ({"decisions": "wrong", "items": 7}, "decisions"),
    "two rows broken, why before items": ({"answer": "right", "why": 7, "items": 7}, "why"),
    "two rows broken, answer before items": ({"answer": "wrong", "items": [ITEM, ITEM]}, "answer"),
    "two rows broken, items before group": ({"items": [ITEM, ITEM], "correctorGroupId": 7}, "items"),
    "two rows broken, group before nothing said": ({"correctorGroupId": ""}, "correctorGroupId"),
}


@pytest.mark.parametrize(("said", "field"), REFUSED.values(), ids=REFUSED)
def test_a_body_past_the_limits_is_refused(api_client, run, said, field):
    with nothing_stored():
        response = api_client.post(PATH, {"runId": str(run.run_id)} | said)

    assert_refused(response, 400, "bad-input", field=field)


def test_a_body_without_a_run_is_refused(api_client, run):
    with nothing_stored():
        response = api_client.post(PATH, {"answer": "right"})

    assert_refused(response, 400, "bad-input", field="runId")


def test_unknown_fields_are_named_in_the_order_sent_before_any_rule(api_client, run):
    with nothing_stored():
        response = api_client.post(PATH, {"zebra": 1, "runId": 7, "madeBy": {}, "answer": "no"})

    assert_refused(response, 400, "unknown-field", fields=["zebra", "madeBy"])


@pytest.mark.parametrize("body", ["", " ", "{", "[]", '"text"', "null", "7", '{"answer": NaN}', b'{"why": "\xff"}'])
def test_a_body_that_is_no_json_object_is_refused(api_client, run, body):
    with nothing_stored():
        response = api_client.post(PATH, body)

    assert_refused(response, 400, "bad-input")
