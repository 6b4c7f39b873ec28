"""Administrators at their pages: people, keys, groups, rules, erasures; with and without JavaScript."""

import pytest
from playwright.sync_api import expect

from corrections.models import AgentOwner, CorrectingRule, CorrectorGroup, Erasure, Run
from corrections.vocabulary import Status
from kindgi_site.workspaces.models import ApiKey, Person, Project
from kindgi_site.workspaces.services.keys import digest_of
from tests.browser.conftest import OpenTab
from tests.browser.pages import PASSWORD
from tests.browser.test_looks import grave_faults
from tests.factories import CorrectorGroupFactory, RunFactory, ServiceAccountFactory, person_with, service_with
from tests.life import correction_in

pytestmark = pytest.mark.browser

BOTH = pytest.mark.parametrize("scripts", [True, False], ids=["with-scripts", "without-scripts"])


@pytest.fixture
def boss(project: Project) -> Person:
    return person_with(project, None, is_admin=True)


@BOTH
def test_somebody_invited_signs_in(open_tab: OpenTab, boss: Person, project: Project, scripts: bool):
    tab = open_tab(person=boss, scripts=scripts)
    tab.goto("/people/")
    tab.get_by_role("link", name="Invite somebody").click()
    tab.get_by_label("Name to sign in with").fill("nora")
    tab.get_by_label(project.name).select_option("editor")
    tab.get_by_role("button", name="Invite").click()
    link = tab.locator(".secret code").inner_text()

    other = open_tab(scripts=scripts)
    other.goto(link)
    other.get_by_label("New password", exact=True).fill(PASSWORD)
    other.get_by_label("New password confirmation").fill(PASSWORD)
    other.get_by_role("button", name="Set it, then sign in").click()
    other.get_by_label("Name").fill("nora")
    other.get_by_label("Password").fill(PASSWORD)
    other.get_by_role("button", name="Sign in").click()

    expect(other.get_by_role("heading", name="Runs")).to_be_visible()


@BOTH
def test_a_key_is_shown_once_and_revoked(open_tab: OpenTab, boss: Person, project: Project, scripts: bool):
    service = service_with(project)
    tab = open_tab(person=boss, scripts=scripts)
    tab.goto(f"/people/keys/new/?for=service-account:{service.id}")
    expect(tab.get_by_label("Acts for")).to_have_value(f"service-account:{service.id}")
    tab.get_by_label("Label").fill("Importer")
    tab.get_by_role("button", name="Mint").click()
    text = tab.locator(".secret code").inner_text()
    assert ApiKey.objects.get().digest == digest_of(text)

    tab.get_by_role("link", name="I have kept it").click()
    expect(tab.get_by_text(text)).to_have_count(0)
    tab.locator(".revoke summary").click()
    tab.get_by_role("button", name="Revoke for good").click()
    expect(tab.get_by_text("The key “Importer” opens nothing any more.")).to_be_visible()

    assert ApiKey.objects.get().revoked_at is not None


@BOTH
def test_pages_turn_within_what_was_searched(open_tab: OpenTab, boss: Person, project: Project, scripts: bool):
    for number in range(52):
        ServiceAccountFactory(workspace=project.workspace, name=f"grader & co {number:02}")
    ServiceAccountFactory(workspace=project.workspace, name="account of somebody else")
    tab = open_tab(person=boss, scripts=scripts)
    tab.goto("/people/services/")
    tab.get_by_label("Name", exact=True).fill("grader & co")
    tab.get_by_role("button", name="Search").click()
    expect(tab.get_by_role("row", name="account of somebody else")).to_have_count(0)
    tab.get_by_role("link", name="Next").click()
    expect(tab.locator("#service-table tbody th")).to_have_text(["grader & co 50", "grader & co 51"])
    tab.get_by_role("link", name="Previous").click()

    expect(tab.locator("#service-table tbody tr")).to_have_count(50)
    expect(tab.locator("#service-table tbody th").first).to_have_text("grader & co 00")
    expect(tab.get_by_label("Name", exact=True)).to_have_value("grader & co")


@pytest.mark.parametrize(("pressed", "searches"), [(True, 2), (False, 1)], ids=["left-and-pressed", "waited"])
def test_a_list_is_not_searched_again_for_what_it_shows(
    open_tab: OpenTab, boss: Person, project: Project, pressed: bool, searches: int
):
    """The pause after the last key and leaving the field would each ask once more, and turn the reader's page back."""
    for number in range(51):
        ServiceAccountFactory(workspace=project.workspace, name=f"grader {number:02}")
    ServiceAccountFactory(workspace=project.workspace, name="account of somebody else")
    tab = open_tab(person=boss)
    tab.clock.install()
    asked: list[str] = []
    tab.goto("/people/services/")
    tab.on("request", lambda request: asked.append(request.url) if "services/?" in request.url else None)
    tab.get_by_label("Name", exact=True).fill("grader")
    if pressed:
        tab.get_by_role("button", name="Search").click()
    else:
        tab.clock.run_for(500)
    expect(tab.get_by_role("row", name="account of somebody else")).to_have_count(0)
    tab.get_by_role("link", name="Next").click()
    expect(tab.locator("#service-table tbody th")).to_have_text(["grader 50"])
    tab.clock.run_for(2000)

    assert ["after=" in address for address in asked] == [False] * searches + [True]
    expect(tab.locator("#service-table tbody th")).to_have_text(["grader 50"])


@BOTH
def test_a_group_is_made_and_changed(open_tab: OpenTab, boss: Person, project: Project, scripts: bool):
    tab = open_tab(person=boss, scripts=scripts)
    tab.goto("/groups/")
    tab.get_by_role("link", name="New group").click()
    tab.get_by_label("Name", exact=True).fill("Experts")
    tab.get_by_label("Who may speak for it").select_option("senior")
    tab.get_by_role("button", name="Make the group").click()
    tab.get_by_role("link", name="Change Experts").click()
    tab.get_by_label("Weight").fill("3")
    tab.get_by_role("button", name="Save").click()

    expect(tab.locator(".sheet tbody tr")).to_contain_text("senior reviewers and above")
    assert (CorrectorGroup.objects.get().weight, CorrectorGroup.objects.get().min_reviewer_role) == (3, "senior")


@BOTH
def test_a_rule_says_what_it_would_take_before_it_is_saved(
    open_tab: OpenTab, ana: Person, project: Project, scripts: bool
):
    RunFactory.create_batch(3, project=project)
    RunFactory(project=project, subject_id="other")
    tab = open_tab(person=ana, scripts=scripts)
    tab.goto(f"/projects/{project.id}/rules/new/")
    expect(tab.locator("#rule-preview")).to_contain_text("Of the newest 4 runs it would have taken about 4.")
    tab.get_by_label("Name").fill("Refunds")
    tab.get_by_label("Only turns of these agents").fill("support")
    if not scripts:
        tab.get_by_role("button", name="Preview").click()
    expect(tab.locator("#rule-preview")).to_contain_text("Of the newest 4 runs it would have taken about 3.")
    assert not CorrectingRule.objects.exists()

    tab.get_by_role("button", name="Write the rule").click()
    expect(tab.get_by_role("heading", name="Refunds version 1")).to_be_visible()
    assert CorrectingRule.objects.count() == 1


@BOTH
def test_an_agent_gets_an_owner(open_tab: OpenTab, boss: Person, ana: Person, project: Project, scripts: bool):
    tab = open_tab(person=boss, scripts=scripts)
    tab.goto(f"/agents/{project.id}/support/")
    tab.get_by_text("Change the owner").click()
    tab.get_by_label("Owner").select_option(f"user:{ana.id}")
    tab.locator("#agent-owner").get_by_role("button", name="Save").click()

    expect(tab.locator("#agent-owner dd")).to_contain_text("ana")
    expect(tab.locator("#agent-owner details")).not_to_have_attribute("open", "")
    assert AgentOwner.objects.get().owner_id == str(ana.id)


@BOTH
def test_a_run_is_erased_only_when_it_is_meant(open_tab: OpenTab, boss: Person, run: Run, scripts: bool):
    tab = open_tab(person=boss, scripts=scripts)
    tab.goto(f"/runs/{run.run_id}/")
    tab.get_by_role("link", name="Erase", exact=True).click()
    tab.get_by_role("button", name="Erase for good").click()
    assert not Erasure.objects.exists()

    tab.get_by_label("I know that this cannot be undone").check()
    tab.get_by_role("button", name="Erase for good").click()
    expect(tab.get_by_role("heading", name="Receipt of an erasure")).to_be_visible()
    expect(tab.locator(".receipt")).to_contain_text("Runs, with what came in")
    assert Run.objects.get().erased_at is not None


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 320])
def test_the_pages_can_be_read_by_everybody(
    open_tab: OpenTab, boss: Person, ana: Person, project: Project, run: Run, theme: str, width: int
):
    group = CorrectorGroupFactory(workspace=project.workspace, min_reviewer_role="senior", principal_ids=[str(ana.id)])
    correction_in(project, Status.WITH_OWNER, subject_id="a.very.long.name.of.an.agent" * 4, link_target="x" * 300)
    service_with(project)
    tab = open_tab(person=boss, theme=theme, width=width)
    pages = [
        "/people/",
        "/people/services/",
        "/people/keys/",
        "/people/new/",
        f"/people/{ana.id}/",
        "/people/keys/new/",
        "/agents/",
        "/groups/",
        f"/groups/{group.id}/",
        "/rules/",
        f"/projects/{project.id}/rules/new/",
        "/erasures/",
        "/erasures/new/",
        f"/runs/{run.run_id}/erase/",
        "/corrections/",
    ]
    for address in pages:
        tab.goto(address)
        assert (address, grave_faults(tab)) == (address, [])
        over = tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert (address, over) == (address, 0)
