"""What is handed in with a run comes back in its copy text for text (decisions 2 and 11 of the contract)."""

import json
from uuid import uuid4

import pytest

PATH = "/v1/corrections"

EXACT = {
    "a decimal": "1.0",
    "a long integer": "12345678901234567890",
    "beyond a double": "1e400",
    "a tiny number": "1E-400",
    "minus zero": "-0.0",
    "a NUL": '"\\u0000"',
    "a lone surrogate": '"\\ud800"',
    "escapes": '"\\/\\u00e9\\u2028é\U0001f6eb\\ud83d\\udeeb"',
    "key order": '{"b":1,"a":2,"10":3,"9":4,"":5}',
    "repeated keys": '{"a":1,"b":{"c":1,"c":2},"a":{"d":[]}}',
    "a text": '"</script>&<!--"',
    "false": "false",
    "deep lists": "[" * 127 + "]" * 127,
    "deep objects": '{"a":' * 126 + "[1.0]" + "}" * 126,
}


def put(client, project, parts):
    """Hand a completed run in whose JSON parts are exactly these texts; its id."""
    run_id = uuid4()
    texts = {
        "projectId": f'"{project.id}"',
        "agent": '{"id":"support","version":"1.2.0"}',
        "status": '"completed"',
        "completedAt": '"2026-03-01T09:30:00Z"',
        "input": "null",
        "output": "0",
    } | parts
    body = "{" + ",".join(f'"{name}":{text}' for name, text in texts.items()) + "}"
    response = client.put(f"/v1/runs/{run_id}", body.encode())
    assert response.status_code == 201, response.content
    return run_id


@pytest.mark.parametrize("text", EXACT.values(), ids=EXACT)
def test_a_copy_says_text_for_text_what_was_handed_in(api_client, project, text):
    run_id = put(api_client, project, {"input": text, "output": text})
    posted = json.loads(api_client.post(PATH, {"runId": str(run_id), "answer": "right"}).content)

    told = api_client.get(f"{PATH}/{posted['id']}").content.decode()

    assert f'"input":{text},"output":{text},' in told
    json.loads(told)


@pytest.mark.parametrize("text", [text for text in EXACT.values() if len(text) < 200])
def test_the_context_of_a_copy_is_told_text_for_text(api_client, project, text):
    context = f'{{"history":[{text}],"retrieved":{text},"recalled":{text}}}'
    run_id = put(api_client, project, {"context": context})
    posted = json.loads(api_client.post(PATH, {"runId": str(run_id), "answer": "right"}).content)

    assert f'"context":{context}' in api_client.get(f"{PATH}/{posted['id']}").content.decode()


def test_white_space_is_all_that_may_differ(api_client, project):
    text = ' {\n\t"b" : [ 1.0 , { } ] ,\r\n "a" : " kept  as it is " } '
    run_id = put(api_client, project, {"input": text, "output": text})
    posted = json.loads(api_client.post(PATH, {"runId": str(run_id), "answer": "right"}).content)

    told = parsed_exactly(api_client.get(f"{PATH}/{posted['id']}").content)

    copy = dict(dict(told)["run"])
    assert copy["input"] == copy["output"] == parsed_exactly(text)


def parsed_exactly(text):
    """Objects as lists of pairs and numbers as they are written, so that nothing but white space is lost."""
    return json.loads(text, object_pairs_hook=list, parse_float=str, parse_int=str)


def test_an_input_of_null_is_told_as_null(api_client, project):
    run_id = put(api_client, project, {"input": "null", "output": "false"})
    posted = json.loads(api_client.post(PATH, {"runId": str(run_id), "answer": "right"}).content)

    copy = json.loads(api_client.get(f"{PATH}/{posted['id']}").content)["run"]

    assert (copy["input"], copy["output"]) == (None, False)
