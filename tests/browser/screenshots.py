"""Pictures of the demo's pages in both themes, wide and narrow.

`python -m tests.browser.screenshots [ADDRESS] [FOLDER]`. The demo must be served at ADDRESS (`make demo`).
A run is marked on the way, and nothing is saved.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.chromium import find_chromium

ADDRESS = "http://127.0.0.1:8000"
FOLDER = Path("var") / "screenshots"
SIZES = {1280: 860, 390: 844}
THEMES = ("light", "dark")
LIST = "/runs/?corrected=yes"
FLOW = "/runs/?subject=catalog.search"
TURN = "/runs/?subject=claims.intake&version=1.1.0"


def signed_in(browser: Browser, address: str, theme: str, width: int) -> BrowserContext:
    context = browser.new_context(
        base_url=address,
        color_scheme=theme,  # type: ignore[arg-type]
        viewport={"width": width, "height": SIZES[width]},
        device_scale_factor=2,
    )
    tab = context.new_page()
    tab.goto("/login/")
    tab.get_by_label("Name").fill("ana")
    tab.get_by_label("Password").fill("demo")
    tab.get_by_role("button", name="Sign in").click()
    tab.wait_for_url("**/runs/")
    tab.close()
    return context


def pictures(context: BrowserContext) -> Iterator[tuple[str, Page]]:
    """(name, tab showing it), one after the other in the same tab."""
    tab = context.new_page()
    tab.goto(LIST)
    yield "runs", tab
    tab.locator(".run-row", has_text="cancel something").locator("a").click()
    yield "run", tab
    tab.goto(TURN)
    tab.locator(".run-row", has_text="208.45").locator("a").click()
    mark(tab)
    yield "marking", tab
    tab.goto(FLOW)
    tab.locator(".run-row", has_text="coffee lover").locator("a").click()
    tab.locator("#list-1").scroll_into_view_if_needed()
    tab.evaluate("document.querySelector('#list-1').scrollIntoView()")
    yield "ranked-list", tab


def mark(tab: Page) -> None:
    tab.locator("#gap-2 .gap-add").click()
    tab.locator("#missing-0-tool").fill("explain_deductible")
    tab.locator("#missing-0-name-0").fill("claimId")
    tab.locator("#missing-0-value-0").fill("CL-20731")
    tab.locator("#call-2-not").check(force=True)
    tab.locator("#verdict", has_text="and never approve_payout").wait_for()
    tab.evaluate("document.querySelector('#missing-0').scrollIntoView({block: 'center'})")


def main(address: str = ADDRESS, folder: str | Path = FOLDER) -> None:
    Path(folder).mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox", "--disable-gpu"])
        for theme in THEMES:
            for width in SIZES:
                context = signed_in(browser, address, theme, width)
                for name, tab in pictures(context):
                    tab.screenshot(path=Path(folder) / f"{name}-{theme}-{width}.png")
                context.close()
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
