"""Every route of /v1, what it takes and what it needs: one table, for the tests of who sees what."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver
from django.views import View

from kindgi_site.api.pipeline import UnknownRouteView, V1View

# What the caller needs. `self`: their own things; `roster`: a reviewer role, or to be the workspace's administrator.
READ, WRITE, EXECUTE, ADMIN, ROOT, ROSTER, SELF = "read", "write", "execute", "admin", "root", "roster", "self"


@dataclass(frozen=True)
class Route:
    """`needs`: the action on the project of what is named, or one of the words above.

    `hidden`: inside the workspace, what the caller cannot read is answered as what is not there;
    otherwise it is forbidden.
    """

    needs: str
    body: Any = b""
    hidden: bool = True
    query: str = ""


_EXPECT = {"answer": {"verdict": "wrong", "why": "No."}}
_CASE = {"input": {"q": 1}, "agentVersion": "1.2.0", "expect": _EXPECT}
_RUN = {
    "projectId": "{project}",
    "agent": {"id": "support", "version": "1.2.0"},
    "status": "running",
    "input": {"message": "Hello"},
}
_GROUP = {"name": "new", "weight": 1, "scope": {"kind": "project", "projectId": "{project}"}}
_PUBLISH = {"id": "{set}", "version": "9.0.0", "kind": "custom", "spec": {}, "projectId": "{project}"}
_START = {"projectId": "{project}", "agentRef": {"agentId": "support", "version": "1.3.0"}}
_OUTPUT = {"outputs": [{"caseId": "{run}", "output": {"content": "Hi"}}]}
_P = "/v1/projects/{project}"
_RULES, _QUEUE, _AGENT = f"{_P}/correcting-rules", f"{_P}/correcting-queue", f"{_P}/agents/support"
_C, _S, _T = "/v1/corrections/{correction}", "/v1/test-sets/{set}", "/v1/test-runs/{testrun}"

ROUTES: dict[str, Route] = {
    "GET /v1/projects": Route(SELF),
    "POST /v1/projects": Route(ROOT, {"name": "new", "slug": "new"}, hidden=False),
    "GET /v1/projects/default": Route(READ),
    f"GET {_P}": Route(READ),
    "GET /v1/tokens": Route(SELF),
    "POST /v1/tokens": Route(SELF, {"projectId": "{project}"}),
    "GET /v1/tokens/{key}": Route(ROOT),
    "POST /v1/tokens/{key}/revoke": Route(ROOT),
    "GET /v1/approvals/reviewers": Route(ROSTER, hidden=False),
    "POST /v1/approvals/reviewers": Route(ROOT, {"userId": "{person}", "role": "senior"}, hidden=False),
    "GET /v1/approvals/reviewers/{reviewer}": Route(ROSTER, hidden=False),
    "POST /v1/approvals/reviewers/{reviewer}/unregister": Route(ROOT, hidden=False),
    f"GET {_RULES}": Route(READ, hidden=False),
    f"POST {_RULES}": Route(WRITE, {"name": "new", "correctorGroupId": "{group}"}, hidden=False),
    f"GET {_RULES}/preview": Route(READ, hidden=False, query="?ruleId={rule}"),
    f"GET {_RULES}/{{rule}}": Route(READ, hidden=False),
    f"PATCH {_RULES}/{{rule}}": Route(WRITE, {"name": "other"}, hidden=False),
    f"POST {_RULES}/{{rule}}/unregister": Route(WRITE, hidden=False),
    f"GET {_RULES}/{{rule}}/versions": Route(READ, hidden=False),
    f"GET {_RULES}/{{rule}}/results": Route(READ, hidden=False),
    f"GET {_QUEUE}": Route(READ, hidden=False, query="?ruleId={rule}"),
    f"POST {_QUEUE}/{{item}}/dismiss": Route(WRITE, hidden=False),
    f"POST {_QUEUE}/{{dismissed}}/reopen": Route(WRITE, hidden=False),
    "GET /v1/corrector-groups": Route(SELF),
    "POST /v1/corrector-groups": Route(ADMIN, _GROUP, hidden=False),
    "GET /v1/corrector-groups/{group}": Route(READ),
    "PATCH /v1/corrector-groups/{group}": Route(ADMIN, {"weight": 2}),
    "POST /v1/corrector-groups/{group}/unregister": Route(ADMIN),
    "GET /v1/memory/erasures": Route(ROOT, hidden=False),
    "POST /v1/memory/erasures": Route(ROOT, {"subject": {"kind": "participant", "id": "p"}}, hidden=False),
    "GET /v1/memory/erasures/{erasure}": Route(ROOT, hidden=False),
    "POST /v1/runs/{run}/erase": Route(ROOT, hidden=False),
    "GET /v1/runs": Route(SELF, query="?scopeKind=project&scopeId={project}"),
    "GET /v1/runs/{run}": Route(READ, hidden=False),
    "PUT /v1/runs/{newrun}": Route(WRITE, _RUN, hidden=False),
    "GET /v1/corrections": Route(SELF, query="?runId={run}&correctorGroupId={group}"),
    "POST /v1/corrections": Route(
        WRITE, {"runId": "{run}", "answer": "right", "correctorGroupId": "{group}"}, hidden=False
    ),
    f"GET {_C}": Route(READ),
    f"GET {_C}/history": Route(READ),
    f"POST {_C}/unregister": Route(WRITE),
    f"POST {_C}/status": Route(WRITE, {"status": "wont-fix"}),
    f"POST {_C}/sort": Route(WRITE, {"to": "owner"}),
    f"POST {_C}/link": Route(WRITE, {"kind": "improve-run", "id": "1"}),
    f"POST {_C}/unlink": Route(WRITE),
    f"GET {_AGENT}": Route(READ),
    f"PUT {_AGENT}/owner": Route(ADMIN, {"kind": "user", "id": "x"}),
    f"GET {_AGENT}/live": Route(READ),
    f"GET {_AGENT}/live-changes": Route(READ),
    f"POST {_AGENT}/live-changes": Route(WRITE, {"action": "latest", "version": "1.2.0", "fixes": ["{correction}"]}),
    f"GET {_AGENT}/test-set": Route(READ),
    f"GET {_AGENT}/test-set/cases": Route(READ),
    f"POST {_AGENT}/test-set/cases": Route(WRITE, {"runId": "{run}", "expect": _EXPECT}),
    f"POST {_AGENT}/test-set/cases/from-draft": Route(
        WRITE, {"query": "Q?", "expectedOutput": "A.", "agentVersion": "1.2.0"}
    ),
    f"POST {_AGENT}/test-set/cases/from-run": Route(WRITE, {"runId": "{run}"}),
    f"PATCH {_AGENT}/test-set/cases/{{case}}": Route(WRITE, {"note": "Hm."}),
    f"POST {_AGENT}/test-set/cases/{{case}}/unregister": Route(WRITE),
    f"POST {_AGENT}/test-set/freeze": Route(ADMIN, {"version": "3.0.0"}),
    "GET /v1/test-sets": Route(SELF),
    "POST /v1/test-sets": Route(ADMIN, _PUBLISH, hidden=False),
    f"GET {_S}": Route(READ),
    f"GET {_S}/versions": Route(READ),
    f"POST {_S}/versions/from-corrections": Route(
        ADMIN, {"version": "9.0.0", "projectId": "{project}", "agentId": "support"}, hidden=False
    ),
    f"GET {_S}/versions/1.0.0": Route(READ),
    f"GET {_S}/versions/1.0.0/cases": Route(READ),
    f"POST {_S}/versions/1.0.0/unregister": Route(ADMIN),
    f"POST {_S}/versions/1.0.0/reinstate": Route(ADMIN),
    f"POST {_S}/runs": Route(EXECUTE, _START),
    "GET /v1/test-runs": Route(SELF, query="?testSetId={set}"),
    f"GET {_T}": Route(READ),
    f"GET {_T}/cases": Route(READ),
    f"POST {_T}/outputs": Route(EXECUTE, _OUTPUT),
    f"POST {_T}/complete": Route(EXECUTE),
    f"POST {_T}/cancel": Route(WRITE),
    f"POST {_T}/rescore": Route(ADMIN),
}
METHODS = ("get", "post", "put", "patch", "delete")


def shape_of(route: str) -> str:
    """`GET /v1/runs/{}`: without the names of what varies, as the URL conf may call them otherwise."""
    method, path = route.split(" ")
    fixed = path.replace("/agents/support", "/agents/{}").replace("/versions/1.0.0", "/versions/{}")
    return f"{method} " + "/".join("{}" if part[:1] in {"{", "<"} else part for part in fixed.split("/"))


def served() -> set[str]:
    """Every route that the URL conf has."""
    return {
        shape_of(f"{method.upper()} /{address}")
        for address, view in _addresses(get_resolver("kindgi_site.urls").url_patterns)
        if issubclass(view, V1View) and view is not UnknownRouteView
        for method in METHODS
        if hasattr(view, method)
    }


def _addresses(patterns: list[URLPattern | URLResolver], before: str = "") -> Iterator[tuple[str, type[View]]]:
    for pattern in patterns:
        address = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _addresses(pattern.url_patterns, address)
        elif address.startswith("v1/") and (view := getattr(pattern.callback, "cls", None)) is not None:
            yield address, view


@dataclass
class Names:
    """What each `{word}` of the table stands for."""

    values: dict[str, str] = field(default_factory=dict)

    def fill(self, part: Any) -> Any:
        match part:
            case dict():
                return {name: self.fill(inner) for name, inner in part.items()}
            case list():
                return [self.fill(inner) for inner in part]
            case str():
                for word, value in self.values.items():
                    part = part.replace(f"{{{word}}}", value)
                return part
        return part

    def unfill(self, text: str) -> str:
        """The other way round, in an answer."""
        for word, value in self.values.items():
            text = text.replace(value, f"<{word}>")
        return text
