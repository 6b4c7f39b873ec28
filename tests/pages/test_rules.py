"""Correcting rules at their pages."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from corrections.drafts import RuleChange, RuleDraft, RuleWhen
from corrections.models import CorrectingRule, CorrectingRuleVersion
from corrections.services.correcting_rules import change_rule, create_rule
from corrections.vocabulary import RunStatus
from kindgi_site.callers import Caller, Role
from kindgi_site.workspaces.models import Project
from tests.factories import (
    CorrectorGroupFactory,
    ProjectFactory,
    ProjectRoleFactory,
    RunFactory,
    caller_of,
    person_with,
)
from tests.pages.conftest import HTMX, root_of, text_of

PREVIEW = HTMX | {"HX-Target": "rule-preview"}
SAID = {
    "name": "Refunds", "agents": "support\nbilling", "flows": "", "versions": "live", "percent": "20",
    "max_open": "25", "group": "", "enabled": "on", "step": "save",
}  # fmt: skip


@pytest.fixture
def rule(caller: Caller, project: Project) -> CorrectingRule:
    draft = RuleDraft(name="Refunds", when=RuleWhen(agent_ids=("support",)), sample=0.5, max_open=10)
    return create_rule(caller=caller, project=project, draft=draft).rule


def newest() -> dict[str, Any]:
    return CorrectingRuleVersion.objects.order_by("-created_at").values(
        "number", "name", "when", "sample", "max_open", "group", "enabled"
    )[0]


@pytest.mark.parametrize("htmx", [False, True], ids=["page", "htmx"])
def test_the_list(reviewer_client: Client, rule: CorrectingRule, htmx: bool):
    response = reviewer_client.get("/rules/", headers=HTMX if htmx else {})

    assert response.templates[0].name == f"corrections/{'_rule_table' if htmx else 'rule_list'}.html"
    said = text_of(response.content.decode())
    assert "Refunds version 1 support 50 % 10 anybody’s correction" in said


def test_an_empty_list_offers_the_first(reviewer_client: Client, project: Project):
    page = reviewer_client.get("/rules/").content.decode()

    assert "No rules yet: nothing feeds the queue." in text_of(page)
    assert f'href="/projects/{project.id}/rules/new/"' in page


def test_another_project_by_its_tab(reviewer_client: Client, reviewer: Any, rule: CorrectingRule, project: Project):
    person = person_with(project, Role.VIEWER)
    other = ProjectFactory(workspace=project.workspace)
    other.roles.create(person=person, role=Role.VIEWER)
    reviewer_client.force_login(person)

    assert len(reviewer_client.get("/rules/").context["rows"]) == 1
    assert reviewer_client.get(f"/rules/?project={other.id}").context["rows"] == []


@pytest.mark.parametrize("htmx", [False, True], ids=["page", "htmx"])
def test_writing_one(reviewer_client: Client, project: Project, htmx: bool):
    response = reviewer_client.post(f"/projects/{project.id}/rules/new/", SAID, headers=HTMX if htmx else {})

    assert response["Location"] == f"/rules/{CorrectingRule.objects.get().id}/"
    assert newest() == {
        "number": 1,
        "name": "Refunds",
        "when": {"agentIds": ["support", "billing"], "versions": ["live"]},
        "sample": 0.2,
        "max_open": 25,
        "group": None,
        "enabled": True,
    }


def test_changing_one_makes_a_version(reviewer_client: Client, project: Project, rule: CorrectingRule):
    group = CorrectorGroupFactory(workspace=project.workspace)
    said = SAID | {
        "agents": "",
        "flows": "ranking",
        "versions": "",
        "group": str(group.id),
        "max_open": "",
        "enabled": "",
    }

    response = reviewer_client.post(f"/rules/{rule.id}/change/", said)

    assert response["Location"] == f"/rules/{rule.id}/"
    assert newest() == {
        "number": 2,
        "name": "Refunds",
        "when": {"flowIds": ["ranking"]},
        "sample": 0.2,
        "max_open": None,
        "group": group.id,
        "enabled": False,
    }


def test_the_form_starts_as_the_rule_is(reviewer_client: Client, rule: CorrectingRule):
    form = reviewer_client.get(f"/rules/{rule.id}/change/").context["form"]

    assert {name: form[name].value() for name in form.fields} == {
        "name": "Refunds",
        "agents": "support",
        "flows": "",
        "versions": "",
        "dry_runs": False,
        "percent": "50",
        "max_open": 10,
        "group": "",
        "enabled": True,
    }


REFUSED = [
    ({"name": " "}, "This field is required"),
    ({"percent": "0"}, "It takes more than 0 percent of them."),
    ({"percent": "101"}, "It takes 100 percent of them at most."),
    ({"flows": "ranking"}, "Name agents or flows, not both."),
    ({"max_open": "0"}, "greater than or equal to 1"),
    ({"group": "stranger"}, "Select a valid choice"),
    ({"agents": "x" * 201}, "Each of agentIds has 1 to 200 characters"),
    ({"agents": "\n".join(map(str, range(51)))}, "agentIds has more than 50 entries."),
    ({"agents": "a\0"}, "Null characters are not allowed."),
    ({"agents": "", "flows": "a\0"}, "Null characters are not allowed."),
    ({"versions": "a\0"}, "Null characters are not allowed."),
]


@pytest.mark.parametrize("htmx", [False, True], ids=["page", "htmx"])
@pytest.mark.parametrize(("said", "words"), REFUSED)
def test_what_makes_no_sense_is_refused(
    reviewer_client: Client, project: Project, said: dict[str, str], words: str, htmx: bool
):
    response = reviewer_client.post(f"/projects/{project.id}/rules/new/", SAID | said, headers=HTMX if htmx else {})

    assert response.status_code == 422
    assert words in text_of(response.content.decode())
    assert 'id="rule-form"' in response.content.decode()
    assert not CorrectingRule.objects.exists()


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({}, "Of the newest 6 runs it would have taken about 4."),
        ({"percent": "50"}, "Of the newest 6 runs it would have taken about 2."),
        ({"versions": "2.0.0"}, "Of the newest 6 runs it would have taken about 1."),
        ({"agents": "nobody"}, "Of the newest 6 runs it would have taken about 0."),
        ({"percent": "0"}, "Not whole yet It takes more than 0 percent of them."),
        ({"percent": ""}, "Not whole yet Say how many percent of them it takes."),
        ({"percent": "900"}, "Not whole yet It takes 100 percent of them at most."),
        ({"flows": "ranking"}, "Not whole yet Name agents or flows, not both."),
        ({"agents": "a\0"}, "Not whole yet Null characters are not allowed."),
        ({"versions": "a\0"}, "Not whole yet Null characters are not allowed."),
    ],
)
@pytest.mark.parametrize("htmx", [False, True], ids=["page", "htmx"])
def test_the_preview_follows_what_is_typed(
    reviewer_client: Client, project: Project, said: dict[str, str], words: str, htmx: bool
):
    RunFactory.create_batch(3, project=project)
    RunFactory(project=project, subject_version="2.0.0")
    RunFactory(project=project, status=RunStatus.FAILED)
    RunFactory(project=project, subject_id="other")
    typed = SAID | {"agents": "support", "versions": "", "percent": "100", "step": "preview"} | said

    response = reviewer_client.post(f"/projects/{project.id}/rules/new/", typed, headers=PREVIEW if htmx else {})

    assert response.status_code == 200
    assert words in text_of(response.content.decode())
    assert (root_of(response.content.decode()) == "rule-preview") is htmx
    assert not CorrectingRule.objects.exists()


def test_the_form_names_what_ran_in_its_own_project(reviewer_client: Client, project: Project):
    elsewhere = ProjectFactory(workspace=project.workspace)
    person = person_with(project)
    ProjectRoleFactory(project=elsewhere, person=person)
    reviewer_client.force_login(person)
    RunFactory(project=project, subject_id="billing")
    RunFactory(project=elsewhere, subject_id="shipping")

    seen = [
        reviewer_client.get(f"/projects/{place.id}/rules/new/").context["subjects"] for place in (project, elsewhere)
    ]

    assert seen == [["billing"], ["shipping"]]


def test_the_preview_of_a_rule_that_is_there_is_exact(reviewer_client: Client, project: Project, rule: CorrectingRule):
    RunFactory.create_batch(4, project=project)

    said = text_of(reviewer_client.get(f"/rules/{rule.id}/change/").content.decode())

    assert "Of the newest 4 runs it would have taken " in said
    assert "about" not in said


def test_versions_and_results(reviewer_client: Client, caller: Caller, project: Project, rule: CorrectingRule):
    change_rule(caller=caller, project=project, rule_id=str(rule.id), change=RuleChange(name="All refunds", sample=1.0))

    page = reviewer_client.get(f"/rules/{rule.id}/")
    fragment = reviewer_client.get(f"/rules/{rule.id}/", headers=HTMX)

    assert [(row.version.number, row.name, row.share) for row in page.context["versions"]] == [
        (2, "All refunds", "100\N{NO-BREAK SPACE}%"),
        (1, "Refunds", "50\N{NO-BREAK SPACE}%"),
    ]
    assert "It has taken no run yet." in text_of(page.content.decode())
    assert root_of(fragment.content.decode()) == "rule"


def test_stopping_one(reviewer_client: Client, project: Project, rule: CorrectingRule):
    response = reviewer_client.post(f"/rules/{rule.id}/stop/")

    assert response["Location"] == f"/rules/?project={project.id}"
    rule.refresh_from_db()
    assert rule.unregistered_at is not None
    assert "It was stopped just now" in text_of(reviewer_client.get(f"/rules/{rule.id}/").content.decode())
    assert reviewer_client.get(f"/rules/{rule.id}/change/").status_code == 404


def test_who_only_reads_changes_nothing(client: Client, project: Project, rule: CorrectingRule):
    client.force_login(person_with(project, Role.VIEWER))

    page = client.get(f"/rules/{rule.id}/")
    assert page.status_code == 200
    assert "Stop the rule" not in page.content.decode()
    assert client.get(f"/projects/{project.id}/rules/new/").status_code == 403
    assert client.post(f"/projects/{project.id}/rules/new/", SAID).status_code == 403
    assert client.post(f"/rules/{rule.id}/change/", SAID).status_code == 403
    assert client.post(f"/rules/{rule.id}/stop/").status_code == 403
    rule.refresh_from_db()
    assert (CorrectingRuleVersion.objects.count(), rule.unregistered_at) == (1, None)


def test_another_workspaces_is_not_there(client: Client, rule: CorrectingRule):
    client.force_login(person_with(ProjectFactory(), None, is_admin=True))

    assert client.get(f"/rules/{rule.id}/").status_code == 404
    assert client.get(f"/rules/{rule.id}/change/").status_code == 404
    assert client.post(f"/rules/{rule.id}/stop/").status_code == 404
    assert client.get("/rules/").context["rows"] == []


def test_hostile_words_are_only_words(reviewer_client: Client, caller: Caller, project: Project):
    hostile = "<script>alert('x')</script>"
    draft = RuleDraft(name=hostile, when=RuleWhen(agent_ids=(hostile,)))
    rule = create_rule(caller=caller, project=project, draft=draft).rule

    for address in ("/rules/", f"/rules/{rule.id}/", f"/rules/{rule.id}/change/"):
        assert hostile not in reviewer_client.get(address).content.decode()


def test_statements_do_not_grow_with_the_rows(reviewer_client: Client, reviewer: Any, project: Project):
    def statements() -> int:
        with CaptureQueriesContext(connection) as seen:
            assert reviewer_client.get("/rules/").status_code == 200
        return len(seen)

    create_rule(caller=caller_of(reviewer), project=project, draft=RuleDraft(name="One"))
    for_one = statements()
    for number in range(29):
        create_rule(caller=caller_of(reviewer), project=project, draft=RuleDraft(name=str(number)))

    assert statements() == for_one
