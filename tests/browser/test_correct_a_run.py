"""A reviewer signs in, finds a run, says what was wrong with it, and sees that it was kept."""

import json

import pytest
from playwright.sync_api import expect

from corrections.models import Correction, Run, RunCopy
from corrections.vocabulary import Status
from kindgi_site.exact_json import JsonText
from kindgi_site.workspaces.models import Person
from tests.browser.conftest import OpenTab
from tests.browser.pages import SAID, choose, sign_in
from tests.factories import RunFactory

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("scripts", [True, False], ids=["with-scripts", "without-scripts"])
def test_reviewer_corrects_a_run(open_tab: OpenTab, ana: Person, refund: Run, scripts: bool):
    RunFactory(project=refund.project, subject_id="claims.intake")
    tab = open_tab(scripts=scripts)

    sign_in(tab, "ana")
    tab.get_by_label("Agent or flow").fill("orders.support")
    tab.get_by_role("button", name="Filter").click()
    expect(tab.locator(".run-row")).to_have_count(1)
    tab.get_by_role("link", name=SAID).click()

    expect(tab.locator(".card")).to_have_count(2)
    choose(tab, "decisions", "wrong")
    tab.locator("#gap-1 .gap-add").click()
    tab.get_by_role("combobox", name="Tool").fill("offer_exchange")
    tab.get_by_label("Argument", exact=True).fill("orderId")
    tab.locator("#missing-0-value-0").fill("HW-48213")
    choose(tab, "call-1", "not")
    choose(tab, "answer", "right")
    choose(tab, "item-0", "right")
    choose(tab, "item-1", "wrong")
    tab.locator("#save").click()

    expect(tab.locator(".saved")).to_contain_text("Saved")
    expect(tab.locator("#history .said")).to_have_count(1)
    expect(tab.locator("#history .said-sentence").first).to_have_text(
        "A run passes when it calls offer_exchange with orderId = HW-48213, and never refund_order."
    )
    expect(tab.locator(".run-facts")).to_contain_text("Stored copy of just now")
    made = Correction.objects.get()
    assert (made.decisions, made.answer, made.status) == ("wrong", "right", Status.WITH_OWNER)
    assert json.loads(made.should_call.text) == [{"tool": "offer_exchange", "args": {"orderId": "HW-48213"}}]
    assert json.loads(made.must_not_call.text) == ["refund_order"]
    assert json.loads(made.items.text) == [
        {"key": "returns", "pointer": "/sources/0", "rank": 0, "verdict": "right"},
        {"key": "gifts", "pointer": "/sources/1", "rank": 1, "verdict": "wrong"},
    ]
    assert (made.made_by_kind, made.made_by_id) == ("user", str(ana.id))
    assert RunCopy.objects.get().run_id == refund.run_id


@pytest.mark.parametrize("scripts", [True, False], ids=["with-scripts", "without-scripts"])
def test_what_was_typed_survives_a_refused_save(open_tab: OpenTab, ana: Person, refund: Run, scripts: bool):
    tab = open_tab(person=ana, scripts=scripts)
    tab.goto(f"/runs/{refund.run_id}/")

    choose(tab, "call-1", "like")
    tab.locator("#call-1-match-1").select_option("value")
    tab.locator("#call-1-value-1").fill("twelve")
    tab.locator("#why").fill("It was <b>agreed</b> differently.")
    tab.locator("#save").click()

    expect(tab.locator("#card-2 .field-problem")).to_contain_text("“twelve” is no number")
    expect(tab.locator("#call-1-value-1")).to_have_value("twelve")
    expect(tab.locator("#why")).to_have_value("It was <b>agreed</b> differently.")
    expect(tab.locator("#call-1-like")).to_be_checked()
    assert not Correction.objects.exists()


def test_the_sentence_follows_along_while_one_marks(open_tab: OpenTab, ana: Person, refund: Run):
    tab = open_tab(person=ana)
    tab.goto(f"/runs/{refund.run_id}/")
    tab.locator("#why").fill("still here")

    choose(tab, "call-1", "not")

    expect(tab.locator("#verdict")).to_contain_text("A run passes when it never calls refund_order.")
    expect(tab.locator("#verdict")).to_contain_text("Your marks on calls say that the decisions were wrong.")
    expect(tab.locator("#why")).to_have_value("still here")
    assert not Correction.objects.exists()


def test_a_typed_value_is_no_longer_any_value(open_tab: OpenTab, ana: Person, refund: Run):
    tab = open_tab(person=ana)
    tab.goto(f"/runs/{refund.run_id}/")
    choose(tab, "call-1", "like")
    tab.locator("#call-1-match-1").select_option("any")

    tab.locator("#call-1-value-1").fill("5")

    expect(tab.locator("#call-1-match-1")).to_have_value("value")
    expect(tab.locator("#verdict")).to_contain_text("refund_order with orderId = HW-48213 and amount = 5")


def test_control_and_enter_saves(open_tab: OpenTab, ana: Person, refund: Run):
    tab = open_tab(person=ana)
    tab.goto(f"/runs/{refund.run_id}/")
    choose(tab, "answer", "right")

    tab.locator("#why").press("Control+Enter")

    expect(tab.locator(".saved")).to_contain_text("Saved")
    assert Correction.objects.get().answer == "right"


def test_what_changed_since_the_last_save_is_not_called_saved(open_tab: OpenTab, ana: Person, refund: Run):
    tab = open_tab(person=ana)
    tab.goto(f"/runs/{refund.run_id}/")
    choose(tab, "answer", "right")
    tab.locator("#save").click()
    expect(tab.locator("#saved-note")).to_contain_text("Saved")
    expect(tab.get_by_role("status")).to_have_text("Saved.")

    choose(tab, "decisions", "right")

    expect(tab.locator("#saved-note")).to_contain_text("Not saved yet. Last saved")
    assert Correction.objects.get().decisions == ""


def test_enter_in_a_field_saves_nothing(open_tab: OpenTab, ana: Person, refund: Run):
    tab = open_tab(person=ana)
    tab.goto(f"/runs/{refund.run_id}/")
    choose(tab, "answer", "right")
    tab.locator("#gap-0 .gap-add").click()

    with tab.expect_response("**/check/"):
        tab.locator("#missing-0-tool").press("Enter")

    expect(tab.locator(".missing")).to_have_count(1)
    assert not Correction.objects.exists()


@pytest.mark.parametrize("scripts", [True, False], ids=["with-scripts", "without-scripts"])
def test_a_long_result_comes_when_it_is_opened(open_tab: OpenTab, ana: Person, refund: Run, scripts: bool):
    rows = [{"sku": f"mug-{number}", "left": number} for number in range(200)]
    run = RunFactory(
        project=refund.project, content__calls=JsonText.of([{"toolId": "stock", "arguments": {}, "result": rows}])
    )
    tab = open_tab(person=ana, scripts=scripts)
    tab.goto(f"/runs/{run.run_id}/")

    tab.locator("#card-1 .result > summary").click()
    if not scripts:
        tab.get_by_role("link", name="Open the result").click()

    expect(tab.locator(".tree-text", has_text="mug-7").first).to_be_attached()
