"""Saying what was right or wrong about a run, on its page."""

import json
from typing import Any

import pytest
from django.test import Client

from corrections.models import Correction, Run, RunCopy
from corrections.vocabulary import Status
from kindgi_site.callers import Role
from kindgi_site.exact_json import JsonText
from kindgi_site.workspaces.models import Person, Project
from tests.factories import CorrectionFactory, CorrectorGroupFactory, RunCopyFactory, RunFactory, person_with
from tests.pages.conftest import HTMX, VARY, root_of, text_of

RIGHT = {"answer": "right"}


def save(client: Client, run: Run, said: dict[str, Any], *, query: str = "", htmx: bool = False) -> Any:
    return client.post(f"/runs/{run.run_id}/corrections/{query}", said, headers=HTMX if htmx else {})


def stored(text: JsonText | None) -> Any:
    return None if text is None else json.loads(text.text)


def test_without_htmx_one_is_sent_back_to_the_run(reviewer_client: Client, reviewer: Person, marked_run: Run):
    response = save(reviewer_client, marked_run, RIGHT, query="?subject=support&junk=1")

    assert response.status_code == 302
    assert response["Location"] == f"/runs/{marked_run.run_id}/?subject=support#history"
    made = Correction.objects.get()
    assert (made.answer, made.decisions, made.items) == ("right", "", None)
    assert (made.made_by_kind, made.made_by_id, made.participant_id) == ("user", str(reviewer.id), "")
    assert RunCopy.objects.get().run_id == marked_run.run_id


def test_with_htmx_the_panel_is_swapped(reviewer_client: Client, marked_run: Run):
    response = save(reviewer_client, marked_run, RIGHT, htmx=True)

    html = response.content.decode()
    assert response.status_code == 200
    assert root_of(html) == "run-panel"
    assert set(response["Vary"].split(", ")) >= VARY
    assert "✓ Saved" in text_of(html)
    assert '<p id="run-facts" class="run-facts" hx-swap-oob="true">' in " ".join(html.split())
    assert "Stored copy of just now" in text_of(html)
    assert '<div hx-swap-oob="innerHTML:#messages">' in html
    assert Correction.objects.count() == 1


def test_everything_one_can_say(reviewer_client: Client, marked_run: Run):
    group = CorrectorGroupFactory(workspace=marked_run.workspace, min_reviewer_role="standard")
    said = {
        "call-0": "like",
        "call-0-match-0": "text",
        "call-0-value-0": "A-18",
        "call-0-match-1": "any",
        "call-0-value-1": "1",
        "call-0-name-2": "strict",
        "call-0-match-2": "value",
        "call-0-value-2": "true",
        "call-1": "not",
        "missing": ["0", "3"],
        "missing-0-at": "1",
        "missing-0-tool": "ask_customer",
        "missing-0-name-0": "about",
        "missing-0-match-0": "value",
        "missing-0-value-0": '{"n": 1.0, "big": 12345678901234567890}',
        "missing-3-at": "0",
        "missing-3-tool": " greet ",
        "missing-3-match-0": "text",
        "never": "delete_everything\r\n\r\n",
        "answer": "wrong",
        "should_say": "Line one\r\nline two",
        "why": "Not asked.",
        "item-0": "right",
        "item-1": "wrong",
        "corrector_group": str(group.id),
    }

    assert save(reviewer_client, marked_run, said).status_code == 302

    made = Correction.objects.get()
    assert made.decisions == "wrong"
    assert made.should_call.text == (
        '[{"tool":"greet","args":{}},{"tool":"find_order","args":{"orderId":"A-18","strict":true}},'
        '{"tool":"ask_customer","args":{"about":{"n":1.0,"big":12345678901234567890}}}]'
    )
    assert stored(made.must_not_call) == ["cancel_order", "delete_everything"]
    assert (made.answer, made.should_say, made.why) == ("wrong", "Line one\nline two", "Not asked.")
    assert stored(made.items) == [
        {"key": "a", "pointer": "/hits/0", "rank": 0, "verdict": "right"},
        {"key": "b", "pointer": "/hits/1", "rank": 1, "verdict": "wrong"},
    ]
    assert (made.group, made.expert, made.status) == (group, True, Status.WITH_OWNER)


def test_unchanged_values_are_kept_digit_for_digit(reviewer_client: Client, project: Project):
    text = '{"amount":1.50,"note":"a\\r\\nb\\ud800","list":[1.0,2]}'
    run = RunFactory(project=project, content__calls=JsonText(f'[{{"toolId":"pay","arguments":{text}}}]'))
    shown = reviewer_client.get(f"/runs/{run.run_id}/").context["form"].marks.cards[0].editor.rows
    said = {"call-0": "like"}
    for row in shown:
        said |= {row.field_match: row.match, row.field_value: row.value.replace("\n", "\r\n")}

    assert save(reviewer_client, run, said).status_code == 302

    assert Correction.objects.get().should_call.text == f'[{{"tool":"pay","args":{text}}}]'


def test_no_marks_and_decisions_right(reviewer_client: Client, marked_run: Run):
    assert save(reviewer_client, marked_run, {"decisions": "right"}).status_code == 302

    made = Correction.objects.get()
    assert (made.decisions, made.should_call, made.must_not_call) == ("right", None, None)


def test_a_later_correction_replaces_the_earlier_one_and_both_are_in_the_history(
    reviewer_client: Client, marked_run: Run
):
    save(reviewer_client, marked_run, RIGHT)

    text = text_of(save(reviewer_client, marked_run, {"answer": "wrong", "why": "No."}, htmx=True).content.decode())

    assert "With the owner" not in text
    assert "Replaced by a later one" in text
    assert Correction.objects.filter(unregistered_at__isnull=True).get().answer == "wrong"


def test_what_is_marked_is_the_copy(reviewer_client: Client, project: Project):
    run = RunFactory(project=project, content__output=JsonText.of({"content": "now", "hits": [{"id": "now"}]}))
    RunCopyFactory(project=project, run_id=run.run_id, output=JsonText.of({"hits": [{"id": "then"}, {"id": "two"}]}))

    assert save(reviewer_client, run, {"item-1": "wrong"}).status_code == 302

    assert stored(Correction.objects.get().items) == [
        {"key": "two", "pointer": "/hits/1", "rank": 1, "verdict": "wrong"}
    ]


@pytest.mark.parametrize("htmx", [False, True])
@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({}, "Say at least one of"),
        ({"decisions": "wrong"}, "need a call"),
        ({"answer": "wrong"}, "needs what it should have said, or why"),
        ({"answer": "wrong", "should_say": "**Done.**"}, "needs what it should have said, or why"),
        ({"decisions": "right", "call-1": "not"}, "You said all decisions are right, and marked 1 call."),
        (
            {"answer": "right", "should_say": "No"},
            "You said the answer is right, and what it should have said instead.",
        ),
        ({"call-0": "like", "call-0-match-1": "value", "call-0-value-1": "one", "call-0-match-0": "any"}, "no number"),
        ({"call-0": "like", "call-0-match-0": "any", "call-0-value-0": "B"}, "but left “any value”"),
        ({"missing": "0", "missing-0-match-0": "text"}, "Which tool should have been called?"),
        ({"missing": "0", "missing-0-tool": "x", "missing-0-match-0": "text", "missing-0-value-0": "v"}, "its name"),
        ({"never": "x\ny", "missing": "0", "missing-0-tool": "x"}, "x cannot be both"),
        ({"answer": "right", "why": "w" * 4001}, "longer than 4000"),
        ({"answer": "right", "why": "a\0b"}, "Null characters are not allowed."),
        ({"answer": "right", "corrector_group": "11111111-1111-1111-1111-111111111111"}, "Select a valid choice."),
        ({"answer": "maybe"}, "Select a valid choice."),
    ],
)
def test_refusals_stand_beside_the_form_and_store_nothing(
    reviewer_client: Client, marked_run: Run, said: dict[str, Any], problem: str, htmx: bool
):
    response = save(reviewer_client, marked_run, said, htmx=htmx)

    html = response.content.decode()
    assert response.status_code == 422
    assert response.templates[0].name == f"corrections/{'_run_panel' if htmx else 'run_detail'}.html"
    assert problem in text_of(html)
    assert not Correction.objects.exists()
    assert not RunCopy.objects.exists()


def test_a_refused_form_keeps_everything_typed(reviewer_client: Client, marked_run: Run):
    said = {
        "decisions": "right",
        "call-0": "like",
        "call-0-match-0": "text",
        "call-0-value-0": "<A&18>",
        "call-0-match-1": "any",
        "call-0-value-1": "1",
        "missing": "4",
        "missing-4-at": "1",
        "missing-4-tool": "<tool>",
        "missing-4-name-0": "<name>",
        "missing-4-match-0": "value",
        "missing-4-value-0": "[1,",
        "never": "<never>",
        "answer": "wrong",
        "should_say": "\nleading line",
        "why": "<why>",
        "item-1": "right",
    }

    html = save(reviewer_client, marked_run, said).content.decode()

    for kept in (
        'id="decisions-right" checked',
        'id="call-0-like" checked',
        ">\n&lt;A&amp;18&gt;</textarea>",
        'value="&lt;tool&gt;"',
        'value="&lt;name&gt;"',
        ">\n[1,</textarea>",
        ">&lt;never&gt;</textarea>",
        'id="answer-wrong" checked',
        ">\n\nleading line</textarea>",
        ">\n&lt;why&gt;</textarea>",
        'id="item-1-right" checked',
    ):
        assert kept in html.replace('"\n', '" ').replace("  ", "") or kept in html, kept


def test_groups_one_may_not_speak_for_are_refused(reviewer_client: Client, marked_run: Run):
    seniors = CorrectorGroupFactory(workspace=marked_run.workspace, min_reviewer_role="senior")

    response = save(reviewer_client, marked_run, RIGHT | {"corrector_group": str(seniors.id)})

    assert response.status_code == 422
    assert not Correction.objects.exists()


@pytest.mark.parametrize("htmx", [False, True])
def test_a_viewer_is_refused(client: Client, marked_run: Run, htmx: bool):
    client.force_login(person_with(marked_run.project, Role.VIEWER))

    response = save(client, marked_run, RIGHT, htmx=htmx)

    assert response.status_code == 403
    assert response.templates[0].name == ("_error.html" if htmx else "error.html")
    assert not Correction.objects.exists()


def test_an_unfinished_run_is_refused(reviewer_client: Client, project: Project):
    run = RunFactory(project=project, status="running", content__output=None)

    assert save(reviewer_client, run, RIGHT).status_code == 409
    assert not Correction.objects.exists()


def test_a_run_of_another_workspace_is_not_there(reviewer_client: Client):
    assert save(reviewer_client, RunFactory(), RIGHT).status_code == 404
    assert not Correction.objects.exists()


def test_who_lost_the_session_signs_in_and_comes_back(client: Client, marked_run: Run):
    plain = save(client, marked_run, RIGHT)
    seen = f"http://testserver/runs/{marked_run.run_id}/?subject=a"
    swapped = client.post(f"/runs/{marked_run.run_id}/corrections/", RIGHT, headers=HTMX | {"HX-Current-URL": seen})

    assert plain.status_code == 302
    assert plain["Location"].startswith("/login/")
    assert swapped["HX-Redirect"] == f"/login/?next=%2Fruns%2F{marked_run.run_id}%2F%3Fsubject%3Da"
    assert not Correction.objects.exists()


def test_only_posts_save(reviewer_client: Client, marked_run: Run):
    assert reviewer_client.get(f"/runs/{marked_run.run_id}/corrections/").status_code == 405


def test_forms_from_elsewhere_are_refused(reviewer: Person, marked_run: Run):
    client = Client(enforce_csrf_checks=True)
    client.force_login(reviewer)

    assert save(client, marked_run, RIGHT).status_code == 403
    assert not Correction.objects.exists()


def test_a_run_of_many_calls_carries_forms_only_for_marked_cards(reviewer_client: Client, project: Project):
    calls = JsonText.of([{"toolId": f"tool-{number}", "arguments": {"a": number}} for number in range(60)])
    run = RunFactory(project=project, content__calls=calls)

    before = reviewer_client.get(f"/runs/{run.run_id}/").content.decode()
    asked = save(reviewer_client, run, {"call-7": "like"})
    html = asked.content.decode()
    kept = save(reviewer_client, run, {"call-7": "like", "call-7-match-0": "value", "call-7-value-0": "8"})

    assert "-match-0" not in before
    assert asked.status_code == 422
    assert "tool-7: say what it should have been called with." in text_of(html)
    assert 'name="call-7-match-0"' in html
    assert 'name="call-8-match-0"' not in html
    assert kept.status_code == 302
    assert stored(Correction.objects.get().should_call) == [{"tool": "tool-7", "args": {"a": 8}}]


def test_ones_earlier_correction_can_be_saved_again_as_it_is(
    reviewer_client: Client, reviewer: Person, marked_run: Run
):
    copy = RunCopyFactory(
        project=marked_run.project,
        run_id=marked_run.run_id,
        output=marked_run.content.output,
        calls=marked_run.content.calls,
    )
    should_call = '[{"tool":"find_order","args":{"orderId":"A-19"}},{"tool":"ask","args":{"n":1.0,"t":"x"}}]'
    CorrectionFactory(
        copy=copy,
        decisions="wrong",
        should_call=JsonText(should_call),
        must_not_call=JsonText('["cancel_order","never"]'),
        made_by_kind="user",
        made_by_id=str(reviewer.id),
    )
    form = reviewer_client.get(f"/runs/{marked_run.run_id}/").context["form"]

    assert save(reviewer_client, marked_run, dict(form.said.lists())).status_code == 302

    again = Correction.objects.get(unregistered_at__isnull=True)
    assert again.should_call.text == should_call
    assert again.must_not_call.text == '["cancel_order","never"]'
    assert (again.answer, again.why) == ("wrong", "It is late.")
