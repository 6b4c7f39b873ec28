"""The way round over /v1: runs corrected, an agent's set frozen, a version graded, a version shipped."""

import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

from kindgi_site.workspaces.models import Project
from tests.wire import WireClient
from testsets.models import TestRun

ANSWER = {"content": "It arrives on Monday."}
RIGHT_CALL = {"toolId": "find_order", "arguments": {"order": 7}}
WRONG_CALL = {"toolId": "find_order", "arguments": {"order": 8}}


class Loop:
    """Each step asks as a program would and fails when it is refused. `said` is what the last step answered."""

    def __init__(self, client: WireClient, project: Project, agent: str = "support") -> None:
        self.client, self.project, self.agent = client, project, agent
        self.base = f"/v1/projects/{project.id}/agents/{agent}"
        self.said: Any = None

    def ask(self, method: str, path: str, body: object = b"", *, status: int = 200) -> Any:
        response = self.client.request(method, path, body)
        assert response.status_code == status, (path, response.status_code, response.content)
        self.said = json.loads(response.content)
        return self.said

    def run(self, *, output: Any = ANSWER, calls: Any = (RIGHT_CALL,), **more: Any) -> str:
        """Hand a completed turn of version 1.0.0 in; its id."""
        run_id = str(uuid4())
        body = {
            "projectId": str(self.project.id),
            "agent": {"id": self.agent, "version": "1.0.0"},
            "status": "completed",
            "completedAt": "2026-03-01T09:30:00Z",
            "input": {"message": "Where is my order?"},
            "output": output,
            "calls": list(calls),
        }
        self.ask("PUT", f"/v1/runs/{run_id}", body | more, status=201)
        return run_id

    def correct(self, run_id: str | None = None, **said: Any) -> str:
        """Correct a run, a new one by default, as having called wrongly unless told otherwise; the correction's id."""
        said = said or {"decisions": "wrong", "shouldCall": [{"tool": "find_order", "args": {"order": 7}}]}
        body = {"runId": run_id or self.run(calls=[WRONG_CALL])} | said
        return str(self.ask("POST", "/v1/corrections", body, status=201)["id"])

    def correction(self, correction_id: str) -> dict[str, Any]:
        """The record, without its copy of the run."""
        found = dict(self.ask("GET", f"/v1/corrections/{correction_id}"))
        del found["run"]
        return found

    def freeze(self, version: str = "1.0.0") -> str:
        """Freeze the agent's set; the set's id."""
        return str(self.ask("POST", f"{self.base}/test-set/freeze", {"version": version}, status=201)["testSetId"])

    def build(self, version: str = "1.0.0", name: str = "built") -> None:
        """Build a version of a set from what is said of the agent's runs."""
        body = {"projectId": str(self.project.id), "agentId": self.agent, "version": version}
        self.ask("POST", f"/v1/test-sets/{name}/versions/from-corrections", body, status=201)

    def cases(self, version: str = "1.0.0", name: str = "support.corrections") -> list[dict[str, Any]]:
        return list(self.ask("GET", f"/v1/test-sets/{name}/versions/{version}/cases")["data"])

    def start(self, version: str = "1.1.0", **more: Any) -> str:
        """Start a test run of a version of the agent on the frozen set; its id."""
        body = {"projectId": str(self.project.id), "agentRef": {"agentId": self.agent, "version": version}} | more
        name = body.pop("testSetId", f"{self.agent}.corrections")
        return str(self.ask("POST", f"/v1/test-sets/{name}/runs", body, status=201)["runId"])

    def submit(self, run_id: str, *outputs: dict[str, Any]) -> dict[str, Any]:
        return dict(self.ask("POST", f"/v1/test-runs/{run_id}/outputs", {"outputs": list(outputs)}))

    def grade(self, version: str, calls: dict[str, Any], **more: Any) -> dict[str, Any]:
        """A whole test run in which each named case gave an answer and these calls, once; its record at the end."""
        run_id = self.start(version, **more)
        self.submit(run_id, *(output(case_id, made) for case_id, made in calls.items()))
        return dict(self.ask("GET", f"/v1/test-runs/{run_id}"))

    def change(self, action: str, version: str | None = None, **more: Any) -> dict[str, Any]:
        body = {"action": action} | ({"version": version} if version else {}) | more
        return dict(self.ask("POST", f"{self.base}/live-changes", body, status=201))

    def erase(self, run_id: str, admin: WireClient) -> None:
        response = admin.post(f"/v1/runs/{run_id}/erase")
        assert (response.status_code, response.json()["erased"]) == (200, True)


def graded_again(run_id: str, times: int) -> None:
    """As many test runs like a finished one, but for their cases, each a second later than the one before."""
    run = TestRun.objects.get(id=run_id)
    later = (run.started_at + timedelta(seconds=number) for number in range(1, times + 1))
    kept = {field.attname: getattr(run, field.attname) for field in TestRun._meta.concrete_fields if field.name != "id"}
    TestRun.objects.bulk_create([TestRun(**kept | {"started_at": at}) for at in later])


def output(case_id: str, calls: Any = (RIGHT_CALL,), **more: Any) -> dict[str, Any]:
    """One entry of what is handed in: an answer as it was recorded, and these calls."""
    return {"caseId": case_id, "output": ANSWER, "calls": list(calls)} | more
