"""Where an answer leads: the OpenAPI links of the document, one row for what is handed on together."""

from dataclasses import dataclass
from typing import Any

_REST = "What the body says besides is the caller's."


@dataclass(frozen=True, slots=True)
class Way:
    """From every success of one operation to others, each of which takes all of `parameters`.

    `body` holds the fields of the next request's body that are known already; an expression in it stands in braces.
    """

    source: str
    parameters: dict[str, str]
    targets: tuple[str, ...]
    body: dict[str, Any] | None = None

    def links(self) -> dict[str, dict[str, Any]]:
        """By name, which is that of the operation it leads to."""
        link: dict[str, Any] = {"parameters": self.parameters} if self.parameters else {}
        if self.body is not None:
            link |= {"requestBody": self.body, "description": _REST}
        return {target: {"operationId": target} | link for target in self.targets}


def _answered(pointer: str) -> str:
    return f"$response.body#/{pointer}"


def _named(parameter: str) -> str:
    """What the request named in its path."""
    return f"$request.path.{parameter}"


_ID, _RUN_ID = _answered("id"), _answered("runId")
_PROJECT, _AGENT = _named("projectId"), _named("agentId")
_OF_AGENT = {"projectId": _PROJECT, "agentId": _AGENT}
_OF_CASE = _OF_AGENT | {"caseId": _answered("caseId")}
_OF_RULE = {"projectId": _answered("projectId"), "ruleId": _answered("ruleId")}
_OF_VERSION = {"testSetId": _answered("testSetId"), "version": _answered("version")}
_SAME_VERSION = {"testSetId": _named("testSetId"), "version": _named("version")}
_SAME_CORRECTION = {"correctionId": _named("correctionId")}
_SAME_ITEM = {"projectId": _PROJECT, "runId": _named("runId")}
_SAME_TEST_RUN = {"runId": _named("runId")}

_CORRECTION = tuple(
    f"corrections.{step}" for step in ("get", "history", "setStatus", "sort", "link", "unlink", "unregister")
)
_RULE = tuple(f"projects.correctingRules.{step}" for step in ("get", "update", "versions", "results", "unregister"))
_VERSION = tuple(f"testSets.versions.{step}" for step in ("get", "cases", "unregister"))
_CASE = ("agentTestSet.cases.change", "agentTestSet.cases.unregister")
_TEST_RUN = tuple(f"testRuns.{step}" for step in ("get", "cases", "outputs.submit", "complete", "cancel", "rescore"))
_PROJECTS = ("projects.get", "projects.correctingRules.list", "projects.correctingQueue.list")
_BUILT = {"projectId": "{$request.body#/projectId}", "testSetVersion": "{$response.body#/version}"}

WAYS = (
    # Workspaces.
    Way("projects.create", {"projectId": _ID}, (*_PROJECTS, "projects.correctingRules.create")),
    Way("projects.getDefault", {"projectId": _ID}, (*_PROJECTS, "projects.correctingRules.create")),
    Way("tokens.mint", {"tokenId": _answered("tokenId")}, ("tokens.get", "tokens.revoke")),
    Way("reviewers.register", {"reviewerId": _ID}, ("reviewers.get", "reviewers.unregister")),
    # Runs.
    Way("runs.put", {"runId": _ID}, ("runs.get", "runs.erase")),
    Way("runs.put", {"runId": _ID}, ("corrections.list",)),
    Way("runs.put", {}, ("corrections.create",), body={"runId": "{$response.body#/id}"}),
    Way("runs.put", {"projectId": _answered("projectId"), "runId": _ID}, ("projects.correctingQueue.dismiss",)),
    Way("runs.put", {"projectId": _answered("projectId"), "agentId": _answered("agent/id")},
        ("agentTestSet.cases.fromRun",), body={"runId": "{$response.body#/id}"}),
    Way("runs.erase", {"runId": _RUN_ID}, ("runs.get",)),
    Way("erasures.create", {"erasureId": _ID}, ("erasures.get",)),
    # Corrections and groups.
    Way("corrections.create", {"correctionId": _ID}, _CORRECTION),
    Way("corrections.create", {"runId": _RUN_ID}, ("runs.get",)),
    Way("corrections.create", {"projectId": _answered("projectId"), "agentId": _answered("subject/id")},
        ("agentTestSet.get", "agentTestSet.cases.list", "agentTestSet.freeze")),
    Way("corrections.create", {"projectId": _answered("projectId"), "agentId": _answered("subject/id")},
        ("agents.liveChanges.create",), body={"fixes": ["{$response.body#/id}"]}),
    Way("corrections.setStatus", _SAME_CORRECTION, ("corrections.get", "corrections.history")),
    Way("corrections.sort", _SAME_CORRECTION, ("corrections.setStatus", "corrections.link")),
    Way("corrections.link", _SAME_CORRECTION, ("corrections.unlink", "corrections.setStatus")),
    Way("corrections.unregister", _SAME_CORRECTION, ("corrections.get", "corrections.history")),
    Way("correctorGroups.create", {"groupId": _ID},
        ("correctorGroups.get", "correctorGroups.update", "correctorGroups.unregister")),
    Way("correctorGroups.create", {"correctorGroupId": _ID}, ("corrections.list",)),
    Way("correctorGroups.create", {}, ("corrections.create",), body={"correctorGroupId": "{$response.body#/id}"}),
    # Rules and the queue.
    Way("projects.correctingRules.create", _OF_RULE, _RULE),
    Way("projects.correctingRules.create", _OF_RULE,
        ("projects.correctingRules.preview", "projects.correctingQueue.list")),
    Way("projects.correctingRules.update", _OF_RULE,
        ("projects.correctingRules.versions", "projects.correctingRules.results")),
    Way("projects.correctingQueue.list", {"projectId": _PROJECT, "runId": _answered("data/0/runId")},
        ("projects.correctingQueue.dismiss",)),
    Way("projects.correctingQueue.list", {"runId": _answered("data/0/runId")}, ("runs.get",)),
    Way("projects.correctingQueue.dismiss", _SAME_ITEM, ("projects.correctingQueue.reopen",)),
    Way("projects.correctingQueue.reopen", _SAME_ITEM, ("projects.correctingQueue.dismiss",)),
    # An agent's set, and what is live of it.
    Way("agentTestSet.cases.add", _OF_CASE, _CASE),
    Way("agentTestSet.cases.fromDraft", _OF_CASE, _CASE),
    Way("agentTestSet.cases.fromRun", _OF_CASE, _CASE),
    Way("agentTestSet.cases.add", _OF_AGENT, ("agentTestSet.freeze",)),
    Way("agentTestSet.freeze", _OF_VERSION, _VERSION),
    Way("agentTestSet.freeze", {"testSetId": _answered("testSetId")}, ("testSets.runs.start",),
        body={"projectId": "{$request.path.projectId}", "testSetVersion": "{$response.body#/version}"}),
    Way("agents.liveChanges.create", _OF_AGENT, ("agents.get", "agents.live", "agents.liveChanges.list")),
    Way("agents.setOwner", _OF_AGENT, ("agents.get",)),
    # Test sets and test runs.
    Way("testSets.versions.fromCorrections", _OF_VERSION, _VERSION),
    Way("testSets.versions.fromCorrections", {"testSetId": _answered("testSetId")}, ("testSets.get",)),
    Way("testSets.versions.fromCorrections", {"testSetId": _answered("testSetId")}, ("testSets.runs.start",),
        body=_BUILT),
    Way("testSets.publish", _OF_VERSION, _VERSION),
    Way("testSets.publish", {"testSetId": _answered("testSetId")}, ("testSets.get", "testSets.versions.list")),
    Way("testSets.versions.unregister", _SAME_VERSION, ("testSets.versions.get", "testSets.versions.reinstate")),
    Way("testSets.versions.reinstate", _SAME_VERSION, ("testSets.versions.get", "testSets.versions.cases")),
    Way("testSets.runs.start", {"runId": _RUN_ID}, _TEST_RUN),
    Way("testRuns.cases", _SAME_TEST_RUN, ("testRuns.outputs.submit",),
        body={"outputs": [{"caseId": "{$response.body#/data/0/caseId}"}]}),
    Way("testRuns.outputs.submit", _SAME_TEST_RUN, ("testRuns.get", "testRuns.complete")),
    Way("testRuns.complete", _SAME_TEST_RUN, ("testRuns.get", "testRuns.rescore")),
    Way("testRuns.rescore", {"runId": _RUN_ID}, ("testRuns.get",)),
)  # fmt: skip


def link_up(operations: dict[str, dict[str, Any]]) -> None:
    """Write the ways into the successes of the operations, given by their ids. KeyError for one that is not there."""
    for way in WAYS:
        for status, response in operations[way.source]["responses"].items():
            if status < "300":
                response.setdefault("links", {}).update(way.links())
