"""What people and agents wrote is read the way it runs, and names of any length leave words whole."""

import pytest
from playwright.sync_api import Locator

from corrections.models import Run
from corrections.vocabulary import Status
from kindgi_site.callers import Role
from kindgi_site.exact_json import JsonText
from kindgi_site.workspaces.models import Person, Project
from tests.browser.conftest import OpenTab
from tests.factories import CorrectorGroupFactory, RunFactory, person_with
from tests.life import correction_in

pytestmark = pytest.mark.browser

LINES = """cell => {
  const words = document.createRange();
  words.selectNodeContents(cell);
  return words.getClientRects().length;
}"""


NATURAL_WIDTH = """select => {
  select.style.width = "max-content";
  const wanted = select.offsetWidth;
  select.style.width = "";
  return wanted;
}"""


def direction(place: Locator) -> str:
    return str(place.evaluate("element => getComputedStyle(element).direction"))


@pytest.fixture
def arabic(project: Project) -> Run:
    """Asked and answered in Arabic, with a number of an order in Latin letters."""
    return RunFactory(
        project=project,
        content__input=JsonText.of({"message": "أريد استرداد ثمن الطلب HW-48213 من فضلك."}),
        content__context=JsonText.of({"history": [{"role": "assistant", "content": "Hello! How can I help?"}]}),
        content__output=JsonText.of({"content": "بالتأكيد.\n\n- واحد\n- اثنان"}),
    )


def test_text_runs_its_own_way(open_tab: OpenTab, ana: Person, arabic: Run):
    tab = open_tab(person=ana)
    tab.goto("/runs/")
    assert direction(tab.locator(".run-row-words")) == "rtl"

    tab.goto(f"/runs/{arabic.run_id}/")
    assert direction(tab.locator(".answer .prose li").first) == "rtl"
    assert direction(tab.locator(".speech-input .speech-body")) == "rtl"
    assert direction(tab.locator(".speech-agent .speech-body")) == "ltr"
    tab.locator("#why").fill("طلب استبدالا")
    assert direction(tab.locator("#why")) == "rtl"
    assert direction(tab.locator("h1")) == "ltr"


def test_a_long_name_leaves_the_words_beside_it_whole(open_tab: OpenTab, ana: Person, project: Project):
    CorrectorGroupFactory(workspace=project.workspace, name="A group with a rather long name " * 6)
    tab = open_tab(person=ana)
    tab.goto("/groups/")

    head = tab.locator("th", has_text="Weight")
    lines = head.evaluate(LINES)
    assert lines == 1


def test_a_long_value_is_cut_at_a_desk_and_whole_on_its_own_page(open_tab: OpenTab, project: Project):
    long = "And yet it was the mug. " * 100
    wanted = JsonText.of([{"tool": "write_mail", "args": {"body": long}}])
    correction = correction_in(project, Status.WITH_OWNER, decisions="wrong", should_call=wanted)
    tab = open_tab(person=person_with(project, Role.ADMIN))

    tab.goto("/corrections/")
    at_desk = tab.locator(".compare-wanted .value").bounding_box()
    tab.goto(f"/corrections/{correction.id}/")
    whole = tab.locator(".compare-wanted .value").bounding_box()

    assert at_desk is not None
    assert whole is not None
    assert at_desk["height"] < 200 < whole["height"]


@pytest.mark.parametrize("width", [1280, 390])
def test_how_an_argument_is_compared_can_be_read(open_tab: OpenTab, ana: Person, refund: Run, width: int):
    tab = open_tab(person=ana, width=width)
    tab.goto(f"/runs/{refund.run_id}/")
    tab.locator("#gap-0 .gap-add").click()
    chosen = tab.locator("#missing-0-match-0")
    chosen.select_option("value")

    # The widest of its choices needs no more room than there is beside the arrow.
    wanted = chosen.evaluate(NATURAL_WIDTH)
    assert wanted <= chosen.bounding_box()["width"]  # type: ignore[index]
