"""Nothing typed is lost, nothing jumps, and the keyboard stays where the hands are."""

import pytest
from playwright.sync_api import Dialog, Page, Route, expect

from corrections.models import Correction, CorrectorGroup, Run
from corrections.vocabulary import Status
from kindgi_site.callers import Role
from kindgi_site.exact_json import JsonText
from kindgi_site.workspaces.models import Person, Project
from tests.browser.conftest import OpenTab
from tests.browser.pages import choose
from tests.factories import RunFactory, person_with
from tests.life import correction_in

pytestmark = pytest.mark.browser

MANY = 400  # calls of one run, the most that the pages are made for
SLOW = 600  # milliseconds an answer takes on a bad day


def focused(tab: Page) -> str:
    return str(tab.evaluate("document.activeElement.id || document.activeElement.tagName"))


@pytest.fixture
def marked(open_tab: OpenTab, ana: Person, refund: Run) -> Page:
    """A run with a reason typed, not saved."""
    tab = open_tab(person=ana)
    tab.goto(f"/runs/{refund.run_id}/")
    choose(tab, "answer", "right")
    tab.locator("#why").fill("It was the mug.")
    tab.locator(".verdict-card", has_text="Its answer may stay as it is.").wait_for()
    return tab


def test_marking_one_of_many_calls_leaves_the_page_where_it_is(open_tab: OpenTab, ana: Person, project: Project):
    calls = [{"toolId": "find_order", "arguments": {"orderId": f"HW-{n}"}, "result": {"n": n}} for n in range(MANY)]
    run = RunFactory(project=project, content__calls=JsonText.of(calls))
    tab = open_tab(person=ana)
    tab.goto(f"/runs/{run.run_id}/")
    mark = tab.locator("label:has(#call-11-like)")
    mark.scroll_into_view_if_needed()
    before = tab.evaluate("scrollY")

    mark.click()
    tab.locator("#card-12 .editor").wait_for()

    assert tab.evaluate("scrollY") == before
    assert focused(tab) == "call-11-like"


def test_a_server_out_of_reach_is_told_and_what_was_typed_stays(marked: Page):
    marked.context.set_offline(True)
    marked.locator("#save").click()
    expect(marked.locator("#messages")).to_contain_text("The server cannot be reached, so nothing was saved.")
    expect(marked.locator("#why")).to_have_value("It was the mug.")
    assert not Correction.objects.exists()

    marked.context.set_offline(False)
    marked.locator("#save").click()
    marked.locator(".saved").wait_for()

    expect(marked.locator(".server-away")).to_have_count(0)
    assert Correction.objects.get().why == "It was the mug."


def test_a_refusal_is_seen_however_far_down_the_page_it_was_asked_for(marked: Page):
    marked.set_viewport_size({"width": 1280, "height": 500})
    marked.evaluate("scrollTo(0, document.body.scrollHeight)")
    marked.context.clear_cookies(name="csrftoken")
    marked.locator("#save").click()

    expect(marked.locator("#messages .problem")).to_be_in_viewport()
    expect(marked.locator("#why")).to_have_value("It was the mug.")


def test_leaving_with_marks_that_are_not_saved_is_asked_about(marked: Page):
    asked: list[str] = []

    def answer(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.accept()

    marked.on("dialog", answer)
    marked.locator("#save").click()
    marked.locator(".saved").wait_for()
    marked.reload()
    assert asked == []

    marked.locator("#why").press_sequentially("More.")
    marked.reload()
    assert asked == ["beforeunload"]


def test_the_keyboard_stays_on_save_and_goes_to_what_is_refused(marked: Page):
    marked.locator("#save").press("Enter")
    marked.locator(".saved").wait_for()
    expect(marked.locator("#save")).to_be_focused()

    marked.locator("#gap-0 .gap-add").press("Enter")
    expect(marked.locator("#missing-0-tool")).to_be_focused()
    marked.locator("#save").press("Enter")
    expect(marked.locator("#verdict .problem")).to_be_focused()


def test_the_keyboard_goes_on_where_an_owner_decided(open_tab: OpenTab, project: Project):
    correction = correction_in(project, Status.WITH_OWNER)
    tab = open_tab(person=person_with(project, Role.ADMIN))
    tab.goto(f"/corrections/{correction.id}/")

    tab.get_by_role("button", name="Won’t fix").press("Enter")

    expect(tab.get_by_role("heading", name="What next")).to_be_focused()


def test_turning_a_page_leads_the_keyboard_to_its_rows(open_tab: OpenTab, ana: Person, project: Project):
    RunFactory.create_batch(60, project=project)
    tab = open_tab(person=ana)
    tab.goto("/runs/")
    tab.get_by_role("link", name="Older").press("Enter")
    tab.wait_for_url("**before=*")
    expect(tab.locator("#run-table")).to_be_focused()

    tab.locator("#id_text").press_sequentially("no")
    tab.wait_for_url("**text=no*")
    assert focused(tab) == "id_text"


def test_a_form_on_its_way_is_not_sent_again(open_tab: OpenTab, project: Project):
    sent: list[str] = []
    tab = open_tab(person=person_with(project, None, is_admin=True))
    tab.goto("/groups/new/")

    def slowly(route: Route) -> None:
        if route.request.method == "POST":
            sent.append(route.request.url)
            tab.wait_for_timeout(SLOW)
        route.continue_()

    tab.route("**/groups/new/", slowly)
    tab.get_by_label("Name", exact=True).fill("Experts")
    tab.evaluate(
        "const make = document.querySelector('#group-form .primary');make.click(); setTimeout(() => make.click(), 200)"
    )

    tab.get_by_text("The group “Experts” is there.").wait_for()
    assert len(sent) == 1
    assert CorrectorGroup.objects.count() == 1
