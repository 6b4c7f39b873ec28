"""Where `manage.py grade` grades: in this server's database, or at another server over /v1."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

import httpx
import orjson

from kindgi_site.api.documents import read_document
from kindgi_site.api.rendering import wire_bytes
from kindgi_site.callers import Caller
from kindgi_site.errors import DomainError
from testsets.api.test_runs import outputs_said, run_said, with_result
from testsets.filters import TestRunFilter
from testsets.queries.test_runs import test_run_readable_by, test_runs_readable_by
from testsets.services.test_runs import complete_test_run, start_test_run, submit_outputs

Wire = dict[str, Any]


class GraderError(Exception):
    """The other side refused, in its own words."""


class Grader(Protocol):
    """The five things a grading needs; each speaks the wire's JSON."""

    def start(self, set_name: str, body: Wire) -> str: ...

    def submit(self, run_id: str, entries: Sequence[bytes]) -> str:
        """The status of the run afterwards."""
        ...

    def complete(self, run_id: str) -> None: ...

    def fetch(self, run_id: str) -> Wire: ...

    def finished_runs(self, set_name: str, agent_id: str) -> Iterable[Wire]:
        """Records of completed runs of the agent, newest first; enough to find the previous version's."""
        ...


@dataclass
class LocalGrader:
    """Through the services, as an operator of the workspace."""

    caller: Caller

    def start(self, set_name: str, body: Wire) -> str:
        draft = run_said(read_document(orjson.dumps(body)))
        return str(self._told(lambda: start_test_run(caller=self.caller, set_name=set_name, draft=draft)).id)

    def submit(self, run_id: str, entries: Sequence[bytes]) -> str:
        document = read_document(b'{"outputs":[' + b",".join(entries) + b"]}")
        run, _accepted = self._told(
            lambda: submit_outputs(caller=self.caller, run_id=UUID(run_id), outputs=outputs_said(document))
        )
        return str(run.status)

    def complete(self, run_id: str) -> None:
        self._told(lambda: complete_test_run(caller=self.caller, run_id=UUID(run_id)))

    def fetch(self, run_id: str) -> Wire:
        answer: Wire = orjson.loads(wire_bytes(with_result(test_run_readable_by(self.caller, UUID(run_id)))))
        return answer

    def finished_runs(self, set_name: str, agent_id: str) -> Iterable[Wire]:
        asked = {"testSetId": set_name, "agentId": agent_id, "status": "completed"}
        runs = TestRunFilter(asked, test_runs_readable_by(self.caller)).narrowed()
        for run in runs[:100]:
            yield {"runId": str(run.id), "agentRef": {"version": run.subject_version}, "dryRun": run.dry_run}

    def _told(self, work: Any) -> Any:
        try:
            return work()
        except DomainError as refusal:
            raise GraderError(refusal.message) from refusal


class RemoteGrader:
    """Over HTTP, with an API key."""

    def __init__(self, url: str, key: str, *, timeout_seconds: float = 60.0) -> None:
        self._client = httpx.Client(
            base_url=url.rstrip("/"), headers={"Authorization": f"Bearer {key}"}, timeout=timeout_seconds
        )

    def start(self, set_name: str, body: Wire) -> str:
        return str(self._asked("POST", f"/v1/test-sets/{set_name}/runs", orjson.dumps(body))["runId"])

    def submit(self, run_id: str, entries: Sequence[bytes]) -> str:
        body = b'{"outputs":[' + b",".join(entries) + b"]}"
        return str(self._asked("POST", f"/v1/test-runs/{run_id}/outputs", body)["status"])

    def complete(self, run_id: str) -> None:
        self._asked("POST", f"/v1/test-runs/{run_id}/complete")

    def fetch(self, run_id: str) -> Wire:
        return self._asked("GET", f"/v1/test-runs/{run_id}")

    def finished_runs(self, set_name: str, agent_id: str) -> Iterable[Wire]:
        asked = {"testSetId": set_name, "agentId": agent_id, "status": "completed", "limit": "100"}
        runs: list[Wire] = self._asked("GET", f"/v1/test-runs?{httpx.QueryParams(asked)}")["data"]
        return runs

    def _asked(self, method: str, path: str, body: bytes = b"") -> Wire:
        try:
            response = self._client.request(method, path, content=body)
            answer: Wire = response.json()
        except (httpx.HTTPError, ValueError) as problem:
            raise GraderError(f"The server could not be asked: {type(problem).__name__}.") from problem
        if response.is_success:
            return answer
        error = answer.get("error", {})
        raise GraderError(f"{response.status_code} {error.get('code', '')}: {error.get('message', '')}")
