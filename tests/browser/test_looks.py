"""Pages can be read by everybody, in both themes, on every screen."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from corrections.models import Run
from corrections.vocabulary import Status
from kindgi_site.exact_json import JsonText
from kindgi_site.workspaces.models import Person, Project
from tests.browser.conftest import OpenTab
from tests.browser.pages import choose, open_every_fold
from tests.factories import CorrectorGroupFactory, RunFactory
from tests.life import correction_in

pytestmark = pytest.mark.browser

GRAVE = ("serious", "critical")


def grave_faults(tab: Page) -> list[str]:
    found = Axe().run(tab).response["violations"]
    return [
        f"{fault['id']}: {node['html'][:200]} {node['failureSummary']}"
        for fault in found
        if fault["impact"] in GRAVE
        for node in fault["nodes"]
    ]


@pytest.fixture
def corrected(refund: Run, open_tab: OpenTab, ana: Person) -> Run:
    """The refund with everything a page can show of a correction: marks, a refused form is one click away."""
    CorrectorGroupFactory(workspace=refund.workspace, name="Experts", min_reviewer_role="standard")
    tab = open_tab(person=ana)
    tab.goto(f"/runs/{refund.run_id}/")
    tab.locator("#gap-1 .gap-add").click()
    tab.locator("#missing-0-tool").fill("offer_exchange")
    choose(tab, "call-1", "like")
    choose(tab, "answer", "wrong")
    tab.locator("#should-say").fill("I have sent another mug.")
    choose(tab, "item-0", "right")
    tab.locator("#save").click()
    tab.locator(".saved").wait_for()
    return refund


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_grave_faults(open_tab: OpenTab, ana: Person, corrected: Run, theme: str, width: int):
    RunFactory(project=corrected.project, status="failed", content__output=None)
    visitor = open_tab(theme=theme, width=width)
    visitor.goto("/login/")
    tab = open_tab(person=ana, theme=theme, width=width)
    faults = grave_faults(visitor)
    for path in ("/runs/", f"/runs/{corrected.run_id}/", "/runs/?subject=nobody", "/nowhere/"):
        tab.goto(path)
        faults += grave_faults(tab)

    assert faults == []


def test_no_grave_faults_in_a_refused_form(open_tab: OpenTab, ana: Person, refund: Run):
    tab = open_tab(person=ana)
    tab.goto(f"/runs/{refund.run_id}/")
    tab.locator("#gap-0 .gap-add").click()
    tab.locator("#missing-0").wait_for()
    choose(tab, "call-1", "like")
    tab.locator("#call-1-match-1").select_option("value")
    tab.locator("#call-1-value-1").fill("twelve")
    tab.locator("#save").click()
    tab.locator("#card-2 .field-problem").wait_for()

    assert grave_faults(tab) == []


@pytest.mark.parametrize("width", [320, 390, 768, 901, 1200, 2400])
def test_nothing_is_wider_than_the_screen(open_tab: OpenTab, ana: Person, corrected: Run, width: int):
    long = "unbroken" * 40
    wide = RunFactory(
        project=corrected.project,
        subject_id=long[:200],
        segments=JsonText.of([{"key": long, "value": long}]),
        content__input=JsonText.of({"message": long, long: long}),
        content__output=JsonText.of(
            {"content": f"{long}\n\n```\n{long}\n```\n\n|a|b|\n|-|-|\n|{long}|{long}|", "x": [{"id": long}]}
        ),
        content__calls=JsonText.of([{"toolId": long[:200], "arguments": {long: long}, "result": {long: [long]}}]),
    )
    tab = open_tab(person=ana, width=width)
    for path in ("/runs/", f"/runs/{corrected.run_id}/", f"/runs/{wide.run_id}/", "/login/"):
        tab.goto(path)
        open_every_fold(tab)
        assert tab.evaluate("document.documentElement.scrollWidth") <= width, path


@pytest.mark.parametrize("width", [1280, 390])
def test_a_page_ends_where_its_words_end(open_tab: OpenTab, ana: Person, project: Project, width: int):
    for _number in range(30):
        correction_in(project, Status.WITH_OWNER, subject_id="orders.support")
    tab = open_tab(person=ana, width=width)

    tab.goto(f"/agents/{project.id}/orders.support/")

    assert tab.locator(".mistake").count() == 30
    end = tab.locator("#main").evaluate("main => Math.ceil(main.getBoundingClientRect().bottom + scrollY)")
    assert tab.evaluate("document.documentElement.scrollHeight") <= end


@pytest.mark.parametrize("width", [1280, 390])
def test_the_mark_of_a_difference_stands_beside_a_long_value(
    open_tab: OpenTab, ana: Person, project: Project, width: int
):
    wanted = [{"tool": "book", "args": {"flights": [{"number": f"HAT{number}"} for number in range(40)]}}]
    correction_in(project, Status.WITH_OWNER, answer="", decisions="wrong", should_call=JsonText.of(wanted))
    tab = open_tab(person=ana, width=width)

    tab.goto("/corrections/")

    mark = tab.locator(".differs-mark").bounding_box()
    fold = tab.locator(".compare-wanted .value-fold").bounding_box()
    assert mark is not None
    assert fold is not None
    assert (abs(mark["y"] - fold["y"]) < 8, mark["x"] < fold["x"]) == (True, True)
    assert tab.evaluate("document.documentElement.scrollWidth") <= width


def test_what_is_chosen_and_where_the_keyboard_is_can_be_seen(open_tab: OpenTab, ana: Person, refund: Run):
    tab = open_tab(person=ana)
    tab.goto(f"/runs/{refund.run_id}/")

    tab.locator("#decisions-none").focus()
    tab.keyboard.press("ArrowRight")

    outline = tab.locator("#decisions-right + span").evaluate("element => getComputedStyle(element).outlineStyle")
    assert outline == "solid"
    assert tab.locator("#decisions-right").is_checked()


def test_the_verdict_is_in_reach_on_a_small_screen(open_tab: OpenTab, ana: Person, refund: Run):
    tab = open_tab(person=ana, width=390, height=700)
    tab.goto(f"/runs/{refund.run_id}/")

    bar = tab.locator(".verdict-bar").bounding_box()
    assert bar is not None
    assert bar["y"] + bar["height"] == 700
    choose(tab, "answer", "right")
    tab.locator(".verdict-brief", has_text="answer").wait_for()
    tab.locator(".verdict-bar").get_by_role("button", name="Save").click()
    tab.locator(".saved").wait_for()
