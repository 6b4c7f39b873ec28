"""A real browser in front of a real server, with and without JavaScript."""

import os
from collections.abc import Callable, Iterator

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from pytest_django.live_server_helper import LiveServer

from corrections.models import Run
from kindgi_site.workspaces.models import Person, Project
from tests.browser.pages import PASSWORD, refund_run
from tests.chromium import find_chromium

# Playwright keeps an event loop in this thread; Django would take each query of a test for one inside it.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

PATIENCE = 20_000  # milliseconds: on whatever machine this is, whatever else it has to do
expect.set_options(timeout=PATIENCE)

OpenTab = Callable[..., Page]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    found = find_chromium()
    if found is None:
        pytest.skip("no Chromium here: name one in CHROMIUM")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def ana(reviewer: Person) -> Person:
    """The reviewer, with a password to type."""
    reviewer.set_password(PASSWORD)
    reviewer.username = "ana"
    reviewer.save()
    return reviewer


@pytest.fixture
def refund(project: Project) -> Run:
    """A run worth correcting: a refund where an exchange was agreed, and two sources, one of them beside the point."""
    return refund_run(project)


@pytest.fixture
def open_tab(chromium: Browser, live_server: LiveServer) -> Iterator[OpenTab]:
    """Opens a tab of its own; `person` is signed in already. A script that fails fails the test."""
    contexts: list[BrowserContext] = []
    broken: list[str] = []

    def open_one(
        *,
        person: Person | None = None,
        scripts: bool = True,
        theme: str = "light",
        width: int = 1280,
        height: int = 860,
    ) -> Page:
        context = chromium.new_context(
            base_url=live_server.url,
            java_script_enabled=scripts,
            color_scheme=theme,  # type: ignore[arg-type]
            viewport={"width": width, "height": height},
        )
        contexts.append(context)
        context.set_default_timeout(PATIENCE)
        if person is not None:
            context.add_cookies(
                [{"name": settings.SESSION_COOKIE_NAME, "value": _session(person), "url": live_server.url}]
            )
        tab = context.new_page()
        tab.on("pageerror", lambda error: broken.append(str(error)))
        tab.on("console", lambda said: broken.append(said.text) if "Content Security Policy" in said.text else None)
        return tab

    yield open_one
    for context in contexts:
        context.close()
    assert broken == []


def _session(person: Person) -> str:
    client = Client()
    client.force_login(person)
    return client.cookies[settings.SESSION_COOKIE_NAME].value
