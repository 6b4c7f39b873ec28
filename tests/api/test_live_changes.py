"""POST and GET …/live-changes, GET …/live (contract 16.1, decisions 3 and 14)."""

from datetime import timedelta
from uuid import uuid4

import pytest

from kindgi_site import clock
from kindgi_site.callers import Role
from kindgi_site.workspaces.services.keys import store_key
from tests.api.expect import assert_refused, nothing_stored
from tests.factories import ProjectFactory, person_with
from tests.loop import Loop
from tests.wire import WireClient
from testsets.models import LiveChange, LiveVersion


@pytest.fixture
def path(loop):
    return f"{loop.base}/live-changes"


def state(loop):
    """What is live, as both routes that tell it say; None when nothing is."""
    response = loop.client.get(f"{loop.base}/live")
    told = loop.ask("GET", loop.base).get("live")
    if response.status_code == 404:
        assert told is None
        return None
    body = response.json()
    assert body == {"projectId": str(loop.project.id), "agentId": loop.agent} | told
    return body["version"], body["via"]


def test_the_first_pin_makes_a_version_live(loop, path, admin):
    response = loop.client.post(path, {"action": "pin", "version": "1.2.0", "reason": "It is better."})

    change = LiveChange.objects.get()
    record = {
        "id": str(change.id),
        "projectId": str(loop.project.id),
        "agentId": "support",
        "action": "pin",
        "how": "pin",
        "fromVersion": None,
        "toVersion": "1.2.0",
        "live": True,
        "requestedBy": {"kind": "user", "id": str(admin.id)},
        "reason": "It is better.",
        "createdAt": clock.wire_time(change.created_at),
    }
    assert (response.status_code, response.json()) == (201, record)
    assert loop.ask("GET", path) == {"data": [record], "hasMore": False}
    assert loop.ask("GET", f"{loop.base}/live") == {
        "projectId": str(loop.project.id),
        "agentId": "support",
        "version": "1.2.0",
        "via": "live",
        "since": record["createdAt"],
    }


def test_each_change_says_how_it_came_and_what_it_changed(loop):
    steps = [
        # action, version → how, from, to, whether the live version changed; what is live then
        ("latest", "1.1.0", "latest", None, "1.1.0", True, ("1.1.0", "latest")),
        ("pin", "1.1.0", "pin", "1.1.0", "1.1.0", False, ("1.1.0", "live")),
        ("latest", "1.2.0", "latest", "1.1.0", "1.1.0", False, ("1.1.0", "live")),
        ("pin", "1.3.0", "pin", "1.1.0", "1.3.0", True, ("1.3.0", "live")),
        ("pin", "1.3.0", "pin", "1.3.0", "1.3.0", False, ("1.3.0", "live")),
        ("pin", "1.0.0", "went-back", "1.3.0", "1.0.0", True, ("1.0.0", "live")),
        ("unpin", None, "unpin", "1.0.0", "1.2.0", True, ("1.2.0", "latest")),
        ("pin", "1.2.0-rc.1", "went-back", "1.2.0", "1.2.0-rc.1", True, ("1.2.0-rc.1", "live")),
        ("pin", "1.2.0", "pin", "1.2.0-rc.1", "1.2.0", True, ("1.2.0", "live")),
        ("pin", "1.10.0", "pin", "1.2.0", "1.10.0", True, ("1.10.0", "live")),
        ("unpin", None, "unpin", "1.10.0", "1.2.0", True, ("1.2.0", "latest")),
        ("latest", "1.1.0", "latest", "1.2.0", "1.1.0", True, ("1.1.0", "latest")),
    ]
    told = []
    for action, version, how, before, after, live, now in steps:
        change = loop.change(action, version)
        told.append(change["id"])
        assert (change["how"], change["fromVersion"], change["toVersion"], change["live"]) == (how, before, after, live)
        assert state(loop) == now

    first = loop.ask("GET", f"{loop.base}/live-changes?limit=7")
    rest = loop.ask("GET", f"{loop.base}/live-changes?limit=7&cursor={first['nextCursor']}")
    assert [row["id"] for row in first["data"] + rest["data"]] == told[::-1]
    assert (len(first["data"]), rest["hasMore"]) == (7, False)


def test_the_time_since_which_a_version_is_live_is_that_of_the_change_that_made_it_so(loop):
    pinned = loop.change("pin", "1.1.0")
    loop.change("pin", "1.1.0")
    loop.change("latest", "1.1.0")
    loop.change("unpin")

    assert loop.ask("GET", f"{loop.base}/live")["since"] == pinned["createdAt"]


def test_unpinning_what_has_no_latest_leaves_nothing_live(loop):
    loop.change("pin", "1.1.0")

    change = loop.change("unpin")

    assert (change["fromVersion"], change["toVersion"], change["live"]) == ("1.1.0", None, True)
    assert state(loop) is None
    assert_refused(loop.client.get(f"{loop.base}/live"), 404, "not-found", agentId="support")


def test_a_change_can_say_when_it_was(loop):
    assert loop.change("pin", "1.1.0", at="2026-03-01T10:30:00+01:00")["createdAt"] == "2026-03-01T09:30:00.000Z"


def test_one_agent_and_one_project_know_nothing_of_another(loop, admin):
    other = ProjectFactory(workspace=loop.project.workspace)
    elsewhere = Loop(loop.client, other)
    loop.change("pin", "1.1.0")

    assert state(Loop(loop.client, loop.project, "billing")) is None
    assert_refused(elsewhere.client.get(f"{elsewhere.base}/live"), 404, "project-not-found", projectId=str(other.id))


LATER = clock.wire_time(clock.now() + timedelta(days=1))


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        (b"", "bad-input", None),
        ([], "bad-input", None),
        ({"action": "pin", "version": "1.0.0", "how": "pin"}, "unknown-field", None),
        ({"version": "1.0.0"}, "bad-input", "action"),
        ({"action": "deploy", "version": "1.0.0"}, "bad-input", "action"),
        ({"action": "pin"}, "bad-input", "version"),
        ({"action": "latest"}, "bad-input", "version"),
        ({"action": "pin", "version": None}, "bad-input", "version"),
        ({"action": "pin", "version": "1.0"}, "bad-input", "version"),
        ({"action": "unpin", "version": "1.0.0"}, "bad-input", "version"),
        ({"action": "pin", "version": "1.0.0", "reason": "x" * 2001}, "bad-input", "reason"),
        ({"action": "pin", "version": "1.0.0", "at": "2026-03-01"}, "bad-input", "at"),
        ({"action": "pin", "version": "1.0.0", "at": LATER}, "bad-input", "at"),
        ({"action": "pin", "version": "1.0.0", "fixes": "all"}, "bad-input", "fixes"),
        ({"action": "pin", "version": "1.0.0", "fixes": ["x"] * 501}, "bad-input", "fixes"),
        ({"action": "pin", "version": "1.0.0", "fixes": ["no-correction"]}, "bad-input", "fixes"),
        ({"action": "pin", "version": "1.0.0", "fixes": [str(uuid4())]}, "bad-input", "fixes"),
    ],
)
def test_a_body_that_says_no_change_stores_nothing(loop, path, refusal, body, code, field):
    with nothing_stored():
        response = loop.client.post(path, body)

    details = {"fields": ["how"]} if code == "unknown-field" else field and {"field": field}
    assert (response.status_code, response.json()) == (400, refusal(response, code, details))


def test_unpinning_without_a_pin_is_refused(loop, path):
    loop.change("latest", "1.0.0")

    with nothing_stored():
        assert_refused(loop.client.post(path, {"action": "unpin"}), 409, "not-pinned")


PIN = {"action": "pin", "version": "1.0.0"}


def denied(project, action="admin"):
    reason = f"You need the {action} permission on this project."
    return {"action": action, "resource": {"type": "project", "id": str(project.id)}, "reason": reason}


def test_pinning_takes_admin_and_moving_latest_takes_write(path, project, api_client, viewer_client):
    with nothing_stored():
        assert_refused(api_client.post(path, PIN), 403, "permission-denied", **denied(project))
        assert_refused(api_client.post(path, {"action": "unpin"}), 403, "permission-denied", **denied(project))
        refused = viewer_client.post(path, {"action": "latest", "version": "1.0.0"})
        assert_refused(refused, 403, "permission-denied", **denied(project, "write"))

    assert api_client.post(path, {"action": "latest", "version": "1.0.0"}).status_code == 201
    assert viewer_client.get(path).status_code == 200


def test_an_unreadable_project_is_not_there_for_any_of_the_routes(project, workspace, foreign_client, path):
    outsider = WireClient(store_key(workspace=workspace, principal=person_with(project, None))[1])
    base = path.removesuffix("/live-changes")
    with nothing_stored():
        for client in (outsider, foreign_client):
            for response in (
                client.post(path, PIN),
                client.get(path),
                client.get(f"{base}/live"),
                client.get(base),
                client.put(f"{base}/owner", b"null"),
            ):
                assert_refused(response, 404, "project-not-found", projectId=str(project.id))


def test_refusals_come_in_their_order(loop, path, workspace, api_client, foreign_client):
    """Shape of the path, body, project, permission, state: each beats those behind it."""
    nowhere = f"/v1/projects/{uuid4()}/agents/support/live-changes"
    with nothing_stored():
        bad_path = api_client.post("/v1/projects/x/agents/support/live-changes", {"action": "nothing"})
        assert_refused(bad_path, 400, "bad-input", field="projectId")
        assert_refused(foreign_client.post(path, {"action": "nothing"}), 400, "bad-input", field="action")
        assert api_client.post(nowhere, {"action": "unpin"}).json()["error"]["code"] == "project-not-found"
        assert api_client.post(path, {"action": "unpin"}).json()["error"]["code"] == "permission-denied"
        unknown = api_client.post(path, PIN | {"fixes": [str(uuid4())]})
        assert unknown.json()["error"]["code"] == "permission-denied"


def test_a_fix_in_the_wrong_state_is_a_conflict_and_applies_nothing(loop, path):
    one, other = loop.correct(), loop.correct()
    loop.ask("POST", f"/v1/corrections/{other}/status", {"status": "wont-fix"})

    with nothing_stored():
        response = loop.client.post(path, PIN | {"fixes": [one, other]})

    said = {"from": "wont-fix", "to": "fixed", "correctionId": other}
    assert_refused(response, 409, "invalid-transition", **said)


def test_a_fix_that_is_removed_or_another_agents_or_projects_is_unknown(loop, path, admin):
    removed = loop.correct()
    loop.ask("POST", f"/v1/corrections/{removed}/unregister")
    other_project = ProjectFactory(workspace=loop.project.workspace)
    other_project.roles.create(person=admin, role=Role.ADMIN)
    elsewhere = Loop(loop.client, other_project).correct()
    of_billing = Loop(loop.client, loop.project, "billing").correct()

    for correction in (removed, of_billing, elsewhere):
        with nothing_stored():
            assert_refused(loop.client.post(path, PIN | {"fixes": [correction]}), 400, "bad-input", field="fixes")


def test_leaving_with_owner_takes_the_owner_guard_before_any_conflict(loop, path, api_client, project):
    """`latest` takes only write, so the guard is what keeps an editor from deciding for the owner."""
    with_owner, wont_fix = loop.correct(), loop.correct()
    loop.ask("POST", f"/v1/corrections/{wont_fix}/status", {"status": "wont-fix"})
    latest = {"action": "latest", "version": "1.1.0"}

    with nothing_stored():
        refused = api_client.post(path, latest | {"fixes": [wont_fix, with_owner]})
    reason = "Only the agent's owner or an administrator of the project decides on this."
    assert_refused(refused, 403, "permission-denied", **(denied(project) | {"reason": reason}))


def test_the_recorded_owner_may_ship_what_is_with_them(loop, path, api_client, reviewer):
    correction = loop.correct()
    loop.ask("PUT", f"{loop.base}/owner", {"kind": "user", "id": str(reviewer.id)})

    response = api_client.post(path, {"action": "latest", "version": "1.1.0", "fixes": [correction]})

    assert response.status_code == 201
    assert loop.correction(correction)["status"] == "fixed"


def test_a_replay_of_a_change_changes_nothing(loop, path):
    first = loop.client.post(path, PIN, idempotency_key="k1")
    again = loop.client.post(path, PIN, idempotency_key="k1")

    assert (again.status_code, again.content) == (201, first.content)
    assert (LiveChange.objects.count(), LiveVersion.objects.count()) == (1, 1)


@pytest.mark.parametrize("agent", ["%00", "a" * 201])
def test_no_agent_has_such_an_id(loop, agent):
    base = f"/v1/projects/{loop.project.id}/agents/{agent}"

    answers = {
        "pin": loop.client.post(f"{base}/live-changes", {"action": "pin", "version": "1.2.0"}),
        "owner": loop.client.put(f"{base}/owner", {"kind": "user", "id": "u"}),
        "live": loop.client.get(f"{base}/live"),
        "changes": loop.client.get(f"{base}/live-changes"),
        "agent": loop.client.get(base),
    }

    assert {name: answer.status_code for name, answer in answers.items()} == {
        "pin": 400,
        "owner": 400,
        "live": 404,
        "changes": 200,
        "agent": 200,
    }
    assert not LiveChange.objects.exists()
