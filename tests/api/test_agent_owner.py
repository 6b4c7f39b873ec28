"""PUT …/agents/{agentId}/owner and GET …/agents/{agentId} (contract 16.4)."""

import pytest

from corrections.models import AgentOwner
from tests.api.expect import assert_refused, nothing_stored

OWNER = {"kind": "user", "id": "someone"}


def test_an_owner_is_recorded_replaced_and_taken_away(loop):
    agent = {"projectId": str(loop.project.id), "agentId": "support"}

    assert loop.ask("GET", loop.base) == agent
    assert loop.ask("PUT", f"{loop.base}/owner", OWNER) == agent | {"owner": OWNER}
    assert loop.ask("GET", loop.base) == agent | {"owner": OWNER}
    other = {"kind": "service", "id": "fixer"}
    assert loop.ask("PUT", f"{loop.base}/owner", other) == agent | {"owner": other}
    assert AgentOwner.objects.count() == 1
    assert loop.ask("PUT", f"{loop.base}/owner", b"null") == agent
    assert loop.ask("PUT", f"{loop.base}/owner", b"null") == agent
    assert (loop.ask("GET", loop.base), AgentOwner.objects.count()) == (agent, 0)


def test_the_agent_says_what_is_live_beside_its_owner(loop):
    loop.ask("PUT", f"{loop.base}/owner", OWNER)
    at = loop.change("latest", "2.0.0")["createdAt"]

    assert loop.ask("GET", loop.base) == {
        "projectId": str(loop.project.id),
        "agentId": "support",
        "owner": OWNER,
        "live": {"version": "2.0.0", "via": "latest", "since": at},
    }


def test_owning_an_agent_in_one_project_is_not_owning_another(loop):
    loop.ask("PUT", f"{loop.base}/owner", OWNER)

    billing = loop.base.replace("support", "billing")
    assert loop.ask("GET", billing) == {"projectId": str(loop.project.id), "agentId": "billing"}


@pytest.mark.parametrize(
    ("body", "code", "details"),
    [
        (b"", "bad-input", None),
        (b"nul", "bad-input", None),
        ([], "bad-input", None),
        ({}, "bad-input", {"field": "kind"}),
        ({"kind": "user"}, "bad-input", {"field": "id"}),
        ({"kind": "robot", "id": "x"}, "bad-input", {"field": "kind"}),
        ({"kind": "user", "id": " "}, "bad-input", {"field": "id"}),
        ({"kind": "user", "id": 7}, "bad-input", {"field": "id"}),
        ({"kind": "user", "id": "x" * 101}, "bad-input", {"field": "id"}),
        (OWNER | {"name": "x"}, "unknown-field", {"fields": ["name"]}),
    ],
)
def test_a_body_that_names_no_owner_stores_nothing(loop, refusal, body, code, details):
    loop.ask("PUT", f"{loop.base}/owner", OWNER)

    with nothing_stored():
        response = loop.client.put(f"{loop.base}/owner", body)

    assert (response.status_code, response.json()) == (400, refusal(response, code, details))


def test_only_an_administrator_says_who_owns_an_agent(loop, api_client):
    reason = "You need the admin permission on this project."
    resource = {"type": "project", "id": str(loop.project.id)}
    with nothing_stored():
        response = api_client.put(f"{loop.base}/owner", OWNER)

    assert_refused(response, 403, "permission-denied", action="admin", resource=resource, reason=reason)
    assert api_client.get(loop.base).status_code == 200


def test_the_project_must_be_a_uuid(loop):
    assert_refused(loop.client.get("/v1/projects/x/agents/support"), 400, "bad-input", field="projectId")
    assert_refused(loop.client.put("/v1/projects/x/agents/support/owner", OWNER), 400, "bad-input", field="projectId")
