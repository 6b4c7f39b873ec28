"""What browser tests look at: runs worth looking at, and what a reviewer does on a page."""

from playwright.sync_api import Page

from corrections.models import Run
from kindgi_site.exact_json import JsonText
from kindgi_site.workspaces.models import Project
from tests.factories import RunFactory, RunToolFactory

PASSWORD = "between-two-mugs"

SAID = "My mug came with a chip in the rim. Can you send me another one?"
HISTORY = [
    {"role": "system", "content": "You are the support agent of **Hollis & Wren**."},
    {"role": "user", "content": "Hello!"},
    {"role": "assistant", "content": "Hello! How can I help?"},
]
CALLS = [
    {"toolId": "find_order", "arguments": {"orderId": "HW-48213"}, "result": {"total": 19.9, "status": "delivered"}},
    {"toolId": "refund_order", "arguments": {"orderId": "HW-48213", "amount": 19.90}, "result": {"refunded": True}},
]
OUTPUT = {
    "content": "Of course. I have **refunded** the mug.",
    "sources": [{"id": "returns", "title": "Returns and exchanges"}, {"id": "gifts", "title": "Gift cards"}],
}


def refund_run(project: Project) -> Run:
    run: Run = RunFactory(
        project=project,
        subject_id="orders.support",
        content__input=JsonText.of({"message": SAID}),
        content__context=JsonText.of({"history": HISTORY}),
        content__calls=JsonText.of(CALLS),
        content__output=JsonText.of(OUTPUT),
    )
    for call in CALLS:
        RunToolFactory(run=run, tool=call["toolId"])
    return run


def sign_in(tab: Page, name: str) -> None:
    tab.goto("/")
    tab.get_by_label("Name").fill(name)
    tab.get_by_label("Password").fill(PASSWORD)
    tab.get_by_role("button", name="Sign in").click()


def choose(tab: Page, field: str, which: str) -> None:
    """Press the button of a choice; the radio itself is under its words."""
    tab.locator(f"#{field}-{which}").check(force=True)


def open_every_fold(tab: Page) -> None:
    """Folds inside folds too: opening one by one moves the others, and some would be passed over."""
    tab.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
