"""A run's page."""

import re
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from corrections.models import Run, RunContent
from kindgi_site import clock
from kindgi_site.callers import Caller, Role
from kindgi_site.exact_json import JsonText
from kindgi_site.workspaces.models import Person, Project
from tests.factories import (
    CorrectionFactory,
    CorrectorGroupFactory,
    FlowRunFactory,
    ProjectFactory,
    RunCopyFactory,
    RunFactory,
    RunToolFactory,
    person_with,
)
from tests.pages.conftest import HTMX, VARY, root_of, text_of


def page_of(client: Client, run: Run, query: str = "") -> str:
    response = client.get(f"/runs/{run.run_id}/{query}")
    assert response.status_code == 200
    return response.content.decode()


def test_page_and_fragment(reviewer_client: Client, run: Run):
    page = reviewer_client.get(f"/runs/{run.run_id}/")
    fragment = reviewer_client.get(f"/runs/{run.run_id}/", headers=HTMX)

    assert page.templates[0].name == "corrections/run_detail.html"
    assert fragment.templates[0].name == "corrections/_run_panel.html"
    assert root_of(fragment.content.decode()) == "run-panel"
    assert set(page["Vary"].split(", ")) >= VARY


def test_an_agents_turn_can_be_read_without_knowing_json(reviewer_client: Client, marked_run: Run):
    html = page_of(reviewer_client, marked_run)
    text = text_of(html)

    assert "support 1.2.0" in text
    assert "Came in Cancel it please" in text
    assert 'Call 1: find_order orderId A-17 limit 1 Result {"found": true}' in text
    assert "Call 2: cancel_order orderId A-17 ✗ Failed: not allowed" in text
    assert "<strong>Done.</strong>" in html
    assert "Ranked list hits, 2 items" in text
    assert "Nobody has corrected this run yet." in text


def test_conversation_is_speech_with_long_history_folded(reviewer_client: Client, project: Project):
    history = [{"role": "system", "content": "Be kind."}]
    history += [{"role": "user", "content": f"say-{number}"} for number in range(9)]
    history += [
        {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "lookup"}}]},
        {"role": "tool", "name": "lookup", "content": "42"},
        {"role": "assistant", "content": "It is *42*."},
    ]
    run = RunFactory(project=project, content__context=JsonText.of({"history": history}))

    html = page_of(reviewer_client, run)

    assert "4 earlier messages" in text_of(html)
    assert (
        html.index("Be kind.")
        < html.index("say-8")
        < html.index("It is <em>42</em>.")
        < html.index("Where is my order?")
    )
    assert "lookup 42" in text_of(html)


def test_a_turn_whose_messages_carry_its_calls(reviewer_client: Client, project: Project):
    run = RunFactory(
        project=project,
        content__calls=None,
        content__output=JsonText.of(
            {
                "appended": [
                    {
                        "role": "agent",
                        "content": {"toolCalls": [{"id": "1", "toolId": "look", "arguments": {"at": 3}}]},
                    },
                    {"role": "tool", "toolCall": {"invocationId": "1", "toolId": "look"}, "content": "seen"},
                    {"role": "agent", "content": "There."},
                ]
            }
        ),
    )

    text = text_of(page_of(reviewer_client, run))

    assert "Call 1: look at 3 Result seen" in text
    assert "There." in text


def test_a_flows_calls_stand_in_its_context(reviewer_client: Client, project: Project):
    run = FlowRunFactory(project=project, content__output=JsonText.of({"matches": [{"id": "doc-1", "score": 0.50}]}))

    text = text_of(page_of(reviewer_client, run))

    assert "Call 1: find_order order 7" in text
    assert "doc-1 score 0.5" in text


def test_a_flows_steps_are_listed(reviewer_client: Client, project: Project):
    steps = [{"agentId": "writer", "agentVersion": "3.1.0", "nodeId": "draft", "retrieved": ["doc"]}, "odd", {}]
    run = FlowRunFactory(project=project, content__context=JsonText.of({"flow": {"calls": [], "steps": steps}}))

    assert "Steps writer 3.1.0 draft Documents it had list of 1 0 doc" in text_of(page_of(reviewer_client, run))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"content__calls": None}, "Which tools this run called is not recorded."),
        ({"content__calls": JsonText("[]")}, "It called no tool."),
        ({"content__calls": JsonText('[{"toolId": "x"}]')}, "No arguments Result not recorded"),
        ({"content__calls": JsonText('[{"toolId": "x", "arguments": [1]}]')}, "[1] Result not recorded"),
        ({"content__input": JsonText("[1, 2]")}, "list of 2"),
        ({"content__output": JsonText('"just text"')}, "just text"),
        ({"content__output": JsonText("12.50")}, "Value 12.50"),
    ],
)
def test_odd_shapes_are_shown_as_they_are(reviewer_client: Client, project: Project, given: dict, words: str):
    assert words in text_of(page_of(reviewer_client, RunFactory(project=project, **given)))


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"status": "failed", "content__output": None}, "this one ended without an answer"),
        ({"status": "running", "content__output": None}, "This run has not finished."),
        ({"erased_at": clock.now(), "content__output": None, "content__input": None}, "was erased for good"),
        ({"purged_at": clock.now(), "content": None}, "was dropped for its age"),
    ],
)
def test_runs_that_cannot_be_corrected_say_why(reviewer_client: Client, project: Project, given: dict, reason: str):
    html = page_of(reviewer_client, RunFactory(project=project, **given))

    assert reason in text_of(html)
    assert 'id="correction-form"' not in html
    assert 'type="radio"' not in html


def test_what_is_gone_is_not_said_to_have_never_been(reviewer_client: Client, project: Project):
    now = clock.now()
    gone = RunFactory(project=project, erased_at=now, content__output=None, content__input=None)
    RunCopyFactory(project=project, run_id=gone.run_id, input=None, output=None, calls=None, erased_at=now)
    failed = RunFactory(project=project, status="failed", content__output=None)
    erased_page, failed_page = (text_of(page_of(reviewer_client, run)) for run in (gone, failed))

    said = ("What it called is no longer kept.", "What it answered is no longer kept.", "erased just now")
    assert [words in erased_page for words in said] == [True, True, True]
    assert ("Stored copy of" in erased_page, "There is no answer." in erased_page) == (False, False)
    assert ("no longer kept" in failed_page, "There is no answer." in failed_page) == (False, True)


def test_tabs_of_two_runs_can_be_told_apart(reviewer_client: Client, project: Project):
    titles = {
        re.findall("<title>(.*?)</title>", page_of(reviewer_client, RunFactory(project=project)))[0] for _ in "ab"
    }

    assert len(titles) == 2
    assert all(title.startswith("support 1.2.0 · ") for title in titles)


def test_a_failure_is_told(reviewer_client: Client, project: Project):
    run = RunFactory(project=project, status="failed", content__output=None, content__failure_message="Out of <memory>")

    assert "Out of <memory>" in text_of(page_of(reviewer_client, run))


def test_a_viewer_reads_and_is_told_that_it_takes_an_editor(client: Client, run: Run):
    client.force_login(person_with(run.project, Role.VIEWER))

    html = page_of(client, run)

    assert "that takes an editor" in text_of(html)
    assert 'id="correction-form"' not in html


def test_a_corrected_run_shows_its_copy(reviewer_client: Client, run: Run):
    RunCopyFactory(project=run.project, run_id=run.run_id, input=JsonText.of({"message": "As it was then"}))

    text = text_of(page_of(reviewer_client, run))

    assert "Stored copy of just now, kept with the first correction" in text
    assert "As it was then" in text
    assert "Where is my order?" not in text


def test_a_copy_outlives_its_run(reviewer_client: Client, project: Project, run: Run):
    copy = RunCopyFactory(project=project, run_id=run.run_id)
    CorrectionFactory(copy=copy, why="Late.")
    RunContent.objects.all().delete()
    purged = page_of(reviewer_client, run)
    run.delete()

    text = text_of(page_of(reviewer_client, run))

    assert "Where is my order?" in purged
    assert 'id="correction-form"' in purged
    assert "Where is my order?" in text
    assert "The run itself is gone" in text
    assert "Late." in text


def test_history_shows_who_said_what_and_what_became_of_it(
    reviewer_client: Client, reviewer: Person, project: Project, run: Run
):
    copy = RunCopyFactory(project=project, run_id=run.run_id)
    experts = CorrectorGroupFactory(workspace=project.workspace, name="Experts", min_reviewer_role="senior")
    mine = CorrectionFactory(
        copy=copy,
        decisions="wrong",
        must_not_call=JsonText.of(["find_order"]),
        made_by_kind="user",
        made_by_id=str(reviewer.id),
    )
    CorrectionFactory(copy=copy, group=experts, expert=True, should_say="On Monday.")
    CorrectionFactory(copy=copy, removed=True, superseded_by=mine, why="Before")
    CorrectionFactory(copy=copy, removed=True, why="Taken back")

    text = text_of(page_of(reviewer_client, run))

    assert f"{reviewer.username} you" in text
    assert "A run passes when it never calls find_order." in text
    assert "A program Experts expert" in text
    assert "Its answer should say “On Monday.”" in text
    assert "Before Replaced by a later one" in text
    assert "Taken back Removed" in text


def test_ones_own_correction_opens_in_the_form(reviewer_client: Client, reviewer: Person, project: Project, run: Run):
    copy = RunCopyFactory(project=project, run_id=run.run_id)
    CorrectionFactory(
        copy=copy,
        decisions="wrong",
        should_call=JsonText('[{"tool":"find_order","args":{"order":8.0}},{"tool":"ask","args":{"what":"size"}}]'),
        must_not_call=JsonText.of(["other"]),
        answer="wrong",
        why="Because.",
        items=JsonText.of([{"key": "faq-1", "verdict": "wrong"}, {"key": "gone", "verdict": "right"}]),
        made_by_kind="user",
        made_by_id=str(reviewer.id),
    )

    response = reviewer_client.get(f"/runs/{run.run_id}/")

    form = response.context["form"]
    assert form.decisions_said == form.answer_said == "wrong"
    assert form.marks.cards[0].choice == "like"
    assert [(row.name, row.match, row.value) for row in form.marks.cards[0].editor.rows] == [("order", "value", "8.0")]
    [missing] = form.marks.missing
    assert missing.editor.tool == "ask"
    assert [(row.name, row.match, row.value) for row in missing.editor.rows] == [("what", "text", "size")]
    assert form.marks.never == ["other"]
    assert [item.verdict for item in form.items] == ["wrong", ""]
    assert "It also marked 1 item that is not in this list" in text_of(response.content.decode())
    assert "Saving again replaces what you said before." in text_of(response.content.decode())


def test_ones_own_correction_opens_however_many_came_after_it(
    reviewer_client: Client, reviewer: Person, project: Project, run: Run
):
    copy = RunCopyFactory(project=project, run_id=run.run_id)
    CorrectionFactory(copy=copy, made_by_kind="user", made_by_id=str(reviewer.id), why="Mine.")
    CorrectionFactory(copy=copy, made_by_kind="user", made_by_id=str(reviewer.id), participant_id="p", why="Theirs.")
    CorrectionFactory.create_batch(100, copy=copy)

    response = reviewer_client.get(f"/runs/{run.run_id}/")

    assert response.context["form"].why_text == "Mine."
    assert len(response.context["history"]) == 100
    assert "These are the newest 100." in text_of(response.content.decode())


def test_only_groups_one_may_speak_for_are_offered(reviewer_client: Client, run: Run):
    CorrectorGroupFactory(workspace=run.workspace, name="Everybody")
    CorrectorGroupFactory(workspace=run.workspace, name="Testers", min_reviewer_role="standard")
    CorrectorGroupFactory(workspace=run.workspace, name="Seniors", min_reviewer_role="senior")
    CorrectorGroupFactory(workspace=run.workspace, name="Gone", unregistered_at=clock.now())
    CorrectorGroupFactory(name="Elsewhere")

    text = text_of(page_of(reviewer_client, run))

    assert "Everybody Testers (expert)" in text
    assert not any(name in text for name in ("Seniors", "Gone", "Elsewhere"))


def test_next_and_previous_stay_inside_the_filter(reviewer_client: Client, project: Project):
    older, _other, run, newer = (
        RunFactory(project=project, subject_id=subject) for subject in ("support", "claims", "support", "support")
    )

    inside = reviewer_client.get(f"/runs/{run.run_id}/?subject=support&junk=1")

    assert inside.context["older"] == older
    assert inside.context["newer"] == newer
    html = inside.content.decode()
    assert f'href="/runs/{older.run_id}/?subject=support"' in html
    assert 'href="/runs/?subject=support"' in html
    assert f'action="/runs/{run.run_id}/corrections/?subject=support"' in html


def test_unknown_runs_and_runs_of_others_are_not_there(reviewer_client: Client, run: Run):
    elsewhere = RunFactory()
    alone = RunCopyFactory()

    for run_id in (uuid4(), elsewhere.run_id, alone.run_id):
        page = reviewer_client.get(f"/runs/{run_id}/")
        fragment = reviewer_client.get(f"/runs/{run_id}/", headers=HTMX)
        assert (page.status_code, fragment.status_code) == (404, 404)
        assert page.templates[0].name == "error.html"
        assert fragment.templates[0].name == "_error.html"
        assert "There is no such run." in page.content.decode()


def test_a_run_of_a_project_one_may_not_read_is_refused(reviewer_client: Client, workspace: object):
    run = RunFactory(project=ProjectFactory(workspace=workspace))

    page = reviewer_client.get(f"/runs/{run.run_id}/")

    assert page.status_code == 403
    assert "Where is my order?" not in page.content.decode()


def test_hostile_content_stays_text(reviewer_client: Client, project: Project):
    evil = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    value = {evil: evil, "list": [{evil: [evil]}]}
    run = RunFactory(
        project=project,
        subject_id=evil,
        segments=JsonText.of([{"key": evil, "value": evil}]),
        content__input=JsonText.of({"message": evil, "more": value}),
        content__output=JsonText.of(
            {"content": evil + " ![x](https://evil.example/x.png)", "hits": [value | {"id": evil}]}
        ),
        content__calls=JsonText.of([{"toolId": evil, "arguments": value, "result": value, "error": evil}]),
        content__context=JsonText.of(
            {
                "history": [{"role": role, "content": evil} for role in ("system", "user", "assistant", "tool", evil)],
                "toolEnv": {evil: {evil: evil}},
            }
        ),
    )
    html = page_of(reviewer_client, run)

    assert "<script>alert" not in html
    assert "<img" not in html
    assert "evil.example" not in html.replace("![x](https://evil.example/x.png)", "")
    assert " style=" not in html
    assert "onerror=alert(1)&gt;" in html


def test_what_cannot_be_encoded_is_shown_by_a_sign(reviewer_client: Client, project: Project):
    run = RunFactory(project=project, content__input=JsonText('{"message": "a\\ud800b\\u0000c", "\\udfff": "\\ud800"}'))

    assert "a\ufffdb␀c" in page_of(reviewer_client, run)


def test_large_values_are_links(reviewer_client: Client, project: Project):
    run = RunFactory(
        project=project,
        content__calls=JsonText.of([{"toolId": "dump", "arguments": {"q": "x"}, "result": {"blob": "z" * 30_000}}]),
    )

    html = page_of(reviewer_client, run)

    assert "z" * 1000 not in html
    assert f'hx-get="/runs/{run.run_id}/parts/call-1/"' in html
    assert f'<a href="/runs/{run.run_id}/parts/call-1/">Open the result</a>' in html


@pytest.mark.parametrize("run_has_copy", [False, True])
def test_number_of_statements_does_not_grow(
    reviewer_client: Client, project: Project, caller: Caller, run_has_copy: bool
):
    calls = JsonText.of([{"toolId": f"tool-{number}", "arguments": {"a": number}} for number in range(300)])
    counts = []
    for many in (1, 300):
        run = RunFactory(project=project, content__calls=calls if many > 1 else JsonText("[]"))
        RunToolFactory(run=run)
        if run_has_copy:
            copy = RunCopyFactory(project=project, run_id=run.run_id, calls=calls if many > 1 else None)
            for _ in range(many):
                CorrectionFactory(copy=copy)
        with CaptureQueriesContext(connection) as statements:
            reviewer_client.get(f"/runs/{run.run_id}/?subject=support")
        counts.append(len(statements))

    assert counts[0] == counts[1]
    assert counts[0] == 14
