"""An owner works through what waits for a decision."""

import re

import pytest
from playwright.sync_api import Page, expect

from corrections.models import Correction
from corrections.vocabulary import SortedTo, Status
from kindgi_site.callers import Role
from kindgi_site.exact_json import JsonText
from kindgi_site.workspaces.models import Person, Project
from tests.browser.conftest import OpenTab
from tests.browser.pages import CALLS, OUTPUT, PASSWORD, sign_in
from tests.browser.test_looks import grave_faults
from tests.factories import RunCopyFactory, person_with
from tests.life import ADDRESS, correction_in

pytestmark = pytest.mark.browser

BOTH = pytest.mark.parametrize("scripts", [True, False], ids=["with-scripts", "without-scripts"])


@pytest.fixture
def olga(project: Project) -> Person:
    """Who decides for the project's agents."""
    person = person_with(project, Role.ADMIN)
    person.set_password(PASSWORD)
    person.username = "olga"
    person.save()
    return person


def wrong_refund(project: Project, why: str, **more: object) -> Correction:
    """Ten were refunded where twelve were promised, and an exchange was never offered."""
    copy = RunCopyFactory(
        project=project, subject_id="orders.support", calls=JsonText.of(CALLS), output=JsonText.of(OUTPUT)
    )
    wanted = [
        {"tool": "refund_order", "args": {"orderId": "HW-48213", "amount": 12}},
        {"tool": "offer_exchange", "args": {"orderId": "HW-48213"}},
    ]
    return correction_in(
        project,
        Status.WITH_OWNER,
        copy=copy,
        decisions="wrong",
        answer="wrong",
        should_say="I have sent another mug.",
        should_call=JsonText.of(wanted),
        must_not_call=JsonText.of(["find_order"]),
        why=why,
        **more,
    )


@pytest.fixture
def waiting(project: Project) -> list[Correction]:
    return [wrong_refund(project, f"Reason {number}.", expert=number == 1) for number in (1, 2, 3)]


def open_desk(tab: Page) -> None:
    """What waits for the owner of one agent."""
    tab.get_by_role("link", name="Corrections").click()
    expect(tab.get_by_role("link", name="With owner")).to_have_attribute("aria-current", "page")
    tab.get_by_label("Agent or flow").fill("orders.support")
    tab.get_by_role("button", name="Filter").click()


def tick(tab: Page, correction: Correction) -> None:
    tab.locator(f"#correction-{correction.id} input[type=checkbox]").check()


@BOTH
def test_owner_decides(open_tab: OpenTab, olga: Person, project: Project, waiting: list[Correction], scripts: bool):
    first, second, third = waiting
    correction_in(project, Status.WITH_OWNER, subject_id="claims.intake")
    tab = open_tab(scripts=scripts)
    sign_in(tab, "olga")
    open_desk(tab)
    expect(tab.locator(".desk-row")).to_have_count(3)

    # Reads one, and links the pull request that fixes it.
    tab.locator(f"#correction-{first.id} .desk-link").click()
    expect(tab.locator(".differs").first).to_contain_text("amount")
    tab.get_by_label("Address or id").fill(ADDRESS)
    tab.get_by_role("button", name="Link what fixes it").click()
    expect(tab.locator(".life")).to_have_text(re.compile("Being fixed"))
    expect(tab.locator("#history .said").first).to_contain_text("linked what fixes it")

    # Decides against another, with a note.
    tab.goto("/corrections/?subject=orders.support")
    expect(tab.locator(".desk-row")).to_have_count(2)
    tick(tab, second)
    tab.get_by_label("Note").fill("As the terms say.")
    tab.get_by_role("button", name="Won’t fix").click()
    expect(tab.locator(".desk-row")).to_have_count(1)
    expect(tab.locator("main, #messages").get_by_text("1 correction: won’t be fixed.").first).to_be_visible()

    # Sorts the third to Improve.
    tick(tab, third)
    tab.get_by_role("button", name="To Improve").click()
    expect(tab.get_by_text("No correction at this desk matches these filters.")).to_be_visible()
    tab.get_by_role("link", name="Improve").click()
    expect(tab.locator(f"#correction-{third.id}")).to_be_visible()

    found = {one.id: one for one in Correction.objects.all()}
    assert (found[first.id].status, found[first.id].link_target) == (Status.BEING_FIXED, ADDRESS)
    assert (found[second.id].status, found[second.id].note_text) == (Status.WONT_FIX, "As the terms say.")
    assert (found[third.id].status, found[third.id].sorted_to) == (Status.OPEN, SortedTo.IMPROVE)
    assert sum(one.events.count() for one in found.values()) == 3


@BOTH
def test_enter_in_a_field_does_nothing(open_tab: OpenTab, olga: Person, waiting: list[Correction], scripts: bool):
    first, second, third = waiting
    tab = open_tab(person=olga, scripts=scripts)
    tab.goto(f"/corrections/{first.id}/")
    tab.get_by_label("Address or id").fill(ADDRESS)
    tab.get_by_label("Address or id").press("Enter")
    tab.get_by_role("button", name="Won’t fix").click()
    expect(tab.locator(".life")).to_have_text(re.compile("Won’t fix"))
    tab.goto("/corrections/")
    tick(tab, second)
    tab.get_by_label("Address or id").fill(ADDRESS)
    tab.get_by_label("Address or id").press("Enter")
    tick(tab, third)
    tab.locator(f"#correction-{second.id} input[type=checkbox]").uncheck()
    tab.get_by_role("button", name="Being fixed").click()
    expect(tab.get_by_text("1 correction: being fixed.").first).to_be_attached()

    found = {one.id: (one.status, one.link_target) for one in Correction.objects.all()}
    assert found == {
        first.id: (Status.WONT_FIX, ""),
        second.id: (Status.WITH_OWNER, ""),
        third.id: (Status.BEING_FIXED, ""),
    }


@BOTH
def test_a_refusal_stands_beside_its_row(open_tab: OpenTab, ana: Person, waiting: list[Correction], scripts: bool):
    tab = open_tab(person=ana, scripts=scripts)
    tab.goto("/corrections/")
    tick(tab, waiting[0])
    tab.get_by_label("Note").fill("I would not.")
    tab.get_by_role("button", name="Won’t fix").click()

    expect(tab.locator(f"#correction-{waiting[0].id} .problem")).to_contain_text("Only the agent's owner")
    expect(tab.get_by_label("Note")).to_have_value("I would not.")
    expect(tab.locator(f"#correction-{waiting[0].id} input[type=checkbox]")).to_be_checked()
    assert {one.status for one in Correction.objects.all()} == {Status.WITH_OWNER}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 320])
def test_the_desk_can_be_read_by_everybody(
    open_tab: OpenTab, olga: Person, waiting: list[Correction], theme: str, width: int
):
    tab = open_tab(person=olga, theme=theme, width=width)
    for address in ("/corrections/", f"/corrections/{waiting[0].id}/", "/corrections/?desk=improve"):
        tab.goto(address)
        if tab.locator(".desk-tick").count():
            tick(tab, waiting[0])
        assert grave_faults(tab) == []
        assert tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
