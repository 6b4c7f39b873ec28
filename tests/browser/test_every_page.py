"""The pages that no other test of a browser opens, in both themes, wide and narrow: readable by everybody."""

from datetime import UTC, datetime

import pytest
from django.contrib.auth.tokens import default_token_generator
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from playwright.sync_api import Page

from corrections.drafts import RuleDraft, RuleWhen
from corrections.models import Erasure, Run
from corrections.services.correcting_rules import create_rule
from corrections.vocabulary import SortedTo, Status
from kindgi_site.exact_json import JsonText
from kindgi_site.workspaces.models import Person, Project
from tests.browser.conftest import OpenTab
from tests.browser.pages import open_every_fold
from tests.browser.test_looks import grave_faults
from tests.factories import (
    CorrectorGroupFactory,
    RunCopyFactory,
    RunFactory,
    caller_of,
    person_with,
    service_with,
)
from tests.life import correction_in

pytestmark = pytest.mark.browser

ERASED_AT = datetime(2026, 11, 2, 9, tzinfo=UTC)

EVERY_LOOK = pytest.mark.parametrize(
    ("theme", "width"), [("light", 1280), ("light", 390), ("dark", 1280), ("dark", 390)]
)


def faults_of(tab: Page) -> list[object]:
    """What stands in somebody's way: what axe finds, a page wider than the screen, one without a name of its own."""
    found: list[object] = list(grave_faults(tab))
    over = tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    heads = tab.locator("h1").count()
    ids = tab.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    twice = sorted({name for name in ids if ids.count(name) > 1})
    return [*found, *([("over", over)] if over > 0 else []), *([("h1", heads)] if heads != 1 else []), *twice]


@pytest.fixture
def boss(project: Project) -> Person:
    return person_with(project, None, is_admin=True)


def erased_run(project: Project) -> Run:
    run: Run = RunFactory(project=project, erased_at=ERASED_AT, content__input=None, content__output=None)
    copy = RunCopyFactory(project=project, run_id=run.run_id, input=None, output=None, calls=None, erased_at=ERASED_AT)
    correction_in(project, Status.OPEN, SortedTo.IMPROVE, copy=copy)
    return run


@pytest.fixture
def addresses(boss: Person, ana: Person, project: Project) -> list[str]:
    """Each with something on it."""
    made = create_rule(caller=caller_of(boss), project=project, draft=RuleDraft(name="Refunds", when=RuleWhen())).rule
    receipt = Erasure.objects.create(
        workspace=project.workspace,
        selector_kind="run",
        status="completed",
        requested_by_kind="user",
        requested_by_id=str(boss.id),
        counts={"runs": 1, "copies": 2},
        completed_at=ERASED_AT,
    )
    failed = RunFactory(
        project=project, status="failed", content__output=None, content__failure_message="It gave up." * 30
    )
    code = RunFactory(project=project, content__output=JsonText.of({"content": "```\n" + "unbroken" * 90 + "\n```"}))
    fixed = correction_in(project, Status.FIXED)
    removed = correction_in(project, Status.REMOVED)
    correction_in(project, Status.OPEN, SortedTo.DEVELOPER)
    CorrectorGroupFactory(workspace=project.workspace, name="Gone", unregistered_at=ERASED_AT)
    return [
        "/groups/",
        "/groups/new/",
        "/people/services/new/",
        f"/people/services/{service_with(project).id}/",
        f"/rules/{made.id}/",
        f"/rules/{made.id}/change/",
        f"/erasures/{receipt.id}/",
        f"/runs/{erased_run(project).run_id}/",
        f"/runs/{failed.run_id}/",
        f"/runs/{code.run_id}/",
        f"/runs/{code.run_id}/parts/output/",
        f"/corrections/{fixed.id}/",
        f"/corrections/{removed.id}/",
        "/corrections/?desk=developer",
        "/corrections/?desk=fixed",
        "/corrections/?desk=all",
        "/corrections/?desk=all&subject=nobody",
        "/corrections/steps/",
    ]


@EVERY_LOOK
def test_pages_of_members(open_tab: OpenTab, boss: Person, addresses: list[str], theme: str, width: int):
    tab = open_tab(person=boss, theme=theme, width=width)
    faults = {}
    for address in addresses:
        tab.goto(address)
        open_every_fold(tab)
        faults[address] = faults_of(tab)

    assert faults == {key: [] for key in addresses}


@EVERY_LOOK
def test_pages_that_a_form_leads_to(
    open_tab: OpenTab, boss: Person, ana: Person, project: Project, theme: str, width: int
):
    tab = open_tab(person=boss, theme=theme, width=width)
    tab.goto(f"/people/{ana.id}/")
    tab.get_by_text("They cannot sign in").click()
    tab.get_by_role("button", name="Make a link").click()
    tab.locator(".secret").wait_for()
    assert faults_of(tab) == []

    tab.goto("/people/keys/new/")
    tab.get_by_role("button", name="Mint").click()
    tab.locator(".secret").wait_for()
    assert faults_of(tab) == []

    for address, button in (
        ("/groups/new/", "Make the group"),
        (f"/projects/{project.id}/rules/new/", "Write the rule"),
        ("/erasures/new/", "Erase for good"),
        ("/test-sets/build/", "Build"),
    ):
        tab.goto(address)
        # What the browser itself would have asked for is left to the server to refuse.
        tab.evaluate("for (const form of document.forms) form.noValidate = true")
        tab.get_by_role("button", name=button, exact=True).click()
        tab.locator(".field-problem").first.wait_for()
        assert (address, faults_of(tab)) == (address, [])


@EVERY_LOOK
def test_pages_of_those_who_are_not_signed_in(open_tab: OpenTab, ana: Person, theme: str, width: int):
    key = urlsafe_base64_encode(force_bytes(ana.pk))
    tab = open_tab(theme=theme, width=width)
    for address in (f"/welcome/{key}/{default_token_generator.make_token(ana)}/", "/welcome/MQ/used/", "/nowhere/"):
        tab.goto(address)
        assert (address, faults_of(tab)) == (address, [])
    tab.goto("/login/")
    tab.get_by_label("Name").fill("ana")
    tab.get_by_label("Password").fill("wrong")
    tab.get_by_role("button", name="Sign in").click()
    tab.locator(".problem").wait_for()
    assert faults_of(tab) == []


@EVERY_LOOK
def test_a_workspace_with_nothing_in_it(open_tab: OpenTab, boss: Person, theme: str, width: int):
    tab = open_tab(person=boss, theme=theme, width=width)
    addresses = [
        "/runs/",
        "/corrections/",
        "/groups/",
        "/people/",
        "/rules/",
        "/erasures/",
        "/test-sets/",
        "/test-runs/",
    ]
    faults = {}
    for address in addresses:
        tab.goto(address)
        faults[address] = faults_of(tab)

    assert faults == {key: [] for key in addresses}
