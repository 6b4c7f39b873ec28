"""The whole loop, each step seen on a page: runs corrected, frozen, a worse version graded, a better one shipped."""

from collections.abc import Iterator

import pytest
from django.db import connection
from playwright.sync_api import Page

from corrections.models import Run
from kindgi_site.exact_json import JsonText
from kindgi_site.workspaces.models import Person, Project
from kindgi_site.workspaces.services.keys import store_key
from tests.browser.conftest import OpenTab
from tests.browser.pages import choose, open_every_fold
from tests.browser.test_looks import grave_faults
from tests.factories import RunFactory, RunToolFactory
from tests.loop import Loop, output
from tests.wire import WireClient
from testsets.models import TestRun

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

FIND = {"toolId": "find_order", "arguments": {"orderId": "HW-48213"}}
EXCHANGE = {"toolId": "offer_exchange", "arguments": {"orderId": "HW-48213", "item": "mug"}}
OTHER_EXCHANGE = {"toolId": "offer_exchange", "arguments": {"orderId": "HW-48213", "item": "plate"}}
REFUND = {"toolId": "refund_order", "arguments": {"orderId": "HW-48213", "amount": 19.9}}


@pytest.fixture
def owner(admin: Person) -> Person:
    return admin


@pytest.fixture
def mug(project: Project) -> Run:
    """It refunded where an exchange was asked for."""
    return run_of(project, "My mug came with a chip in the rim. Can you send me another one?", [FIND, REFUND])


@pytest.fixture
def parcel(project: Project) -> Run:
    """All it did was right."""
    return run_of(project, "Where is my parcel? It was to come on Monday.", [FIND])


def run_of(project: Project, said: str, calls: list[dict[str, object]]) -> Run:
    run: Run = RunFactory(
        project=project,
        subject_version="1.0.0",
        content__input=JsonText.of({"message": said}),
        content__calls=JsonText.of(calls),
        content__output=JsonText.of({"content": "It arrives on Monday."}),
    )
    for call in calls:
        RunToolFactory(run=run, tool=call["toolId"])
    return run


@pytest.fixture
def program(owner: Person, project: Project) -> Loop:
    """The program that runs the agent's next version and hands its outputs in over /v1."""
    return Loop(WireClient(store_key(workspace=project.workspace, principal=owner)[1]), project)


@pytest.mark.parametrize("scripts", [True, False], ids=["with JavaScript", "without"])
def test_the_whole_loop(
    open_tab: OpenTab, owner: Person, project: Project, mug: Run, parcel: Run, program: Loop, *, scripts: bool
):
    tab = open_tab(person=owner, scripts=scripts)
    correct_both(tab, mug, parcel)
    freeze(tab)

    # 1.1.0 does it as people asked; somebody pins it.
    grade(program, "1.1.0", {mug: [FIND, EXCHANGE], parcel: [FIND]})
    ship(tab, project, "1.1.0")
    assert_settled(tab, fixed=1, came_back=0)

    # 1.2.0 is worse and goes live: what was fixed comes back, and says so with the argument that differs.
    ship(tab, project, "1.2.0")
    worse = grade(program, "1.2.0", {mug: [FIND, OTHER_EXCHANGE], parcel: [FIND, REFUND]})
    tab.goto(f"/test-runs/{worse}/")
    tab.get_by_text("0 of 2 cases that could be measured").wait_for()
    tab.get_by_text("Version 1.1.0 had 2 of 2 of the same cases right.").wait_for()
    tab.locator(".stands a", has_text="regressed").click()
    tab.locator(".stands a[aria-current]", has_text="regressed").wait_for()
    row = tab.locator(".graded", has_text="My mug came")
    assert row.locator(".paths tbody tr").inner_text().split() == ["item", "mug", "plate"]
    assert "A run passes when it calls offer_exchange with item = mug" in row.locator(".graded-said").inner_text()
    assert "What it made of the corrections behind its cases 2 came back" in tab.locator(".what-came").inner_text()

    # 1.3.0 is better, and shipping it fixes them.
    better = grade(program, "1.3.0", {mug: [FIND, EXCHANGE], parcel: [FIND]})
    tab.goto(f"/test-runs/{better}/")
    tab.get_by_text("2 of 2 cases that could be measured").wait_for()
    assert tab.locator(".graded .verdict-tag", has_text="fixed").count() == 2
    tab.get_by_role("link", name="The agent").click()
    assert tab.locator(".mistake").count() == 2
    tab.locator(".mistake", has_text="My mug came").get_by_role("checkbox").check()
    ship(tab, project, "1.3.0")
    assert_settled(tab, fixed=2, came_back=0)
    tab.goto(f"/agents/{project.id}/support/")
    tab.get_by_text("Nothing is waiting to be fixed.").wait_for()


def correct_both(tab: Page, mug: Run, parcel: Run) -> None:
    tab.goto(f"/runs/{mug.run_id}/")
    tab.locator("#gap-2 .gap-add").click()
    tab.locator("#missing-0-tool").fill("offer_exchange")
    tab.locator("#missing-0-name-0").fill("item")
    tab.locator("#missing-0-value-0").fill("mug")
    choose(tab, "call-1", "not")
    tab.locator("#why").fill("An exchange was asked for.")
    tab.locator("#save").click()
    tab.locator(".saved").wait_for()
    tab.goto(f"/runs/{parcel.run_id}/")
    choose(tab, "decisions", "right")
    tab.locator("#save").click()
    tab.locator(".saved").wait_for()


def freeze(tab: Page) -> None:
    tab.goto("/test-sets/")
    tab.get_by_role("link", name="to the agents").click()
    tab.locator("#agent-table").get_by_role("link", name="support").click()
    tab.get_by_role("link", name="Freeze…").click()
    tab.get_by_text("Exactly these 2 cases will be frozen, in this order.").wait_for()
    tab.get_by_role("button", name="Freeze 2 cases").click()
    tab.wait_for_url("**/test-sets/support.corrections/1.0.0/")
    tab.get_by_text("Frozen with 2 cases.").wait_for()
    tab.get_by_role("link", name="My mug came").click()
    tab.get_by_role("heading", name="What is expected").wait_for()
    assert "and never refund_order" in tab.locator(".check").inner_text()
    assert "An exchange was asked for." in tab.locator(".said").inner_text()
    tab.get_by_role("link", name="Experts’ only").click()
    tab.get_by_text("No expert spoke of this run").wait_for()


def grade(program: Loop, version: str, calls: dict[Run, list[dict[str, object]]]) -> str:
    """Hand in what a version did; the test run's id."""
    run_id = program.start(version)
    cases = program.ask("GET", f"/v1/test-runs/{run_id}/cases")["data"]
    made = {str(run.run_id): each for run, each in calls.items()}
    program.submit(run_id, *(output(case["caseId"], made[case["runId"]]) for case in cases))
    assert TestRun.objects.get(id=run_id).status == "completed"
    return run_id


def ship(tab: Page, project: Project, version: str) -> None:
    if not tab.url.endswith("/support/"):
        tab.goto(f"/agents/{project.id}/support/")
    tab.locator("#id_version").fill(version)
    tab.get_by_role("button", name="Pin this version").click()
    tab.wait_for_url("**/changes/**")
    tab.get_by_role("heading", name=f"→ {version}").wait_for()


def assert_settled(tab: Page, *, fixed: int, came_back: int) -> None:
    assert tab.locator("#fixed-title .verdict-tag").inner_text().split()[-1] == str(fixed)
    assert tab.locator("#came-back-title .verdict-tag").inner_text().split()[-1] == str(came_back)


@pytest.fixture
def paths(program: Loop, project: Project) -> Iterator[list[str]]:
    """Every page of test sets with something on it."""
    run_id = program.run(output={"content": "On Monday.", "hits": [{"id": "a"}, {"id": "b"}]}, calls=[REFUND])
    said = [{"key": "a", "pointer": "/hits/0", "rank": 0, "verdict": "wrong"}]
    case = program.correct(
        run_id,
        items=said,
        decisions="wrong",
        shouldCall=[{"tool": "find_order", "args": {"orderId": "x"}}],
        why="It never looked.",
    )
    program.freeze()
    change = program.change("pin", "1.1.0", reason="Looks first")["id"]
    graded = [
        program.grade(version, {case: calls})["runId"]
        for version, calls in (("1.1.0", [FIND]), ("1.2.0", [{"toolId": "find_order", "arguments": {"orderId": "x"}}]))
    ]
    waiting = program.start("1.3.0")
    version = "/test-sets/support.corrections/1.0.0/"
    agent = f"/agents/{project.id}/support/"
    yield [
        "/agents/",
        "/test-sets/",
        "/test-sets/support.corrections/",
        version,
        f"{version}cases/{case}/",
        f"{version}grade/",
        f"/test-sets/build/?project={project.id}&kind=agent&subject=support&min_corrections=1&segments=",
        agent,
        f"{agent}freeze/",
        f"{agent}changes/{change}/",
        "/test-runs/",
        f"/test-runs/{graded[0]}/",
        f"/test-runs/{graded[1]}/?against={graded[0]}",
        f"/test-runs/{waiting}/",
        "/test-runs/?subject=nobody",
    ]
    connection.close()


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_grave_faults(open_tab: OpenTab, owner: Person, paths: list[str], theme: str, width: int):
    tab = open_tab(person=owner, theme=theme, width=width)
    faults = []
    for path in paths:
        tab.goto(path)
        open_every_fold(tab)
        faults += [f"{path} {fault}" for fault in grave_faults(tab)]
        assert tab.evaluate("document.documentElement.scrollWidth") <= width, path

    assert faults == []


def test_the_preview_follows_what_is_typed(open_tab: OpenTab, owner: Person, paths: list[str]):
    tab = open_tab(person=owner)
    tab.goto("/test-sets/build/")

    tab.get_by_label("Its name").fill("support")

    tab.locator("#build-preview", has_text="1 case, of 1 corrected runs").wait_for()
    tab.locator("#id_subject_version").fill("9.9.9")
    tab.locator("#build-preview", has_text="of another version").wait_for()


@pytest.mark.parametrize("width", [320, 901, 2400])
def test_nothing_is_wider_than_the_screen(
    open_tab: OpenTab, owner: Person, project: Project, program: Loop, width: int
):
    long = "unbroken" * 25
    run_id = program.run(
        input={"message": long, long: long},
        output={"content": long, "hits": [{"id": long, long: long}]},
        calls=[{"toolId": long[:200], "arguments": {long: long}}],
    )
    wanted = [{"tool": long[:200], "args": {long: long + "!"}}]
    case = program.correct(run_id, decisions="wrong", shouldCall=wanted, answer="wrong", why=long, shouldSay=long)
    program.freeze()
    graded = program.grade("1.1.0", {case: [{"toolId": long[:200], "arguments": {long: long}}]})["runId"]
    other = program.grade("1.2.0", {case: []})["runId"]
    change = program.change("pin", "1.1.0", reason=long)["id"]
    agent = f"/agents/{project.id}/support/"
    tab = open_tab(person=owner, width=width)
    for path in (
        f"/test-sets/support.corrections/1.0.0/cases/{case}/",
        "/test-sets/support.corrections/1.0.0/",
        agent,
        f"{agent}freeze/",
        f"{agent}changes/{change}/",
        f"/test-runs/{graded}/",
        f"/test-runs/{other}/?against={graded}",
        "/test-sets/build/",
        "/test-sets/",
        "/agents/",
        "/test-runs/",
    ):
        tab.goto(path)
        open_every_fold(tab)
        assert tab.evaluate("document.documentElement.scrollWidth") <= width, path
