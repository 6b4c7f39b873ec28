"""The list of agents: what is live of each, who owns it, and what stands said of it."""

import re
from html import unescape

import pytest
from django.test import Client

from corrections.models import AgentOwner, Correction, Run, RunCopy
from corrections.vocabulary import SortedTo, Status
from kindgi_site.callers import Role
from kindgi_site.workspaces.models import Person, Project
from tests.factories import (
    CorrectionFactory,
    FlowRunFactory,
    ProjectFactory,
    RunCopyFactory,
    RunFactory,
    person_with,
)
from tests.life import FIXED, correction_in
from tests.loop import Loop
from tests.pages.conftest import HTMX, VARY, root_of, text_of
from testsets.models import HandCase, LiveVersion

HOSTILE = "<script>alert(1)</script>"
AWKWARD = ["_x", "a & b", "A#1", "a/b?c", "b+1", "B%20", "z\u00e9"]


def agents_at(client: Client, address: str = "/agents/") -> list[tuple[str, str]]:
    """(agent, project) of each row."""
    return [(row.agent_id, row.project_name) for row in client.get(address).context["rows"]]


def link(client: Client, address: str, rel: str) -> str | None:
    found = re.search(rf'rel="{rel}"\s+href="([^"]+)"', client.get(address).content.decode())
    return unescape(found.group(1)) if found else None


def owned_by(project: Project, agent_id: str, owner_id: object) -> None:
    AgentOwner.objects.create(project=project, agent_id=agent_id, owner_kind="user", owner_id=str(owner_id))


def run_each(project: Project, agent_ids: list[str]) -> None:
    Run.objects.bulk_create(RunFactory.build(project=project, subject_id=agent_id) for agent_id in agent_ids)


def test_a_row_says_what_is_live_who_owns_it_and_what_stands_said(
    reviewer_client: Client, reviewer: Person, project: Project
):
    run_each(project, ["support"] * 3)
    LiveVersion.objects.create(project=project, agent_id="support", pinned="1.4.0", latest="1.5.0")
    owned_by(project, "support", reviewer.id)
    for status, count in {Status.OPEN: 1, Status.BEING_FIXED: 2, Status.WITH_OWNER: 3, Status.FIXED: 4}.items():
        for _number in range(count):
            correction_in(project, status, SortedTo.IMPROVE)
    correction_in(project, Status.FIXED, **FIXED | {"fixed_how": "recorded-right", "fixed_version": ""})
    correction_in(project, Status.REMOVED)
    correction_in(project, Status.WONT_FIX)
    correction_in(ProjectFactory(workspace=project.workspace), Status.OPEN)

    response = reviewer_client.get("/agents/")

    row = f"support Default 1.4.0 pinned {reviewer.username} 1 2 being fixed 3 4"
    assert row in text_of(response.content.decode())
    html = response.content.decode()
    assert f'href="/agents/{project.id}/support/"' in html
    for query in ("desk=with-owner", "desk=all&amp;status=open", "desk=fixed"):
        assert f'href="/corrections/?{query}&amp;subject=support&amp;project={project.id}"' in html


@pytest.mark.parametrize(("count", "told"), [(999, "999"), (1000, "1,000"), (1001, "1,000+"), (1002, "1,000+")])
def test_many_are_counted_to_a_thousand(reviewer_client: Client, project: Project, count: int, told: str):
    run_each(project, ["support"])
    copies = [RunCopyFactory.build(project=project, workspace=project.workspace) for _number in range(count)]
    RunCopy.objects.bulk_create(copies)
    Correction.objects.bulk_create(CorrectionFactory.build(copy=copy) for copy in copies)

    assert f"nobody {told} 0 0" in text_of(reviewer_client.get("/agents/").content.decode())


def test_a_row_of_an_agent_of_which_nothing_is_known(reviewer_client: Client, project: Project):
    run_each(project, ["support"])

    assert "support Default nobody has said nobody 0 0 0" in text_of(reviewer_client.get("/agents/").content.decode())


def test_every_agent_that_ran_or_was_set_up_is_listed_once(reviewer_client: Client, project: Project, loop: Loop):
    run_each(project, ["ran", "ran", "all"])
    FlowRunFactory(project=project)
    owned_by(project, "all", "somebody")
    owned_by(project, "owned", "somebody")
    LiveVersion.objects.create(project=project, agent_id="all", latest="1.0.0")
    LiveVersion.objects.create(project=project, agent_id="live", latest="1.0.0")
    for agent_id in ("all", "tested", "tested"):
        loop.ask("POST", f"/v1/projects/{project.id}/agents/{agent_id}/test-set/cases/from-draft",
                 {"query": "Where?", "expectedOutput": "Here.", "agentVersion": "1.0.0"}, status=201)  # fmt: skip
    assert HandCase.objects.count() == 3

    assert agents_at(reviewer_client) == [(name, "Default") for name in ("all", "live", "owned", "ran", "tested")]


def test_only_agents_of_projects_one_may_read(client: Client, project: Project):
    beside = ProjectFactory(workspace=project.workspace, name="Beside")
    for place in (project, beside, ProjectFactory()):
        run_each(place, ["ran"])
        owned_by(place, "owned", "somebody")
        LiveVersion.objects.create(project=place, agent_id="live", latest="1.0.0")

    client.force_login(person_with(beside, Role.VIEWER))
    assert agents_at(client) == [("live", "Beside"), ("owned", "Beside"), ("ran", "Beside")]
    client.force_login(person_with(project, None, is_admin=True))
    assert len(agents_at(client)) == 6
    client.force_login(person_with(project, None))
    assert agents_at(client) == []


def test_links_lead_through_every_page_and_back(client: Client, project: Project):
    beside = ProjectFactory(workspace=project.workspace, name="Beside")
    names = [f"m{number:02}" for number in range(48)] + AWKWARD
    run_each(project, names)
    run_each(beside, names)
    client.force_login(person_with(project, None, is_admin=True))

    second = link(client, "/agents/", "next")
    third = link(client, second, "next")
    pages = [agents_at(client, address) for address in ("/agents/", second, third)]

    assert [len(page) for page in pages] == [50, 50, 10]
    listed = [row for page in pages for row in page]
    assert sorted(listed) == sorted((name, place.name) for name in names for place in (project, beside))
    assert [name for name, _project in listed][::2] == [name for name, _project in listed][1::2]
    assert (link(client, "/agents/", "prev"), link(client, third, "next")) == (None, None)
    back = link(client, third, "prev")
    assert agents_at(client, back) == pages[1]
    assert agents_at(client, link(client, back, "prev")) == pages[0]


def test_page_and_fragment(reviewer_client: Client, project: Project):
    run_each(project, ["support"])

    page = reviewer_client.get("/agents/")
    fragment = reviewer_client.get("/agents/", headers=HTMX)

    assert page.templates[0].name == "testsets/agent_list.html"
    assert fragment.templates[0].name == "testsets/_agent_table.html"
    assert root_of(fragment.content.decode()) == "agent-table"
    assert set(fragment["Vary"].split(", ")) >= VARY


def test_the_list_is_one_link_away(reviewer_client: Client, project: Project):
    for address in ("/runs/", "/test-sets/", f"/agents/{project.id}/support/"):
        assert 'href="/agents/"' in reviewer_client.get(address).content.decode()


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("", "No agents yet."),
        ("?after=zzz_5f1c4c9e-0000-4000-8000-000000000000", "No more in this direction."),
        ("?before=%00_5f1c4c9e-0000-4000-8000-000000000000", "No more in this direction."),
    ],
)
def test_an_empty_list_says_why(reviewer_client: Client, project: Project, query: str, words: str):
    assert words in text_of(reviewer_client.get(f"/agents/{query}").content.decode())


def test_an_agent_of_more_lines_than_one_has_its_page_too(reviewer_client: Client, project: Project):
    run_each(project, ["sup\nport"])

    assert agents_at(reviewer_client) == [("sup\nport", "Default")]
    page = f"/agents/{project.id}/sup%0Aport/"
    assert f'href="{page}"' in reviewer_client.get("/agents/").content.decode()
    assert reviewer_client.get(page).context["agent_id"] == "sup\nport"


def test_hostile_words_stay_words(reviewer_client: Client, project: Project):
    run_each(project, [HOSTILE])
    owned_by(project, HOSTILE, HOSTILE)

    html = reviewer_client.get("/agents/").content.decode()

    assert HOSTILE not in html
    assert "&lt;script&gt;alert(1)" in html


@pytest.mark.parametrize("count", [1, 3])
def test_statements_do_not_grow_with_the_rows(
    reviewer_client: Client, reviewer: Person, project: Project, django_assert_num_queries, count: int
):
    for number in range(count):
        run_each(project, [f"agent-{number}"] * 2)
        owned_by(project, f"agent-{number}", reviewer.id)
        correction_in(project, Status.OPEN, subject_id=f"agent-{number}")

    with django_assert_num_queries(8):
        assert len(agents_at(reviewer_client)) == count
