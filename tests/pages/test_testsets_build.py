"""Building a test set: the form, its live preview, and what is built."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from kindgi_site import clock
from kindgi_site.callers import Role
from kindgi_site.exact_json import JsonText
from kindgi_site.workspaces.models import Person, Project
from tests.factories import (
    CorrectionFactory,
    CorrectorGroupFactory,
    ProjectFactory,
    RunCopyFactory,
    crowd,
    person_with,
)
from tests.pages.conftest import HTMX, root_of, text_of
from testsets.models import TestSet, TestSetVersion
from testsets.queries.previews import Preview

BUILD = "/test-sets/build/"


@pytest.fixture
def admin_client(admin: Person, client: Client) -> Client:
    client.force_login(admin)
    return client


def asked(project: Project, /, **said: object) -> dict[str, object]:
    plain = {"project": project.id, "kind": "agent", "subject": "support", "min_corrections": 1, "segments": ""}
    return plain | said


def kept(project: Project, /, **said: object) -> dict[str, object]:
    return asked(project, set_name="mine", version="1.0.0", description="") | said


def preview(client: Client, project: Project, **said: object) -> Preview:
    response = client.get(BUILD, asked(project, **said), headers=HTMX)
    assert response.status_code == 200
    assert root_of(response.content.decode()) == "build-preview"
    found: Preview = response.context["preview"]
    return found


def test_before_anything_is_named_it_says_so(admin_client: Client, project: Project):
    page = text_of(admin_client.get(BUILD).content.decode())

    assert "Name an agent or a flow to see how many cases there would be." in page


def test_preview_says_how_many_and_why_others_are_left_out(admin_client: Client, project: Project):
    now = clock.now()
    group = CorrectorGroupFactory(workspace=project.workspace)
    segments = JsonText.of([{"key": "desk", "value": "west"}])
    for copy in (
        {"segments": segments},
        {"segments": segments, "is_replay": True},
        {"segments": segments, "erased_at": now},
        {"segments": segments, "subject_version": "2.0.0"},
        {"segments": segments, "captured_at": now - timedelta(days=9)},
        {"segments": JsonText.of([{"key": "desk", "value": "east"}])},
        {},
    ):
        CorrectionFactory(copy=RunCopyFactory(project=project, **copy), group=group)
    CorrectionFactory(copy=RunCopyFactory(project=project, segments=segments))
    CorrectionFactory(copy=RunCopyFactory(project=project, segments=segments), group=group, removed=True)
    CorrectionFactory(copy=RunCopyFactory(project=project, subject_id="other"), group=group)

    found = preview(
        admin_client,
        project,
        subject_version="1.2.0",
        since=f"{now - timedelta(days=2):%Y-%m-%d}",
        groups=[group.id],
        segments="desk = west\n",
    )

    assert found == Preview(
        corrected=8,
        cases=1,
        replays=1,
        erased=1,
        other_versions=1,
        other_times=1,
        too_few=1,
        other_segments=2,
        over_the_cap=0,
    )
    assert found.left_out == 7


def test_a_day_is_one_of_the_sites_time_zone(settings, admin_client: Client, project: Project):
    settings.TIME_ZONE = "Pacific/Auckland"  # thirteen hours ahead in November
    for captured in (datetime(2026, 11, 2, 10, 59, tzinfo=UTC), datetime(2026, 11, 2, 11, tzinfo=UTC)):
        CorrectionFactory(copy=RunCopyFactory(project=project, captured_at=captured))

    assert preview(admin_client, project, since="2026-11-03").other_times == 1
    assert preview(admin_client, project, until="2026-11-02").other_times == 1
    assert preview(admin_client, project, since="2026-11-02", until="2026-11-03").other_times == 0


def test_building_takes_in_what_the_preview_said(admin_client: Client, project: Project):
    crowd(project, 3)
    CorrectionFactory(copy=RunCopyFactory(project=project, subject_version="2.0.0"))
    said = {"subject_version": "1.2.0", "until": f"{datetime.now(UTC):%Y-%m-%d}"}

    promised = preview(admin_client, project, **said)
    response = admin_client.post(BUILD, kept(project, description="Why", **said))

    version = TestSetVersion.objects.get()
    assert (response.status_code, response["Location"]) == (302, "/test-sets/mine/1.0.0/")
    assert (version.cases.count(), promised.cases, promised.left_out) == (3, 3, 1)
    assert version.description == "Why"
    assert version.spec.value["query"]["agentVersion"] == "1.2.0"
    assert "Built with 3 cases." in text_of(admin_client.get(response["Location"]).content.decode())


def test_without_javascript_preview_is_the_whole_page(admin_client: Client, project: Project):
    crowd(project, 2)

    page = admin_client.get(BUILD, kept(project))

    assert page.templates[0].name == "testsets/test_set_build.html"
    html = page.content.decode()
    assert "2 cases, of 2 corrected runs" in text_of(html)
    assert 'value="mine"' in html


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"set_name": "-x"}, "Letters, digits, dots, hyphens and underscores"),
        ({"version": "1"}, "A version is three numbers such as 1.2.0"),
        ({"subject": ""}, "This field is required."),
        ({"min_corrections": 0}, "greater than or equal to 1"),
        ({"segments": "west"}, "Write each as name = value."),
        ({"segments": "Desk = west"}, "is not a segment key"),
        ({"kind": "flow", "subject_version": "1.2.0"}, "A version narrows an agent’s runs only."),
        ({"project": UUID(int=0)}, "Select a valid choice."),
        ({"until": "9999-12-31"}, "Ensure this value is less than or equal to 9999-12-30."),
        ({"set_name": "taken"}, "This version exists already."),
    ],
)
def test_what_is_wrong_stands_beside_the_form(
    admin_client: Client, project: Project, said: dict[str, object], words: str
):
    crowd(project, 1)
    admin_client.post(BUILD, kept(project, set_name="taken"))

    refused = admin_client.post(BUILD, kept(project, **said))

    assert refused.status_code == 422
    assert words in text_of(refused.content.decode())
    assert [row.name for row in TestSet.objects.all()] == ["taken"]
    assert TestSetVersion.objects.count() == 1


def test_who_administers_no_project_cannot_build(client: Client, project: Project):
    client.force_login(person_with(project, Role.EDITOR))

    page = text_of(client.get(BUILD).content.decode())
    refused = client.post(BUILD, kept(project))

    assert "You cannot build test sets." in page
    assert refused.status_code == 422
    assert TestSetVersion.objects.count() == 0


def test_other_workspaces_projects_and_groups_are_not_offered(admin_client: Client, project: Project):
    other = ProjectFactory(name="Secret project")
    group = CorrectorGroupFactory(workspace=other.workspace, name="Secret group")

    page = admin_client.get(BUILD).content.decode()
    refused = admin_client.post(BUILD, kept(project, groups=[group.id]))

    assert "Secret" not in page
    assert refused.status_code == 422


def test_statements_do_not_grow(admin_client: Client, project: Project):
    counts = []
    for more in (1, 99):
        crowd(project, more)
        with CaptureQueriesContext(connection) as statements:
            admin_client.get(BUILD, asked(project))
        counts.append(len(statements))

    assert counts[0] == counts[1]
