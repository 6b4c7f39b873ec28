"""`GET /v1/test-sets/{id}`, `…/versions` and `…/versions/{version}` (contract 14.2)."""

from uuid import uuid4

import pytest

from tests.api.expect import assert_refused
from tests.api.set_bodies import PATH, publish, set_record, unregister
from tests.factories import ProjectFactory
from tests.loop import Loop

ONE = f"{PATH}/basics"
VERSIONS = f"{ONE}/versions"


@pytest.fixture
def three(loop):
    for version in ("1.9.0", "1.10.0", "0.1.0"):
        publish(loop, version=version)
    return loop


def versions(loop, query=""):
    return [row["version"] for row in loop.ask("GET", f"{VERSIONS}{query}")["data"]]


def test_the_latest_is_the_highest_by_number(three):
    assert three.ask("GET", ONE) == set_record(three, version="1.10.0")


def test_without_the_latest_the_next_highest_is(three):
    unregister(three, version="1.10.0")
    assert three.ask("GET", ONE) == set_record(three, version="1.9.0")

    publish(three, version="1.9.1")
    assert three.ask("GET", ONE) == set_record(three, version="1.9.1")


def test_gone_when_every_version_is_unregistered(three):
    for version in ("1.9.0", "1.10.0", "0.1.0"):
        unregister(three, version=version)

    assert_refused(three.client.get(ONE), 410, "test-set-gone", testSetId="basics")
    assert three.ask("GET", VERSIONS) == {"data": [], "hasMore": False}
    assert versions(three, "?includeTombstoned=true") == ["0.1.0", "1.9.0", "1.10.0"]


@pytest.mark.parametrize("name", ["nothing", "Basics", "%00"])
def test_unknown(three, name):
    shown = name.replace("%00", "\0")
    assert_refused(three.client.get(f"{PATH}/{name}"), 404, "test-set-not-found", testSetId=shown)
    assert_refused(three.client.get(f"{PATH}/{name}/versions"), 404, "test-set-not-found", testSetId=shown)


def test_of_a_project_that_must_be_its_own(three):
    own, other = three.project.id, ProjectFactory(workspace=three.project.workspace).id

    assert three.ask("GET", f"{ONE}?projectId={own}") == set_record(three, version="1.10.0")
    assert three.ask("GET", f"{ONE}?projectId=") == set_record(three, version="1.10.0")
    for project in (other, uuid4()):
        response = three.client.get(f"{ONE}?projectId={project}")
        assert_refused(response, 404, "test-set-not-found", testSetId="basics")
    assert_refused(three.client.get(f"{ONE}?projectId=x"), 400, "bad-input", field="projectId")


def test_what_the_caller_may_not_read_is_not_there(loop, root_client, foreign_client):
    publish(Loop(root_client, ProjectFactory(workspace=loop.project.workspace)))

    for client in (loop.client, foreign_client):
        assert_refused(client.get(ONE), 404, "test-set-not-found", testSetId="basics")
        assert_refused(client.get(VERSIONS), 404, "test-set-not-found", testSetId="basics")
        details = {"testSetId": "basics", "version": "1.0.0"}
        assert_refused(client.get(f"{VERSIONS}/1.0.0"), 404, "test-set-not-found", **details)
        assert_refused(client.get(f"{VERSIONS}/1.0.0/cases"), 404, "test-set-not-found", **details)


def test_a_viewer_reads(three, viewer_client):
    assert viewer_client.get(ONE).json() == set_record(three, version="1.10.0")


def test_versions_lowest_first_page_by_page(three):
    publish(three, version="10.0.0")
    first = three.ask("GET", f"{VERSIONS}?limit=3")
    second = three.ask("GET", f"{VERSIONS}?limit=3&cursor={first['nextCursor']}")

    assert first["data"] == [set_record(three, version=version) for version in ("0.1.0", "1.9.0", "1.10.0")]
    assert second == {"data": [set_record(three, version="10.0.0")], "hasMore": False}


@pytest.mark.parametrize("word", ["True", "1", "yes", "false", ""])
def test_only_the_text_true_includes_unregistered_versions(three, word):
    unregister(three, version="1.9.0")

    assert versions(three, f"?includeTombstoned={word}") == ["0.1.0", "1.10.0"]
    assert versions(three, "?includeTombstoned=true") == ["0.1.0", "1.9.0", "1.10.0"]


def test_one_version_an_unregistered_one_too(three):
    assert three.ask("GET", f"{VERSIONS}/1.9.0") == set_record(three, version="1.9.0")

    unregister(three, version="1.9.0")

    found = three.ask("GET", f"{VERSIONS}/1.9.0")
    assert found == set_record(three, version="1.9.0", unregisteredAt=found["unregisteredAt"])


@pytest.mark.parametrize("version", ["1.9.1", "1.9", "latest", "01.9.0", "%00", "v1.9.0", "1.9.0%20"])
def test_an_unknown_or_malformed_version(three, version):
    shown = version.replace("%00", "\0").replace("%20", " ")
    response = three.client.get(f"{VERSIONS}/{version}")
    assert_refused(response, 404, "test-set-not-found", testSetId="basics", version=shown)
