"""Which codes each operation may refuse with, for the OpenAPI document; the tests of /v1 hold every refusal to it."""

from typing import Any

from kindgi_site.errors import Code

# What the stages before a route, and the reading of a body, may answer with.
_ANYWHERE: dict[str, tuple[Code, ...]] = {
    "400": (Code.BAD_INPUT,),
    "401": (Code.AUTH_MISSING, Code.AUTH_REVOKED, Code.AUTH_EXPIRED),
    "403": (Code.KEY_PROJECT_MISMATCH, Code.PERMISSION_DENIED),
    "413": (Code.REQUEST_TOO_LARGE,),
    "429": (Code.RATE_LIMIT_EXCEEDED,),
    "500": (Code.INTERNAL_SERVER_ERROR,),
}
_READING = {"503": (Code.DATABASE_BUSY,)}
_WRITING = {
    "409": (Code.IDEMPOTENCY_KEY_BODY_MISMATCH, Code.IDEMPOTENCY_KEY_IN_FLIGHT, Code.IDEMPOTENCY_KEY_REPLAY_WITHHELD),
    "503": (Code.IDEMPOTENCY_STORE_UNAVAILABLE,),
}
_BODY = {"400": (Code.UNKNOWN_FIELD,)}

_FROM_RUN = "corrections.create agentTestSet.cases.add agentTestSet.cases.fromRun"
_MADE = "testSets.publish testSets.versions.fromCorrections agentTestSet.freeze"
_OWN: dict[str, dict[Code, str]] = {
    "400": {
        Code.SCOPE_INVALID: "runs.list corrections.list testSets.list testRuns.list",
        Code.ITEM_NOT_FOUND: "corrections.create agentTestSet.cases.add agentTestSet.cases.change",
        Code.CORRECTOR_GROUP_NOT_APPLICABLE: "corrections.create",
        Code.VALIDATION_FAILED: "testSets.publish",
        Code.DISPATCHER_INPUT_INVALID: "testSets.runs.start",
    },
    "403": {
        Code.CORRECTOR_GROUP_NOT_ALLOWED: "corrections.create",
        Code.ROLE_EXCEEDS_PRINCIPAL: "tokens.mint",
        Code.TOKEN_EXPIRY_EXCEEDS_MINTER: "tokens.mint",
    },
    "404": {
        Code.NOT_FOUND: "tokens.get tokens.revoke erasures.get agents.live",
        Code.PRINCIPAL_NOT_FOUND: "tokens.mint reviewers.register",
        Code.REVIEWER_NOT_FOUND: "reviewers.get reviewers.unregister",
        Code.RUN_NOT_FOUND: f"runs.get runs.put runs.erase {_FROM_RUN}",
        Code.CORRECTION_NOT_FOUND: "corrections.get corrections.history corrections.unregister corrections.setStatus "
        "corrections.sort corrections.link corrections.unlink",
        Code.CORRECTOR_GROUP_NOT_FOUND: "correctorGroups.get correctorGroups.update correctorGroups.unregister "
        "projects.correctingRules.create projects.correctingRules.update",
        Code.PROJECT_NOT_FOUND: "projects.get projects.getDefault tokens.mint runs.put correctorGroups.create "
        "testSets.publish testSets.versions.fromCorrections testSets.runs.start",
        Code.CORRECTING_RULE_NOT_FOUND: "projects.correctingRules.get projects.correctingRules.update "
        "projects.correctingRules.preview projects.correctingRules.versions projects.correctingRules.results "
        "projects.correctingRules.unregister",
        Code.CORRECTING_ITEM_NOT_FOUND: "projects.correctingQueue.dismiss projects.correctingQueue.reopen",
        Code.TEST_CASE_NOT_FOUND: "agentTestSet.cases.change agentTestSet.cases.unregister",
        Code.TEST_SET_NOT_FOUND: "testSets.get testSets.versions.list testSets.versions.get testSets.versions.cases "
        "testSets.versions.unregister testSets.versions.reinstate testSets.runs.start",
        Code.TEST_RUN_NOT_FOUND: "testRuns.get testRuns.cases testRuns.outputs.submit testRuns.complete "
        "testRuns.cancel testRuns.rescore",
    },
    "409": {
        Code.SLUG_CONFLICT: "projects.create",
        Code.PROJECT_DEFAULT_ALREADY_EXISTS: "projects.create",
        Code.RUN_ALREADY_TERMINAL: "runs.put",
        Code.RUN_NOT_FINISHED: _FROM_RUN,
        Code.INVALID_TRANSITION: "corrections.setStatus corrections.sort corrections.link corrections.unlink "
        "agents.liveChanges.create",
        Code.CORRECTOR_GROUP_NAME_TAKEN: "correctorGroups.create",
        Code.CORRECTING_ITEM_NOT_OPEN: "projects.correctingQueue.dismiss projects.correctingQueue.reopen",
        Code.NOT_PINNED: "agents.liveChanges.create",
        Code.TEST_CASE_CORRECTION_OWNED: "agentTestSet.cases.change agentTestSet.cases.unregister",
        Code.TEST_SET_PROJECT_MISMATCH: _MADE,
        Code.TEST_SET_ALREADY_REGISTERED: _MADE,
        Code.TEST_RUN_ALREADY_TERMINAL: "testRuns.outputs.submit testRuns.complete testRuns.cancel",
        Code.TEST_RUN_OUTPUT_EXISTS: "testRuns.outputs.submit",
        Code.TEST_RUN_NOT_RESCORABLE: "testRuns.rescore",
    },
    "410": {
        Code.RUN_ERASED: f"runs.put {_FROM_RUN}",
        Code.TEST_SET_GONE: "testSets.get testSets.runs.start",
    },
    "422": {Code.DISPATCHER_NOT_REGISTERED: "testSets.runs.start"},
}  # fmt: skip


def codes_of(path: str, method: str, operation: dict[str, Any]) -> dict[str, list[str]]:
    """By status, the codes of one operation of the document."""
    shared = [_ANYWHERE, _READING if method == "get" else _WRITING, _BODY if "requestBody" in operation else {}]
    found: dict[str, list[str]] = {}
    for codes in shared:
        for status, some in codes.items():
            found.setdefault(status, []).extend(some)
    for status, own in _OWN.items():
        named = [code for code, operations in own.items() if operation["operationId"] in operations.split()]
        if status == "404" and path.startswith("/v1/projects/{projectId}/") and Code.PROJECT_NOT_FOUND not in named:
            named.append(Code.PROJECT_NOT_FOUND)
        found.setdefault(status, []).extend(named)
    return {status: [str(code) for code in codes] for status, codes in found.items() if codes}


def name_codes(path: str, method: str, operation: dict[str, Any]) -> None:
    """Write the codes behind what each refusal means. KeyError for a status that the operation does not tell."""
    for status, codes in codes_of(path, method, operation).items():
        refusal = operation["responses"][status]
        refusal["description"] += " " + ", ".join(f"`{code}`" for code in codes) + "."
        refusal["x-codes"] = codes
