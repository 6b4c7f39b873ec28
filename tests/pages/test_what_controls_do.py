"""Each control does what it says, and offers what there is: told apart from what it leaves alone."""

import re
from datetime import timedelta

import pytest
from django.test import Client

from corrections.models import CorrectingRuleVersion, Correction, CorrectorGroup
from corrections.vocabulary import SortedTo, Status
from kindgi_site import clock
from kindgi_site.callers import Role
from kindgi_site.exact_json import JsonText
from kindgi_site.workspaces.models import Membership, Project
from tests.factories import CorrectionFactory, RunCopyFactory, RunFactory, RunToolFactory, person_with
from tests.life import correction_in
from tests.loop import Loop
from tests.pages.conftest import HTMX, text_of
from tests.pages.test_rules import PREVIEW, SAID
from testsets.models import TestSetVersion

DAYS_AGO = 9


@pytest.fixture
def boss_client(project: Project, client: Client) -> Client:
    """A workspace's administrator who is one of the project too."""
    client.force_login(person_with(project, Role.ADMIN, is_admin=True))
    return client


def offered(html: str, name: str) -> list[str]:
    listed = re.search(rf'<datalist id="known-{name}">(.*?)</datalist>', html, re.DOTALL)
    return re.findall(r'<option value="([^"]*)">', listed[1]) if listed else []


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("/runs/", {"subject": ["billing", "support"], "version": ["1.2.0", "3.1.0"], "tool": ["refund"]}),
        ("/corrections/", {"subject": ["billing", "support"], "version": ["1.2.0", "3.1.0"]}),
        ("/groups/new/", {"subject": ["billing", "support"]}),
        ("/test-sets/build/", {"subject": ["billing", "support"], "version": ["1.2.0", "3.1.0"]}),
        ("/agents/{project}/billing/", {"version": ["3.1.0"], "tool": ["refund"]}),
        ("/agents/{project}/support/", {"version": ["1.2.0"], "tool": []}),
    ],
)
def test_fields_offer_what_ran_lately(boss_client: Client, project: Project, page: str, names: dict[str, list[str]]):
    RunFactory(project=project)
    RunToolFactory(run=RunFactory(project=project, subject_id="billing", subject_version="3.1.0"), tool="refund")
    RunFactory(subject_id="foreign", subject_version="9.9.9")

    html = boss_client.get(page.format(project=project.id)).content.decode()

    assert {name: offered(html, name) for name in names} == names


def test_a_test_run_is_offered_what_ran_lately(boss_client: Client, project: Project, loop: Loop):
    loop.correct()
    loop.freeze()
    RunFactory(project=project, subject_id="billing", subject_version="3.1.0")

    html = boss_client.get("/test-sets/support.corrections/1.0.0/grade/").content.decode()

    assert (offered(html, "subject"), offered(html, "version")) == (["billing", "support"], ["1.0.0", "3.1.0"])


@pytest.mark.parametrize(
    ("said", "cases"),
    [({}, 3), ({"min_corrections": 2}, 1), ({"kind": "flow"}, 1), ({"until": "then"}, 1), ({"since": "now"}, 2)],
)
def test_a_set_is_built_from_what_each_field_leaves(
    boss_client: Client, project: Project, said: dict[str, object], cases: int
):
    then = clock.now() - timedelta(days=DAYS_AGO)
    CorrectionFactory(copy__project=project)
    CorrectionFactory.create_batch(2, copy=RunCopyFactory(project=project))
    CorrectionFactory(copy__project=project, copy__captured_at=then)
    CorrectionFactory(copy__project=project, copy__subject_kind="flow")
    days = {"then": then.date(), "now": clock.now().date()}
    said = {name: days.get(str(value), value) for name, value in said.items()}
    asked = {"project": project.id, "kind": "agent", "subject": "support", "min_corrections": 1} | said

    shown = [boss_client.get("/test-sets/build/", asked, headers=h).context["preview"].cases for h in ({}, HTMX)]
    boss_client.post("/test-sets/build/", asked | {"set_name": "built", "version": "1.0.0"})

    assert (shown, TestSetVersion.objects.get().cases.count()) == ([cases, cases], cases)


def test_a_rule_takes_dry_runs_when_told(boss_client: Client, project: Project):
    RunFactory(project=project)
    RunFactory(project=project, dry_run=True)
    address = f"/projects/{project.id}/rules/new/"
    said = SAID | {"agents": "support", "versions": "", "percent": "100"}

    previews = [
        text_of(boss_client.post(address, said | {"step": "preview"} | more, headers=PREVIEW).content.decode())
        for more in ({}, {"dry_runs": "on"})
    ]
    boss_client.post(address, said | {"dry_runs": "on"})

    assert ["taken about 1." in previews[0], "taken about 2." in previews[1]] == [True, True]
    assert CorrectingRuleVersion.objects.get().when == {"agentIds": ["support"], "includeDryRuns": True}


@pytest.mark.parametrize("htmx", [False, True], ids=["page", "htmx"])
@pytest.mark.parametrize("one", [False, True], ids=["desk", "one"])
def test_why_it_was_sorted_there_is_kept(boss_client: Client, project: Project, one: bool, htmx: bool):
    chosen, other = (correction_in(project, Status.OPEN, SortedTo.DEVELOPER) for _ in range(2))
    address = f"/corrections/{chosen.id}/steps/" if one else "/corrections/steps/?desk=all"
    said = {"step": "sort-improve", "note": "A prompt will do.", "correction": str(chosen.id)}

    boss_client.post(address, said, headers=HTMX if htmx else {})

    kept = dict(Correction.objects.values_list("id", "sorted_reason"))
    assert (kept[chosen.id], kept[other.id]) == ("A prompt will do.", other.sorted_reason)


def test_what_a_set_is_for_is_frozen_with_it(boss_client: Client, project: Project, loop: Loop):
    loop.correct()

    said = {"set_name": "mine", "version": "1.0.0", "description": "For the spring."}
    boss_client.post(f"/agents/{project.id}/support/freeze/", said)

    assert TestSetVersion.objects.get().description == "For the spring."


def test_what_a_group_is_for_is_kept(boss_client: Client):
    boss_client.post("/groups/new/", {"name": "Experts", "scope": "workspace", "weight": "1", "description": "Why."})

    assert CorrectorGroup.objects.get().description == "Why."


@pytest.mark.parametrize("is_admin", [False, True])
def test_whoever_is_invited_administers_only_when_ticked(boss_client: Client, project: Project, is_admin: bool):
    boss_client.post("/people/new/", {"username": "ann"} | ({"is_admin": "on"} if is_admin else {}))

    assert Membership.objects.get(person__username="ann").is_admin is is_admin


def test_texts_are_found_as_they_stand(boss_client: Client, project: Project):
    for text in ("100% sure", "1000 sure", "a_b", "axb"):
        RunFactory(project=project, content__input=JsonText.of({"message": text}))

    found = {
        text: [row.words for row in boss_client.get("/runs/", {"text": text}).context["rows"]] for text in ("0%", "a_b")
    }

    assert found == {"0%": ["100% sure"], "a_b": ["a_b"]}
