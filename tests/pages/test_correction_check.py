"""The form as it follows along: what it amounts to, and the buttons that add to it. Nothing is stored."""

import re
from typing import Any

import pytest
from django.test import Client

from corrections.models import Correction, Run, RunCopy
from tests.pages.conftest import HTMX, root_of, text_of


def check(client: Client, run: Run, said: dict[str, Any], *, target: str | None = None) -> Any:
    headers = HTMX | {"HX-Target": target} if target else {}
    return client.post(f"/runs/{run.run_id}/corrections/check/?subject=support", said, headers=headers)


@pytest.fixture(autouse=True)
def _nothing_is_stored(db: None) -> Any:
    yield
    assert not Correction.objects.exists()
    assert not RunCopy.objects.exists()


def test_live_the_verdict_alone_is_swapped(reviewer_client: Client, marked_run: Run):
    said = {"call-0": "like", "call-0-match-0": "text", "call-0-value-0": "A-17", "call-1": "not"}

    response = check(reviewer_client, marked_run, said, target="verdict")

    html = response.content.decode()
    assert response.status_code == 200
    assert root_of(html) == "verdict"
    assert 'id="verdict-brief"' in html
    assert 'hx-swap-oob="true"' in html
    text = text_of(html).replace(" ,", ",").replace(" .", ".")
    assert "Decisions ✗ wrong 2 calls marked" in text
    assert "Your marks on calls say that the decisions were wrong." in text
    assert "A run passes when it calls find_order with orderId = A-17 and limit = 1, and never cancel_order." in text


def test_without_scripts_the_whole_page_comes_back_as_typed(reviewer_client: Client, marked_run: Run):
    response = check(reviewer_client, marked_run, {"step": "check", "answer": "right", "why": "Good one"})

    html = response.content.decode()
    assert response.status_code == 200
    assert response.templates[0].name == "corrections/run_detail.html"
    assert "Its answer may stay as it is." in text_of(html)
    assert ">\nGood one</textarea>" in html
    assert 'href="/runs/?subject=support"' in html


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({}, "Nothing said yet."),
        ({"decisions": "wrong"}, "need a call"),
        ({"decisions": "right"}, "calls find_order and cancel_order and nothing else"),
        ({"item-0": "right", "item-1": "wrong"}, "Of its list, 1 belongs and 1 does not belong."),
        ({"answer": "wrong"}, "needs what it should have said, or why"),
        ({"missing": "0"}, "Which tool should have been called?"),
    ],
)
def test_what_it_amounts_to_or_what_is_not_whole_yet(
    reviewer_client: Client, marked_run: Run, said: dict[str, Any], words: str
):
    text = text_of(check(reviewer_client, marked_run, said, target="verdict").content.decode())

    assert words in text


def test_a_call_is_missing_between_two_cards(reviewer_client: Client, marked_run: Run):
    said = {"step": "add-missing:1", "missing": "2", "missing-2-at": "0", "missing-2-tool": "kept", "why": "typed"}

    response = check(reviewer_client, marked_run, said, target="run-panel")

    form = response.context["form"]
    assert root_of(response.content.decode()) == "run-panel"
    assert [(mark.number, mark.at, mark.editor.tool) for mark in form.marks.missing] == [(2, 0, "kept"), (3, 1, "")]
    assert [(row.name, row.match) for row in form.marks.missing[1].editor.rows] == [("", "text")]
    html = response.content.decode()
    assert (
        html.index('id="missing-2"')
        < html.index('id="card-1"')
        < html.index('id="missing-3"')
        < html.index('id="card-2"')
    )
    assert ">\ntyped</textarea>" in html


@pytest.mark.parametrize(
    ("target", "said", "holds"),
    [
        ("card-1", {"call-0": "like"}, 'id="call-0-editor"'),
        ("card-2", {"call-1": "like", "step": "add-argument:call-1"}, 'name="call-1-name-'),
        ("gap-0", {"step": "add-missing:0"}, 'id="missing-0"'),
        ("gap-2", {"step": "add-missing:2", "missing": "4", "missing-4-at": "0"}, 'id="missing-5"'),
    ],
)
def test_a_mark_swaps_its_own_place_and_the_verdict_beside_it(
    reviewer_client: Client, marked_run: Run, target: str, said: dict[str, Any], holds: str
):
    html = check(reviewer_client, marked_run, said, target=target).content.decode()

    assert root_of(html) == target
    assert holds in html
    assert [name for name in re.findall(r'id="((?:card|gap)-[0-9]+)"', html) if name != target] == []
    for beside in ("verdict", "verdict-brief", "saved-note"):
        assert re.search(rf'id="{beside}"[^>]*hx-swap-oob="true"', html), beside


@pytest.mark.parametrize("target", ["card-0", "card-3", "gap-3", "gap--1", "gap-x", "card-9999999", "run-panel"])
def test_a_place_that_is_none_is_the_whole_panel(reviewer_client: Client, marked_run: Run, target: str):
    response = check(reviewer_client, marked_run, {"call-0": "like"}, target=target)

    assert root_of(response.content.decode()) == "run-panel"


def test_a_missing_call_is_taken_back(reviewer_client: Client, marked_run: Run):
    said = {"step": "remove-missing:0", "missing": ["0", "1"], "missing-0-tool": "gone", "missing-1-tool": "stays"}

    form = check(reviewer_client, marked_run, said).context["form"]

    assert [mark.editor.tool for mark in form.marks.missing] == ["stays"]


@pytest.mark.parametrize(("prefix", "before"), [("call-0", 2), ("missing-0", 1)])
def test_an_argument_is_added(reviewer_client: Client, marked_run: Run, prefix: str, before: int):
    said = {"step": f"add-argument:{prefix}", "call-0": "like", "missing": "0", "missing-0-match-0": "text"}

    marks = check(reviewer_client, marked_run, said).context["form"].marks

    editor = {"call-0": marks.cards[0].editor, "missing-0": marks.missing[0].editor}[prefix]
    assert len(editor.rows) == before + 1
    assert editor.rows[-1].is_blank


@pytest.mark.parametrize(("step", "rest"), [("others-wrong", "wrong"), ("others-right", "right")])
def test_all_others_get_one_verdict(reviewer_client: Client, marked_run: Run, step: str, rest: str):
    said = {"step": f"{step}:/hits", "item-0": "right"}

    form = check(reviewer_client, marked_run, said).context["form"]

    assert [item.verdict for item in form.items] == ["right", rest]


def test_others_of_another_list_stay(reviewer_client: Client, marked_run: Run):
    form = check(reviewer_client, marked_run, {"step": "others-wrong:/elsewhere"}).context["form"]

    assert [item.verdict for item in form.items] == ["", ""]


def test_one_starts_from_the_answer(reviewer_client: Client, marked_run: Run):
    html = check(reviewer_client, marked_run, {"step": "from-answer"}).content.decode()

    assert ">\n**Done.**</textarea>" in html
    assert 'id="answer-wrong" checked' in html


@pytest.mark.parametrize(
    "said",
    [
        {"step": "nonsense"},
        {"step": "add-missing:x"},
        {"step": "add-argument:nowhere"},
        {"missing": ["x", "99999999999999999999", "-1", "²"]},
        {"missing": "0", "missing-0-at": "99"},
        {"call-0": "sideways", "call-0-match-0": "sideways"},
        {"item-0": "sideways"},
    ],
)
def test_nonsense_is_no_accident(reviewer_client: Client, marked_run: Run, said: dict[str, Any]):
    assert check(reviewer_client, marked_run, said).status_code == 200


def test_only_posts_check(reviewer_client: Client, marked_run: Run):
    assert reviewer_client.get(f"/runs/{marked_run.run_id}/corrections/check/").status_code == 405
