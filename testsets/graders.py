"""Where `manage.py grade` grades: in this server's database, or at another server over /v1."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar
from urllib.parse import quote
from uuid import UUID

import httpx

from kindgi_site import exact_json
from kindgi_site.api.documents import read_document
from kindgi_site.api.rendering import wire_bytes
from kindgi_site.callers import Caller
from kindgi_site.errors import Code, DomainError
from kindgi_site.keys import new_id
from testsets.api.test_runs import outputs_said, record, run_said, with_result
from testsets.drafts import OutputDraft
from testsets.filters import TestRunFilter
from testsets.patience import asked_patiently
from testsets.queries.test_runs import test_run_readable_by, test_runs_readable_by
from testsets.services.test_runs import (
    cancel_test_run,
    complete_test_run,
    judge_outputs,
    start_test_run,
    submit_outputs,
)

Wire = dict[str, Any]

# Longer than a server's judge may take for the answers of one request.
ANSWER_SECONDS = 60.0
RETRIES = 5
PATIENCE_SECONDS = 300


class GraderError(Exception):
    """The other side refused, in its own words."""


class Grader(Protocol):
    """What a grading needs; all of it speaks the wire's JSON."""

    def start(self, set_name: str, body: Wire) -> str: ...

    def submit(self, run_id: str, entries: Sequence[bytes]) -> str:
        """The status of the run afterwards."""
        ...

    def complete(self, run_id: str) -> None: ...

    def cancel(self, run_id: str, reason: str) -> None: ...

    def fetch(self, run_id: str) -> Wire: ...

    def finished_runs(self, set_name: str, subject: Mapping[str, str]) -> Iterable[Wire]:
        """Records of completed runs of an `agentId` or a `flowId`, newest first; enough to find the previous one."""
        ...

    def close(self) -> None: ...


@dataclass
class LocalGrader:
    """Through the services, as an operator of the workspace."""

    caller: Caller

    def start(self, set_name: str, body: Wire) -> str:
        document = read_document(_bytes(body))
        run = _told(lambda: start_test_run(caller=self.caller, set_name=set_name, draft=run_said(document)))
        return str(run.id)

    def submit(self, run_id: str, entries: Sequence[bytes]) -> str:
        document = read_document(b'{"outputs":[' + b",".join(entries) + b"]}")
        return _told(lambda: self._submitted(UUID(run_id), outputs_said(document)))

    def _submitted(self, run_id: UUID, outputs: Sequence[OutputDraft]) -> str:
        verdicts = judge_outputs(caller=self.caller, run_id=run_id, outputs=outputs)
        run, _accepted = submit_outputs(caller=self.caller, run_id=run_id, outputs=outputs, verdicts=verdicts)
        return str(run.status)

    def complete(self, run_id: str) -> None:
        _told(lambda: complete_test_run(caller=self.caller, run_id=UUID(run_id)))

    def cancel(self, run_id: str, reason: str) -> None:
        _told(lambda: cancel_test_run(caller=self.caller, run_id=UUID(run_id), reason=reason))

    def fetch(self, run_id: str) -> Wire:
        run = _told(lambda: test_run_readable_by(self.caller, UUID(run_id)))
        answer: Wire = exact_json.parse(wire_bytes(with_result(run)).decode())
        return answer

    def finished_runs(self, set_name: str, subject: Mapping[str, str]) -> Iterable[Wire]:
        asked = {"testSetId": set_name, "status": "completed", **subject}
        runs = TestRunFilter(asked, test_runs_readable_by(self.caller)).narrowed()
        yield from map(record, runs.defer("summary").iterator(chunk_size=100))

    def close(self) -> None:
        """There is nothing to let go of."""


class RemoteGrader:
    """Over HTTP, with an API key. A busy server, or one whose answer was lost, is asked again; it acts once."""

    def __init__(self, url: str, key: str) -> None:
        try:
            self._client = httpx.Client(
                base_url=url.rstrip("/"), headers={"Authorization": f"Bearer {key}"}, timeout=ANSWER_SECONDS
            )
        except (httpx.InvalidURL, UnicodeEncodeError) as problem:
            raise _not_asked(problem) from problem

    def start(self, set_name: str, body: Wire) -> str:
        return str(self._asked("POST", f"/v1/test-sets/{quote(set_name, safe='')}/runs", _bytes(body))["runId"])

    def submit(self, run_id: str, entries: Sequence[bytes]) -> str:
        body = b'{"outputs":[' + b",".join(entries) + b"]}"
        return str(self._asked("POST", f"/v1/test-runs/{run_id}/outputs", body)["status"])

    def complete(self, run_id: str) -> None:
        self._asked("POST", f"/v1/test-runs/{run_id}/complete")

    def cancel(self, run_id: str, reason: str) -> None:
        self._asked("POST", f"/v1/test-runs/{run_id}/cancel", _bytes({"reason": reason}))

    def fetch(self, run_id: str) -> Wire:
        return self._asked("GET", f"/v1/test-runs/{run_id}")

    def finished_runs(self, set_name: str, subject: Mapping[str, str]) -> Iterable[Wire]:
        asked = {"testSetId": set_name, "status": "completed", "limit": "100", **subject}
        while True:
            page = self._asked("GET", f"/v1/test-runs?{httpx.QueryParams(asked)}")
            yield from page["data"]
            if not page["hasMore"]:
                return
            asked["cursor"] = page["nextCursor"]

    def close(self) -> None:
        self._client.close()

    def _asked(self, method: str, path: str, body: bytes = b"") -> Wire:
        # One key for all tries: what was done already is answered from its record.
        headers = {} if method == "GET" else {"Idempotency-Key": str(new_id())}
        try:
            response = asked_patiently(
                lambda _left: self._client.request(method, path, content=body, headers=headers),
                is_busy=_is_busy,
                retries=RETRIES,
                seconds=PATIENCE_SECONDS,
            )
        except (httpx.HTTPError, httpx.InvalidURL) as problem:
            raise _not_asked(problem) from problem
        answer = _answer_in(response)
        if answer is None:
            raise GraderError(f"{response.status_code} without an answer in JSON: this is no such server.")
        if not response.is_success:
            raise GraderError(f"{response.status_code} {_refused(answer.get('error'))}")
        return answer


def _is_busy(response: httpx.Response) -> bool:
    """Also with a request of ours whose answer was lost and that is still at work."""
    if response.status_code in (429, 502, 503, 504):
        return True
    error = (_answer_in(response) or {}).get("error") if response.status_code == httpx.codes.CONFLICT else None
    return isinstance(error, dict) and error.get("code") == Code.IDEMPOTENCY_KEY_IN_FLIGHT


def _answer_in(response: httpx.Response) -> Wire | None:
    try:
        answer = exact_json.parse_bytes(response.content)[1]
    except (exact_json.NotJsonError, exact_json.TooDeepError):
        return None
    return answer if isinstance(answer, dict) else None


def _not_asked(problem: Exception) -> GraderError:
    return GraderError(f"The server could not be asked: {type(problem).__name__}.")


_Done = TypeVar("_Done")


def _told(work: Callable[[], _Done]) -> _Done:
    try:
        return work()
    except DomainError as refusal:
        raise GraderError(refusal.message) from refusal


def _bytes(body: Wire) -> bytes:
    return exact_json.dumps(body).encode()


def _refused(error: Any) -> str:
    said = error if isinstance(error, dict) else {}
    return f"{said.get('code', 'without a code')}: {said.get('message', 'no message')}"
