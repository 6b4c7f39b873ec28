"""Forms that are refused, and forms that only ask: what the browser shows and sends."""

import pytest
from playwright.sync_api import Locator

from kindgi_site.callers import Role
from kindgi_site.workspaces.models import Person, Project
from tests.browser.conftest import OpenTab
from tests.factories import person_with
from tests.loop import Loop
from testsets.models import TestSetVersion

pytestmark = pytest.mark.browser

SCRIPTS = pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no-scripts"])


@pytest.fixture
def owner(project: Project) -> Person:
    return person_with(project, Role.ADMIN)


def border_of(field: Locator) -> str:
    return str(field.evaluate("field => getComputedStyle(field).borderTopColor"))


def colour_of(words: Locator) -> str:
    return str(words.evaluate("words => getComputedStyle(words).color"))


@SCRIPTS
def test_a_refused_form_is_where_the_page_opens(open_tab: OpenTab, owner: Person, loop: Loop, scripts: bool):
    for _number in range(12):
        loop.correct()
    tab = open_tab(person=owner, scripts=scripts)
    tab.goto(f"/agents/{loop.project.id}/support/")

    tab.get_by_label("Run id").fill("nonsense")
    tab.get_by_role("button", name="Add the run").click()

    problem = tab.locator("#promote .field-problem")
    problem.wait_for()
    box = problem.bounding_box()
    assert problem.inner_text() == "Give the id of a run, as the run’s own page shows it."
    assert box is not None
    assert 0 <= box["y"] <= 860 - box["height"]
    assert border_of(tab.get_by_label("Run id")) == colour_of(problem)
    tab.keyboard.press("Tab")
    assert tab.get_by_label("Run id").evaluate("field => field === document.activeElement")


@SCRIPTS
def test_a_preview_is_an_address_to_keep(open_tab: OpenTab, owner: Person, loop: Loop, scripts: bool):
    loop.correct()
    tab = open_tab(person=owner, scripts=scripts)
    tab.goto("/test-sets/build/")
    tab.get_by_label("Its name").fill("support")
    tab.get_by_label("Test set").fill("support.all")
    tab.get_by_label("New version").fill("1.0.0")

    tab.get_by_role("button", name="Preview").click()
    tab.wait_for_url("**/build/?*")
    address = tab.url
    tab.get_by_role("button", name="Build", exact=True).click()
    tab.get_by_text("Built with 1 case.").wait_for()

    assert "csrfmiddlewaretoken" not in address
    assert TestSetVersion.objects.values_list("test_set__name", "version").get() == ("support.all", "1.0.0")
