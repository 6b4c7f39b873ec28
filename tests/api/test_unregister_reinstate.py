"""`POST …/versions/{version}/unregister` and `…/reinstate` (contract 14.2)."""

import pytest

from kindgi_site import clock
from tests.api.expect import assert_refused, nothing_stored
from tests.api.set_bodies import PATH, publish, set_record
from tests.factories import ProjectFactory
from tests.loop import Loop
from testsets.models import TestSetVersion

ONE = f"{PATH}/basics/versions/1.0.0"
NAMED = {"testSetId": "basics", "version": "1.0.0"}
BOTH = pytest.mark.parametrize("verb", ["unregister", "reinstate"])


def test_unregister(loop):
    publish(loop)

    response = loop.client.post(f"{ONE}/unregister")

    assert (response.status_code, response.json()) == (200, NAMED | {"unregistered": True})
    at = clock.wire_time(TestSetVersion.objects.get().unregistered_at)
    assert loop.ask("GET", ONE) == set_record(loop, unregisteredAt=at)


def test_unregistering_again_is_not_found(loop):
    publish(loop)
    loop.ask("POST", f"{ONE}/unregister")

    with nothing_stored():
        assert_refused(loop.client.post(f"{ONE}/unregister"), 404, "test-set-not-found", **NAMED)


def test_reinstated_it_is_as_it_was(loop):
    publish(loop)
    before = loop.client.get(ONE).content
    loop.ask("POST", f"{ONE}/unregister")

    response = loop.client.post(f"{ONE}/reinstate")

    assert (response.status_code, response.json()) == (200, NAMED | {"wasTombstoned": True})
    assert loop.client.get(ONE).content == before
    assert loop.ask("GET", f"{PATH}/basics") == set_record(loop)


def test_reinstating_what_is_in_use_changes_nothing(loop):
    publish(loop)

    with nothing_stored():
        response = loop.client.post(f"{ONE}/reinstate")

    assert (response.status_code, response.json()) == (200, NAMED | {"wasTombstoned": False})


@BOTH
def test_unknown(loop, verb):
    with nothing_stored():
        assert_refused(loop.client.post(f"{ONE}/{verb}"), 404, "test-set-not-found", **NAMED)


@BOTH
def test_an_editor_may_read_and_so_is_told_that_they_may_not(loop, api_client, verb):
    publish(loop)
    reason = "You need the admin permission on this project."
    resource = {"type": "project", "id": str(loop.project.id)}

    with nothing_stored():
        response = api_client.post(f"{ONE}/{verb}")

    assert_refused(response, 403, "permission-denied", action="admin", resource=resource, reason=reason)


@BOTH
def test_of_a_project_that_the_caller_cannot_read(loop, root_client, verb):
    publish(Loop(root_client, ProjectFactory(workspace=loop.project.workspace)))

    with nothing_stored():
        assert_refused(loop.client.post(f"{ONE}/{verb}"), 404, "test-set-not-found", **NAMED)


def test_cases_of_an_unregistered_version_stay_and_are_the_same_bytes_after_it_is_back(loop):
    loop.correct()
    name = loop.freeze()
    path = f"{PATH}/{name}/versions/1.0.0"
    before = loop.client.get(f"{path}/cases").content

    loop.ask("POST", f"{path}/unregister")
    between = loop.client.get(f"{path}/cases").content
    loop.ask("POST", f"{path}/reinstate")

    assert before == between == loop.client.get(f"{path}/cases").content
    assert b'"caseId"' in before
