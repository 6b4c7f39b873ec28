"""What every route of section 18 looks at first: the project's id, then the permission, then whether it exists."""

from uuid import UUID, uuid4

import pytest

from kindgi_site.callers import Role
from kindgi_site.workspaces.services.keys import store_key
from tests.api.expect import assert_refused, nothing_stored
from tests.factories import ProjectFactory, caller_of, person_with
from tests.queueing import finish_run, write_rule
from tests.wire import WireClient

RULES, QUEUE = "correcting-rules", "correcting-queue"
READS = (RULES, f"{RULES}/preview", f"{RULES}/<rule>", f"{RULES}/<rule>/versions", f"{RULES}/<rule>/results", QUEUE)
WRITES = (
    ("POST", RULES),
    ("PATCH", f"{RULES}/<rule>"),
    ("POST", f"{RULES}/<rule>/unregister"),
    ("POST", f"{QUEUE}/<run>/dismiss"),
    ("POST", f"{QUEUE}/<run>/reopen"),
)
ROUTES = [*(("GET", path) for path in READS), *WRITES]
NONSENSE = b"[1"


@pytest.fixture
def ids(caller, project):
    """A rule and a run in its queue."""
    rule, run = write_rule(caller, project), finish_run(caller, project)
    return {"<rule>": str(rule.rule_id), "<run>": str(run.run_id)}


def filled(path: str, ids: dict[str, str]) -> str:
    for name, value in ids.items():
        path = path.replace(name, value)
    return path


def denied(action: str, project_id: object) -> dict:
    reason = f"You need the {action} permission on this project."
    return {"action": action, "resource": {"type": "project", "id": str(project_id)}, "reason": reason}


@pytest.mark.parametrize("method_path", ROUTES, ids=" ".join)
@pytest.mark.parametrize("project_id", ["x", "0" * 32, f"{UUID(int=1)}0"])
def test_a_project_is_named_by_a_uuid(api_client, ids, method_path, project_id):
    method, path = method_path
    with nothing_stored():
        response = api_client.request(method, f"/v1/projects/{project_id}/{filled(path, ids)}", NONSENSE)

    assert_refused(response, 400, "bad-input", field="projectId")


@pytest.mark.parametrize("method_path", ROUTES, ids=" ".join)
def test_who_is_no_member_is_refused_whether_or_not_it_exists(project, ids, method_path):
    elsewhere = ProjectFactory(workspace=project.workspace)
    stranger = WireClient(store_key(workspace=project.workspace, principal=person_with(elsewhere))[1])
    method, path = method_path
    action = "read" if method == "GET" else "write"
    for project_id in (project.id, uuid4()):
        with nothing_stored():
            response = stranger.request(method, f"/v1/projects/{project_id}/{filled(path, ids)}", NONSENSE)

        assert_refused(response, 403, "permission-denied", **denied(action, project_id))


@pytest.mark.parametrize("method_path", WRITES, ids=" ".join)
def test_readers_write_nothing(viewer_client, project, ids, method_path):
    method, path = method_path
    with nothing_stored():
        response = viewer_client.request(method, f"/v1/projects/{project.id}/{filled(path, ids)}", NONSENSE)

    assert_refused(response, 403, "permission-denied", **denied("write", project.id))


@pytest.mark.parametrize("path", READS)
def test_readers_read(viewer_client, project, ids, path):
    assert viewer_client.get(f"/v1/projects/{project.id}/{filled(path, ids)}").status_code == 200


@pytest.mark.parametrize("method_path", ROUTES, ids=" ".join)
def test_an_unknown_project_and_one_of_another_workspace_are_not_there(project, ids, method_path):
    admin = person_with(project, Role.ADMIN, is_admin=True)
    client = WireClient(store_key(workspace=project.workspace, principal=admin)[1])
    method, path = method_path
    for project_id in (uuid4(), ProjectFactory().id):
        with nothing_stored():
            response = client.request(method, f"/v1/projects/{project_id}/{filled(path, ids)}", NONSENSE)

        assert_refused(response, 404, "project-not-found", projectId=str(project_id))


@pytest.mark.parametrize("method_path", ROUTES, ids=" ".join)
def test_without_a_key_there_is_nothing(project, ids, method_path):
    method, path = method_path
    with nothing_stored():
        response = WireClient(None).request(method, f"/v1/projects/{project.id}/{filled(path, ids)}", NONSENSE)

    assert_refused(response, 401, "auth-missing")


@pytest.mark.parametrize("method_path", ROUTES, ids=" ".join)
def test_a_key_of_another_project_is_refused_at_the_door(workspace, reviewer, project, ids, method_path):
    other = ProjectFactory(workspace=workspace)
    client = WireClient(store_key(workspace=workspace, principal=reviewer, project=other)[1])
    method, path = method_path
    with nothing_stored():
        response = client.request(method, f"/v1/projects/{project.id}/{filled(path, ids)}", b"{}")

    assert (response.status_code, response.json()["error"]["code"]) == (403, "key-project-mismatch")


@pytest.mark.parametrize(
    "method_path",
    [
        ("GET", f"{RULES}/<id>"),
        ("GET", f"{RULES}/<id>/versions"),
        ("GET", f"{RULES}/<id>/results"),
        ("PATCH", f"{RULES}/<id>"),
        ("POST", f"{RULES}/<id>/unregister"),
    ],
    ids=" ".join,
)
def test_a_rule_that_is_not_in_the_project_is_not_there(api_client, caller, reviewer, project, ids, method_path):
    theirs = ProjectFactory(workspace=project.workspace)
    elsewhere = write_rule(caller_of(person_with(theirs)), theirs)
    method, path = method_path
    for rule_id in (str(uuid4()), "x", str(elsewhere.rule_id)):
        with nothing_stored():
            response = api_client.request(method, f"/v1/projects/{project.id}/{path.replace('<id>', rule_id)}", b"{}")

        assert_refused(response, 404, "correcting-rule-not-found", ruleId=rule_id)
