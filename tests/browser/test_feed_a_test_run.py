"""An owner grades a version on pages alone: starts a test run, hands a file of outputs in, reads what came of it."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page

from kindgi_site.workspaces.models import Person, Project
from kindgi_site.workspaces.services.keys import store_key
from tests.browser.conftest import OpenTab
from tests.browser.pages import open_every_fold
from tests.browser.test_looks import grave_faults
from tests.loop import ANSWER, WRONG_CALL, Loop, output
from tests.wire import WireClient
from testsets.models import TestRun

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def program(admin: Person, project: Project) -> Loop:
    return Loop(WireClient(store_key(workspace=project.workspace, principal=admin)[1]), project)


@pytest.fixture
def frozen(program: Loop) -> None:
    for _ in range(3):
        program.correct()
    program.freeze()


@pytest.mark.parametrize("scripts", [True, False], ids=["with JavaScript", "without"])
def test_a_version_is_graded_on_pages(
    open_tab: OpenTab, admin: Person, project: Project, frozen: None, tmp_path: Path, *, scripts: bool
):
    tab = open_tab(person=admin, scripts=scripts)

    tab.goto(f"/agents/{project.id}/support/")
    tab.get_by_role("link", name="Grade a version").click()
    tab.get_by_label("The version to grade").fill("1.1.0")
    tab.get_by_text("Only a part of the cases").click()
    assert tab.get_by_label("Which cases").input_value() == ""
    tab.get_by_role("button", name="Start the test run").click()
    tab.get_by_text("Waiting for 3 outputs.").wait_for()
    assert f"grade --run {TestRun.objects.get().id}" in tab.locator("#test-run-waiting").inner_text()

    first, second, third = cases_downloaded(tab)
    hand_in(tab, tmp_path, output(first), {"caseId": "nobody", "output": ANSWER})
    tab.get_by_text("Nothing of this file was taken: 1 line is refused.").wait_for()
    assert tab.locator(".refused-lines").inner_text().split("\n")[0] == "Line 2"
    assert TestRun.objects.get().remaining == 3

    hand_in(tab, tmp_path, output(first), output(second, [WRONG_CALL]))
    tab.get_by_text("2 outputs were accepted; 1 remains.").wait_for()
    tab.get_by_text("Complete now").click()
    tab.get_by_text("1 case has no output yet and will count as an error.").wait_for()

    hand_in(tab, tmp_path, output(third))
    tab.get_by_text("1 output was accepted; none remains.").wait_for()
    tab.get_by_text("2 of 3 cases that could be measured").wait_for()

    tab.get_by_role("button", name="Score again with corrections made since").click()
    tab.get_by_role("link", name="scored again, from this run").wait_for()
    assert TestRun.objects.exclude(rescore_of=None).count() == 1


def cases_downloaded(tab: Page) -> list[str]:
    with tab.expect_download() as started:
        tab.get_by_role("link", name="Download the cases").click()
    return [json.loads(line)["caseId"] for line in started.value.path().read_text().splitlines()]


def hand_in(tab: Page, folder: Path, *entries: object) -> None:
    file = folder / "outputs.jsonl"
    file.write_text("".join(f"{json.dumps(entry)}\n" for entry in entries))
    tab.get_by_label("File of outputs").set_input_files(file)
    tab.get_by_role("button", name="Hand it in").click()


@pytest.mark.parametrize("ending", ["complete", "cancel"])
def test_ending_a_run_takes_two_steps_without_a_script(
    open_tab: OpenTab, admin: Person, program: Loop, frozen: None, ending: str
):
    run_id = program.start("1.1.0")
    tab = open_tab(person=admin, scripts=False)
    tab.goto(f"/test-runs/{run_id}/")
    button = tab.locator(f'form[action$="/{ending}/"] button')
    assert not button.is_visible()

    tab.locator("summary", has_text="Complete now" if ending == "complete" else "Cancel").click()
    button.click()

    tab.get_by_text("failed: no case" if ending == "complete" else "was cancelled").wait_for()


def test_what_is_wide_stays_inside_a_narrow_screen(open_tab: OpenTab, admin: Person, program: Loop, frozen: None):
    tab = open_tab(person=admin, width=320)
    for path in ("/test-sets/support.corrections/1.0.0/grade/", f"/test-runs/{program.start('1.1.0')}/"):
        tab.goto(path)
        open_every_fold(tab)
        assert tab.evaluate("document.documentElement.scrollWidth") <= 320, path
        assert grave_faults(tab) == [], path
