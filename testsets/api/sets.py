"""/v1 of test sets, their versions and cases (contract 14)."""

from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from corrections.api.bodies import SegmentBody
from corrections.rules.drafts import refusal
from corrections.rules.segments import check_segments
from corrections.vocabulary import SubjectKind
from kindgi_site.api import examples
from kindgi_site.api.bodies import Id, ListOf, Moment, Text, Version, Whole, WireBody, one_of, uuid_of
from kindgi_site.api.pipeline import V1View
from kindgi_site.api.schema import PAGING, SCOPE, query, refusals
from kindgi_site.api.scopes import scope_of
from kindgi_site.api.shapes import page_of
from kindgi_site.callers import Action
from kindgi_site.errors import Code, InvalidError
from kindgi_site.exact_json import is_storable
from kindgi_site.workspaces.permissions import check_project_action
from testsets.api.shapes import (
    BuiltShape,
    PublishedShape,
    ReinstatedVersionShape,
    TestCaseShape,
    TestSetShape,
    UnregisteredVersionShape,
)
from testsets.drafts import Selection, VersionDraft
from testsets.models import TestSetVersion
from testsets.queries.sets import (
    after_version,
    cases_of,
    latest_of,
    latest_versions,
    named_like,
    set_not_found,
    set_readable_by,
    version_readable_by,
    versions_of,
)
from testsets.rules.versions import CORRECTIONS, KINDS, PLAIN_PATTERN, parse_set_version
from testsets.services.building import Built, build_from_corrections
from testsets.services.sets import (
    SET_NAME,
    check_set_name,
    checked_version,
    publish_by_hand,
    reinstate_version,
    unregister_version,
)


@extend_schema_field({"type": "string", "pattern": PLAIN_PATTERN})
class SetVersionText(Text):
    """Three plain numbers, checked where versions are made."""


@extend_schema_field({"type": "string", "pattern": SET_NAME.pattern})
class SetNameText(Text):
    """A test set's id, checked where sets are made."""


class PublishTestSetBody(WireBody):
    """Its shape is checked by hand, all problems at once; the fields are for the OpenAPI document."""

    example = {
        "projectId": examples.PROJECT,
        "id": "support-tone",
        "version": "1.0.0",
        "kind": "human-review",
        "spec": {"questions": ["Was it polite?"]},
    }

    projectId = Id()
    id = SetNameText()
    version = SetVersionText()
    kind = serializers.ChoiceField([kind for kind in KINDS if kind != CORRECTIONS])
    tenantId = serializers.CharField(required=False)
    description = serializers.CharField(required=False)
    spec = serializers.DictField()


class BuildBody(WireBody):
    together = one_of("agentId", "flowId")
    example = {
        "version": "1.1.0",
        "projectId": examples.PROJECT,
        "agentId": examples.AGENT,
        "agentVersion": "1.2.0",
        "minCorrections": 1,
    }

    version = SetVersionText(min_length=1, max_length=100)
    projectId = Id()
    agentId = Text(required=False, non_blank=True, max_length=200)
    flowId = Text(required=False, non_blank=True, max_length=200)
    agentVersion = Version(required=False)
    since = Moment(required=False)
    until = Moment(required=False)
    correctorGroupIds = ListOf(child=Text(non_blank=True), required=False)
    minCorrections = Whole(required=False, min_value=1)
    segments = ListOf(child=SegmentBody(), required=False)
    description = Text(required=False)


class TestSetsView(V1View):
    project_in_body = True

    @extend_schema(
        operation_id="testSets.list",
        summary="List test sets by id, each at its latest version",
        parameters=[
            *PAGING,
            *SCOPE,
            query("kind", enum=list(KINDS)),
            query("name", description="The beginning of the id."),
            query("inherit", description="Has no effect here."),
            query("includeRetired", description="`true` adds sets whose every version is unregistered."),
        ],
        responses={200: page_of(TestSetShape), **refusals(400, 401, 403)},
    )
    def get(self, request: Request) -> Response:
        asked = request.query_params
        scope = scope_of(asked)
        kind = asked.get("kind", "")
        if kind and kind not in KINDS:
            raise refusal(f"kind is one of {', '.join(KINDS)}.", "kind")
        versions = latest_versions(self.caller, with_retired=asked.get("includeRetired") == "true")
        if scope.is_empty:
            versions = versions.none()
        if scope.project_id is not None:
            versions = versions.filter(test_set__project=scope.project_id)
        if kind:
            versions = versions.filter(kind=kind)
        if asked.get("name"):
            versions = named_like(versions, asked["name"])
        if self.paging.after is not None:
            versions = versions.filter(sort_name__gt=self.paging.after[0])
        rows = list(versions[: self.paging.limit + 1])
        return Response(self.paging.page(rows, TestSetShape.wire, lambda row: [row.test_set.name]))

    @extend_schema(
        operation_id="testSets.publish",
        summary="Publish a version by hand",
        request=PublishTestSetBody,
        responses={201: PublishedShape, **refusals(400, 401, 403, 404, 409, 413, 503)},
    )
    def post(self, request: Request) -> Response:
        version = publish_by_hand(caller=self.caller, draft=self._checked_draft())
        return Response({"testSetId": version.test_set.name, "version": version.version}, status=201)

    def _checked_draft(self) -> VersionDraft:
        said = self.document.value
        if not isinstance(said, dict):
            raise InvalidError(Code.BAD_INPUT, "The body must be a JSON object.")
        body = PublishTestSetBody.shared()
        body.refuse_unknown([name for name in said if name not in body.fields])
        project_id = uuid_of(said.get("projectId"))
        if project_id is None:
            raise refusal("projectId is required.", "projectId")
        check_project_action(self.caller, Action.ADMIN, project_id)
        issues = _issues(said, str(self.caller.workspace_id))
        if issues:
            raise InvalidError(Code.VALIDATION_FAILED, "This is not a test set that can be published.", issues=issues)
        check_set_name(said["id"])
        return VersionDraft(
            set_name=said["id"],
            version=said["version"],
            project_id=project_id,
            kind=said["kind"],
            description=said.get("description", ""),
            spec=said["spec"],
        )


class TestSetView(V1View):
    @extend_schema(
        operation_id="testSets.get",
        summary="Fetch a test set's latest version",
        parameters=[query("projectId", description="The project it must be in.")],
        responses={200: TestSetShape, **refusals(400, 401, 403, 404, 410)},
    )
    def get(self, request: Request, test_set_id: str) -> Response:
        project = request.query_params.get("projectId", "")
        if project and uuid_of(project) is None:
            raise refusal("projectId must be a UUID.", "projectId")
        test_set = set_readable_by(self.caller, test_set_id)
        if project and uuid_of(project) != test_set.project_id:
            raise set_not_found(test_set_id)
        return Response(TestSetShape.wire(latest_of(test_set)))


class VersionsView(V1View):
    @extend_schema(
        operation_id="testSets.versions.list",
        summary="List a test set's versions, lowest first",
        parameters=[*PAGING, query("includeTombstoned", description="`true` adds unregistered ones.")],
        responses={200: page_of(TestSetShape), **refusals(400, 401, 403, 404)},
    )
    def get(self, request: Request, test_set_id: str) -> Response:
        with_unregistered = request.query_params.get("includeTombstoned") == "true"
        versions = versions_of(set_readable_by(self.caller, test_set_id), with_unregistered=with_unregistered)
        if self.paging.after is not None:
            versions = after_version(versions, self.paging.after[0])
        rows = list(versions[: self.paging.limit + 1])
        return Response(self.paging.page(rows, TestSetShape.wire, lambda row: [row.version]))


class VersionView(V1View):
    @extend_schema(
        operation_id="testSets.versions.get",
        summary="Fetch one version, an unregistered one too",
        responses={200: TestSetShape, **refusals(401, 403, 404)},
    )
    def get(self, request: Request, test_set_id: str, version: str) -> Response:
        return Response(TestSetShape.wire(version_readable_by(self.caller, test_set_id, version)))


class UnregisterVersionView(V1View):
    @extend_schema(
        operation_id="testSets.versions.unregister",
        summary="Take a version out of use",
        request=None,
        responses={200: UnregisteredVersionShape, **refusals(401, 403, 404, 409, 503)},
    )
    def post(self, request: Request, test_set_id: str, version: str) -> Response:
        unregister_version(caller=self.caller, set_name=test_set_id, version=version)
        return Response({"testSetId": test_set_id, "version": version, "unregistered": True})


class ReinstateVersionView(V1View):
    @extend_schema(
        operation_id="testSets.versions.reinstate",
        summary="Put a version back",
        request=None,
        responses={200: ReinstatedVersionShape, **refusals(401, 403, 404, 409, 503)},
    )
    def post(self, request: Request, test_set_id: str, version: str) -> Response:
        put_back = reinstate_version(caller=self.caller, set_name=test_set_id, version=version)
        return Response({"testSetId": test_set_id, "version": version, "wasTombstoned": put_back.was_unregistered})


class BuildView(V1View):
    project_in_body = True

    @extend_schema(
        operation_id="testSets.versions.fromCorrections",
        summary="Build a version from what people said",
        request=BuildBody,
        responses={201: BuiltShape, **refusals(400, 401, 403, 404, 409, 413, 503)},
    )
    def post(self, request: Request, test_set_id: str) -> Response:
        said = BuildBody.read(self.document)
        selection = selection_said(said, self.document.value)
        checked_version(said["version"])
        check_set_name(test_set_id)
        built = build_from_corrections(
            caller=self.caller,
            set_name=test_set_id,
            version=said["version"],
            selection=selection,
            description=said.get("description", ""),
        )
        return Response(built_wire(built), status=201)


class CasesView(V1View):
    @extend_schema(
        operation_id="testSets.versions.cases",
        summary="Page through one version's cases",
        parameters=PAGING,
        responses={200: page_of(TestCaseShape), **refusals(400, 401, 403, 404)},
    )
    def get(self, request: Request, test_set_id: str, version: str) -> Response:
        """In stored order, newest corrected run first."""
        found = version_readable_by(self.caller, test_set_id, version)
        return Response(_cases_page(self, found))


def _cases_page(view: V1View, version: TestSetVersion) -> dict[str, Any]:
    cases = cases_of(version)
    if view.paging.after is not None:
        cases = cases.filter(position__gt=int(view.paging.after[0]))
    rows = list(cases.values_list("wire", "position")[: view.paging.limit + 1])
    return view.paging.page(rows, lambda row: row[0], lambda row: [str(row[1])])


def built_wire(built: Built) -> dict[str, Any]:
    return {
        "testSetId": built.version.test_set.name,
        "version": built.version.version,
        "kind": built.version.kind,
        "caseCount": built.case_count,
        "truncated": built.truncated,
    }


_FILTERS = (
    "agentId",
    "flowId",
    "agentVersion",
    "since",
    "until",
    "correctorGroupIds",
    "minCorrections",
    "segments",
)


def selection_said(said: dict[str, Any], as_sent: dict[str, Any]) -> Selection:
    if ("agentId" in said) == ("flowId" in said):
        raise refusal("Name exactly one of agentId and flowId.", "agentId")
    if "agentVersion" in said and "agentId" not in said:
        raise refusal("agentVersion needs agentId.", "agentVersion")
    check_segments(said.get("segments", []))
    groups = said.get("correctorGroupIds")
    return Selection(
        project_id=said["projectId"],
        subject_kind=SubjectKind.AGENT if "agentId" in said else SubjectKind.FLOW,
        subject_id=said.get("agentId") or said["flowId"],
        subject_version=said.get("agentVersion"),
        since=said.get("since"),
        until=said.get("until"),
        group_ids=None if groups is None else tuple(groups),
        min_corrections=said.get("minCorrections", 1),
        segments=said.get("segments", []),
        as_sent={name: as_sent[name] for name in _FILTERS if name in as_sent},
    )


def _issues(said: dict[str, Any], tenant_id: str) -> list[dict[str, str]]:
    """Every problem with the shape of a hand-written test set, in the contract's order (14.2)."""
    version, kind, description = said.get("version"), said.get("kind"), said.get("description", "")
    checks = (
        ("id", _is_text(said.get("id")) and bool(said["id"].strip()), "It must be a text that is not empty."),
        (
            "version",
            isinstance(version, str) and parse_set_version(version) is not None,
            "It must be three numbers such as 1.2.0.",
        ),
        ("kind", kind in KINDS if _is_text(kind) else False, f"It must be one of {', '.join(KINDS)}."),
        ("kind", kind != CORRECTIONS, "A set of kind corrections is built from corrections, not published by hand."),
        ("tenantId", said.get("tenantId", tenant_id) == tenant_id, "It must be the caller's own."),
        ("spec", isinstance(said.get("spec"), dict), "It must be an object."),
        ("description", _is_text(description), "It must be a text."),
    )
    return [{"path": path, "message": message} for path, holds, message in checks if not holds]


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and is_storable(value)
