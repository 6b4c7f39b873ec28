"""Which items an output holds (contract 17.2)."""

import pytest

from corrections.rules.outputs import Item, answer_of, items_of
from kindgi_site.exact_json import parse


def keys(kind: str, text: str) -> list[tuple[str, str, int | None]]:
    return [(item.key, item.pointer, item.rank) for item in items_of(kind, parse(text))]


def test_flow_output_is_one_item_and_its_list_items():
    assert keys("flow", '{"matches": [{"id": "A"}, {"id": "B"}]}') == [
        ("output", "", None),
        ("A", "/matches/0", 0),
        ("B", "/matches/1", 1),
    ]


def test_no_output_has_no_items():
    assert items_of("flow", None) == []
    assert items_of("agent", None) == []
    assert answer_of("agent", None) is None


def test_agent_output_without_appended_is_its_own_answer():
    output = parse('{"content": "Done."}')

    assert items_of("agent", output) == [Item("answer", "", output)]


def test_agents_answer_is_the_last_thing_it_said_that_calls_no_tools():
    output = parse(
        '{"appended": [{"role": "agent", "content": "First"}, {"role": "agent", "content": "Second"},'
        ' {"role": "tool", "content": "x"}, {"role": "agent", "content": {"toolCalls": []}}]}'
    )

    assert answer_of("agent", output) == Item("answer", "/appended/1/content", "Second")


def test_agent_that_only_called_tools_has_no_answer():
    output = parse('{"appended": [{"role": "agent", "content": {"toolCalls": [{"id": "1"}]}}]}')

    assert items_of("agent", output) == []


def test_lists_of_an_agent_that_records_messages_stand_under_output():
    text = (
        '{"appended": [{"role": "agent", "content": "ok"}], "output": {"hits": [{"key": "k"}]}, "other": [{"id": "x"}]}'
    )

    assert keys("agent", text) == [("answer", "/appended/0/content", None), ("k", "/output/hits/0", 0)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[{"id": 1.0}]', ("1", "/0")),
        ('[{"id": "", "key": "k"}]', ("k", "/0")),
        ('[{"id": true}]', ("/0", "/0")),
        ('[{"id": null, "key": 7}]', ("7", "/0")),
        ('["plain"]', ("/0", "/0")),
    ],
)
def test_key_is_the_elements_own_id_or_key_or_its_pointer(text, expected):
    assert [(item.key, item.pointer) for item in items_of("flow", parse(text))][1:] == [expected]


def test_key_used_twice_in_a_list_stays_with_the_first():
    assert keys("flow", '[{"id": "a"}, {"id": "a"}]')[1:] == [("a", "/0", 0), ("/1", "/1", 1)]


def test_pointer_tokens_are_escaped():
    assert keys("flow", '{"a/b~c": [1]}')[1:] == [("/a~1b~0c/0", "/a~1b~0c/0", 0)]


def test_fields_are_visited_in_sorted_order():
    assert [pointer for _, pointer, _ in keys("flow", '{"b": [1], "a": [1]}')] == ["", "/a/0", "/b/0"]


def test_a_list_inside_a_list_is_not_walked_into():
    assert keys("flow", '[{"id": "a", "more": [{"id": "b"}]}]')[1:] == [("a", "/0", 0)]


@pytest.mark.parametrize(("length", "found"), [(0, 0), (1, 1), (100, 100), (101, 0)])
def test_lists_of_1_to_100_elements_give_items(length, found):
    assert len(items_of("flow", [None] * length)) == found + 1


def test_objects_are_walked_at_depths_0_to_3():
    assert len(keys("flow", '{"a": {"b": {"c": {"d": [1]}}}}')) == 2
    assert len(keys("flow", '{"a": {"b": {"c": {"d": {"e": [1]}}}}}')) == 1
