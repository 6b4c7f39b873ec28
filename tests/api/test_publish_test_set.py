"""`POST /v1/test-sets` (contract 14.1, 14.2)."""

import pytest

from kindgi_site.callers import Role
from kindgi_site.workspaces.services.keys import store_key
from tests.api.expect import assert_refused, nothing_stored
from tests.api.set_bodies import PATH, publish, set_body, set_record, unregister
from tests.at_once import at_once
from tests.factories import ProjectFactory, person_with
from tests.loop import Loop
from tests.wire import WireClient
from testsets.models import TestSet, TestSetVersion

KINDS = ["accuracy", "pairwise", "regression", "human-review", "benchmark", "custom"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_set_of_each_kind_but_corrections(loop, kind):
    body = set_body(loop, kind=kind, description="The basics.", tenantId=str(loop.project.workspace_id))

    response = loop.client.post(PATH, body)

    assert (response.status_code, response.json()) == (201, {"testSetId": "basics", "version": "1.0.0"})
    assert loop.ask("GET", f"{PATH}/basics") == set_record(loop, kind=kind, description="The basics.")


def test_the_spec_comes_back_as_it_was_sent(loop):
    spec = '{"b":1.0,"a":12345678901234567890,"c":"\\u0000"}'
    body = f'{{"projectId":"{loop.project.id}","id":"basics","version":"1.0.0","kind":"custom","spec":{spec}}}'

    assert loop.client.post(PATH, body).status_code == 201

    assert f'"spec":{spec}' in loop.client.get(f"{PATH}/basics").content.decode()


def issues_of(loop, **wrong):
    with nothing_stored():
        response = loop.client.post(PATH, set_body(loop, **wrong))
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (400, "validation-failed")
    assert all(issue["message"] for issue in error["details"]["issues"])
    return [issue["path"] for issue in error["details"]["issues"]]


@pytest.mark.parametrize(
    ("wrong", "paths"),
    [
        pytest.param({"name": ""}, ["id"], id="id empty"),
        pytest.param({"name": "  "}, ["id"], id="id blank"),
        pytest.param({"name": 7}, ["id"], id="id no text"),
        pytest.param({"version": "1.0"}, ["version"], id="two numbers"),
        pytest.param({"version": "1.02.0"}, ["version"], id="leading zero"),
        pytest.param({"version": "1.0.0-rc"}, ["version"], id="with a suffix"),
        pytest.param({"version": "v1.0.0"}, ["version"], id="with a letter"),
        pytest.param({"version": "1.0.0\n"}, ["version"], id="with a line end"),
        pytest.param({"version": "1.0.\u0661"}, ["version"], id="digits of another script"),
        pytest.param({"version": f"1.0.{2**63}"}, ["version"], id="too large to be ordered"),
        pytest.param({"version": 1}, ["version"], id="version no text"),
        pytest.param({"kind": "corrections"}, ["kind"], id="kind corrections is built, not published"),
        pytest.param({"kind": "other"}, ["kind"], id="kind unknown"),
        pytest.param({"kind": ["custom"]}, ["kind"], id="kind no text"),
        pytest.param({"tenantId": "another"}, ["tenantId"], id="another workspace"),
        pytest.param({"spec": []}, ["spec"], id="spec no object"),
        pytest.param({"description": 7}, ["description"], id="description no text"),
        pytest.param({"description": "\0"}, ["description"], id="description that cannot be stored"),
        pytest.param(
            {"name": "", "version": "1", "kind": "x", "tenantId": "y", "spec": 1, "description": []},
            ["id", "version", "kind", "tenantId", "spec", "description"],
            id="all at once",
        ),
    ],
)
def test_problems_of_the_shape_are_told_all_at_once(loop, wrong, paths):
    assert issues_of(loop, **wrong) == paths


def test_required_fields_that_are_missing(loop):
    with nothing_stored():
        response = loop.client.post(PATH, {"projectId": str(loop.project.id)})

    paths = [issue["path"] for issue in response.json()["error"]["details"]["issues"]]
    assert (response.status_code, paths) == (400, ["id", "version", "kind", "spec"])


@pytest.mark.parametrize("name", [".hidden", "-x", "_x", "a b", "a/b", "é", "a" * 201, "a\n"])
def test_an_id_outside_the_pattern(loop, name):
    with nothing_stored():
        assert_refused(loop.client.post(PATH, set_body(loop, name)), 400, "bad-input", field="testSetId")


@pytest.mark.parametrize("name", ["a", "7", "A.b-c_d", "a" * 200])
def test_an_id_inside_the_pattern(loop, name):
    publish(loop, name)

    assert loop.ask("GET", f"{PATH}/{name}") == set_record(loop, name)


def test_order_of_refusals(loop, viewer_client):
    """Each refusal beats those below it."""
    other = ProjectFactory()
    publish(loop)

    with nothing_stored():
        assert_refused(viewer_client.post(PATH, b"[]"), 400, "bad-input")
        assert_refused(viewer_client.post(PATH, b"{"), 400, "bad-input")
        assert_refused(viewer_client.post(PATH, {"projectId": "x", "no": 1}), 400, "bad-input", field="projectId")
        unknown = {"projectId": str(other.id), "no": 1}
        assert_refused(viewer_client.post(PATH, unknown), 404, "project-not-found", projectId=str(other.id))
        assert_refused(viewer_client.post(PATH, {"no": 1}), 400, "unknown-field", fields=["no"])
        assert_refused(viewer_client.post(PATH, {"id": 7}), 400, "bad-input", field="projectId")
        denied = viewer_client.post(PATH, set_body(loop, version="x"))
        assert (denied.status_code, denied.json()["error"]["code"]) == (403, "permission-denied")
        assert issues_of(loop, version="x") == ["version"]
        assert_refused(
            loop.client.post(PATH, set_body(loop)),
            409,
            "test-set-already-registered",
            testSetId="basics",
            version="1.0.0",
        )


def test_an_editor_may_not(loop, api_client):
    reason = "You need the admin permission on this project."
    resource = {"type": "project", "id": str(loop.project.id)}

    with nothing_stored():
        response = api_client.post(PATH, set_body(loop))

    assert_refused(response, 403, "permission-denied", action="admin", resource=resource, reason=reason)


def test_an_id_belongs_to_its_first_project_even_when_all_is_unregistered(loop, root_client):
    other = ProjectFactory(workspace=loop.project.workspace)
    publish(loop)
    unregister(loop)

    with nothing_stored():
        response = root_client.post(PATH, set_body(loop, version="2.0.0", projectId=str(other.id)))

    assert_refused(response, 409, "test-set-project-mismatch", testSetId="basics")


def test_a_project_mismatch_is_told_before_the_version(loop, root_client):
    other = ProjectFactory(workspace=loop.project.workspace)
    publish(loop)

    response = root_client.post(PATH, set_body(loop, projectId=str(other.id)))

    assert_refused(response, 409, "test-set-project-mismatch", testSetId="basics")


def test_an_unregistered_version_is_registered_already(loop):
    publish(loop)
    unregister(loop)

    with nothing_stored():
        response = loop.client.post(PATH, set_body(loop, spec={"b": 2}))

    details = {"testSetId": "basics", "version": "1.0.0"}
    assert_refused(response, 409, "test-set-already-registered", **details)


def test_another_workspace_has_the_same_id_for_itself(loop, db):
    publish(loop)
    project = ProjectFactory(default=True)
    key = store_key(workspace=project.workspace, principal=person_with(project, Role.ADMIN))[1]
    foreign = Loop(WireClient(key), project)

    publish(foreign)

    assert foreign.ask("GET", f"{PATH}/basics") == set_record(foreign)
    assert TestSet.objects.filter(name="basics").count() == 2


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_known", [False, True], ids=["a new id", "a known id"])
def test_two_who_publish_one_version_at_once(loop, is_known):
    if is_known:
        publish(loop, version="0.1.0")
    key = loop.client.key

    def publishing(number):
        return lambda: WireClient(key).post(PATH, set_body(loop, spec={"by": number})).status_code

    statuses = at_once([publishing(number) for number in range(2)])

    assert sorted(statuses) == [201, 409]
    stored = TestSetVersion.objects.get(version="1.0.0")
    assert stored.spec.value["by"].whole() == statuses.index(201)
    assert TestSet.objects.count() == 1
