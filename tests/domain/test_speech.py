"""The conversation as people speaking, whatever shape its messages came in."""

import pytest

from corrections.presenters.speech import SHOWN_MESSAGES, conversation

RAW = "/raw/"


def said(*history, given="Hello", **context):
    talk = conversation(given, {"history": list(history), **context}, RAW)
    return [(speech.kind, speech.name, str(speech.body)) for speech in [*talk.earlier, *talk.recent]]


@pytest.mark.parametrize(
    ("entry", "kind", "name", "body"),
    [
        ({"role": "user", "content": "Hi"}, "user", "User", '<p class="typed">Hi</p>'),
        ({"role": "customer", "content": "Hi"}, "user", "customer", '<p class="typed">Hi</p>'),
        ({"role": "agent", "content": "*Hi*"}, "agent", "Agent", "<p><em>Hi</em></p>\n"),
        ({"role": "assistant", "content": {"text": "Hi"}}, "agent", "Agent", "<p>Hi</p>\n"),
        (
            {"role": "user", "content": [{"text": "a"}, {"image": 1}, {"text": "b"}]},
            "user",
            "User",
            '<p class="typed">a\nb</p>',
        ),
        ({"role": "system", "content": "Be kind"}, "instructions", "Instructions", '<p class="typed">Be kind</p>'),
        ({"role": "tool", "name": "find", "content": ""}, "tool", "find", "empty result"),
        ({"role": "tool", "toolCall": {"toolId": "find"}, "content": {"a": 1}}, "tool", "find", "{&quot;a&quot;: 1}"),
        ({"role": "tool", "content": "x"}, "tool", "Tool", "x"),
        (
            {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "find"}}]},
            "tool",
            "Agent called",
            '<code class="tool">find</code>',
        ),
        (
            {"role": "agent", "content": {"toolCalls": [{"toolId": "find"}, {"toolId": "<b>"}]}},
            "tool",
            "Agent called",
            '<code class="tool">find, &lt;b&gt;</code>',
        ),
    ],
)
def test_each_kind_of_message(entry, kind, name, body):
    assert said(entry)[0] == (kind, name, body)


def test_a_message_of_no_known_shape_is_shown_as_what_it_is():
    (kind, name, body), *_rest = said(["just", "a", "list"])

    assert (kind, name) == ("other", "Message")
    assert '<span class="tree-text">just</span>' in body


def test_words_that_are_no_words_are_shown_as_json():
    assert '<span class="tree-key">mood</span>' in said({"role": "user", "content": {"mood": "good"}})[0][2]


def test_a_call_is_not_told_twice_when_its_result_follows():
    call = {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "find"}}]}
    result = {"role": "tool", "name": "find", "content": "found"}

    assert [kind for kind, *_rest in said(call, result)] == ["tool", "user"]
    assert [name for _kind, name, _body in said(call, result)] == ["find", "Came in"]


@pytest.mark.parametrize(
    ("given", "body"),
    [
        ("Hi", '<p class="typed">Hi</p>'),
        ({"query": "Hi", "place": "here"}, '<p class="typed">Hi</p>'),
    ],
)
def test_what_came_in_is_the_last_thing_said(given, body):
    assert said({"role": "agent", "content": "Yes?"}, given=given)[-1] == ("user", "Came in", body)


def test_what_came_in_is_not_told_again_when_the_conversation_holds_it():
    assert said({"role": "user", "content": "Hello"}) == [("user", "User", '<p class="typed">Hello</p>')]


def test_long_history_is_folded_up_to_the_newest_few():
    history = [{"role": "user", "content": f"word {number}"} for number in range(20)]

    talk = conversation("word 19", {"history": history}, RAW)

    assert len(talk.recent) == SHOWN_MESSAGES
    assert len(talk.earlier) == 20 - SHOWN_MESSAGES
    assert [str(speech.body) for speech in talk.recent][-1] == '<p class="typed">word 19</p>'


def test_a_flows_steps_and_what_else_it_knew_stand_beside():
    step = {"agentId": "planner", "agentVersion": "1.0.0", "nodeId": "n1", "retrieved": [], "recalled": ["x"]}

    talk = conversation("Hi", {"flow": {"steps": [step, "no step"]}, "retrieved": [{"id": 1}]}, RAW)

    assert [(shown.agent, shown.version, shown.node, [name for name, _ in shown.more]) for shown in talk.steps] == [
        ("planner", "1.0.0", "n1", ["What it remembered"])
    ]
    assert [name for name, _body in talk.more] == ["Documents it had"]
