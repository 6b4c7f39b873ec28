"""/v1 of runs and corrections: parse, call the service, answer."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from corrections.api.bodies import (
    CreateCorrectionBody,
    IngestRunBody,
    LinkBody,
    SortBody,
    StatusBody,
    correction_draft,
    link_said,
    run_draft,
)
from corrections.api.shapes import (
    CorrectionEventShape,
    CorrectionShape,
    CorrectionWithCopiesShape,
    RunShape,
    RunWithOutputShape,
    RunWithPartsShape,
    UnregisteredCorrectionShape,
)
from corrections.filters import CorrectionFilter, RunFilter
from corrections.models import Run
from corrections.queries.corrections import correction_readable_by, corrections_readable_by, events_readable_by
from corrections.queries.runs import run_readable_by, runs_readable_by
from corrections.services import status
from corrections.services.recording import record_correction
from corrections.services.runs import ingest_run
from kindgi_site.api.pipeline import V1View, path_uuid
from kindgi_site.api.schema import PAGING, SCOPE, filtering, refusals
from kindgi_site.api.scopes import scope_of
from kindgi_site.api.shapes import page_of
from kindgi_site.errors import Code, InvalidError

_PARTS = ("input", "calls", "context")


class RunsView(V1View):
    @extend_schema(
        operation_id="runs.list",
        summary="List runs, newest first",
        parameters=[
            *PAGING,
            *SCOPE,
            *filtering(RunFilter),
            OpenApiParameter("include", str, description="`output` adds each run's output."),
        ],
        responses={200: page_of(RunWithOutputShape), **refusals(400, 401, 403)},
    )
    def get(self, request: Request) -> Response:
        scope = scope_of(request.query_params)
        runs = RunFilter(request.query_params, scope.narrow(runs_readable_by(self.caller))).narrowed()
        with_output = "output" in _included(request, "output")
        runs = runs.select_related("content")
        if with_output:
            runs = runs.defer("content__input", "content__context", "content__calls")
        else:
            runs = runs.defer("content__input", "content__output", "content__context", "content__calls")
        shape = RunWithOutputShape if with_output else RunShape
        return Response(self.paging.newest_first(runs, shape.wire))


class RunView(V1View):
    project_in_body = True

    def check_path(self) -> None:
        path_uuid(self.kwargs["run_id"], "runId")

    @extend_schema(
        operation_id="runs.get",
        summary="Fetch a run",
        parameters=[
            OpenApiParameter("include", str, description="Of `input`, `output`, `calls`, `context`, comma-separated.")
        ],
        responses={200: RunWithPartsShape, **refusals(400, 401, 403, 404)},
    )
    def get(self, request: Request, run_id: str) -> Response:
        run = run_readable_by(self.caller, path_uuid(run_id, "runId"))
        return Response(_with_parts(run, _included(request, "output", *_PARTS)))

    @extend_schema(
        operation_id="runs.put",
        summary="Hand a run in",
        request=IngestRunBody,
        responses={
            200: RunWithOutputShape,
            201: RunWithOutputShape,
            **refusals(400, 401, 403, 404, 409, 410, 413, 503),
        },
    )
    def put(self, request: Request, run_id: str) -> Response:
        draft = run_draft(path_uuid(run_id, "runId"), self.document)
        run, is_new = ingest_run(caller=self.caller, draft=draft)
        return Response(RunWithOutputShape.wire(run), status=201 if is_new else 200)


class CorrectionsView(V1View):
    @extend_schema(
        operation_id="corrections.list",
        summary="List corrections, newest first",
        parameters=[*PAGING, *SCOPE, *filtering(CorrectionFilter)],
        responses={200: page_of(CorrectionShape), **refusals(400, 401, 403)},
    )
    def get(self, request: Request) -> Response:
        scope = scope_of(request.query_params)
        corrections = scope.narrow(corrections_readable_by(self.caller))
        return Response(
            self.paging.newest_first(
                CorrectionFilter(request.query_params, corrections).narrowed(), CorrectionShape.wire
            )
        )

    @extend_schema(
        operation_id="corrections.create",
        summary="Correct a run",
        request=CreateCorrectionBody,
        responses={201: CorrectionShape, **refusals(400, 401, 403, 404, 409, 410, 413, 503)},
    )
    def post(self, request: Request) -> Response:
        run_id, draft = correction_draft(self.document)
        correction = record_correction(caller=self.caller, run_id=run_id, draft=draft)
        return Response(CorrectionShape.wire(correction), status=201)


class CorrectionView(V1View):
    @extend_schema(
        operation_id="corrections.get",
        summary="Fetch a correction with its copies",
        responses={200: CorrectionWithCopiesShape, **refusals(401, 403, 404)},
    )
    def get(self, request: Request, correction_id: str) -> Response:
        return Response(CorrectionWithCopiesShape.wire(correction_readable_by(self.caller, correction_id)))


class CorrectionHistoryView(V1View):
    @extend_schema(
        operation_id="corrections.history",
        summary="The steps of a correction's life, newest first",
        parameters=PAGING,
        responses={200: page_of(CorrectionEventShape), **refusals(400, 401, 403, 404)},
    )
    def get(self, request: Request, correction_id: str) -> Response:
        events = events_readable_by(self.caller, correction_id)
        return Response(self.paging.newest_first(events, CorrectionEventShape.wire, time_field="at"))


class UnregisterCorrectionView(V1View):
    @extend_schema(
        operation_id="corrections.unregister",
        summary="Take a correction back",
        request=None,
        responses={200: UnregisteredCorrectionShape, **refusals(401, 403, 404, 409, 503)},
    )
    def post(self, request: Request, correction_id: str) -> Response:
        correction = status.remove_correction(caller=self.caller, correction_id=correction_id)
        return Response({"correctionId": str(correction.id), "unregistered": True})


class CorrectionStatusView(V1View):
    @extend_schema(
        operation_id="corrections.setStatus",
        summary="Set a correction's status by hand",
        request=StatusBody,
        responses={200: CorrectionShape, **refusals(400, 401, 403, 404, 409, 503)},
    )
    def post(self, request: Request, correction_id: str) -> Response:
        said = StatusBody.read(self.document)
        correction = status.set_status(
            caller=self.caller, correction_id=correction_id, status=said["status"], note=said.get("note")
        )
        return Response(CorrectionShape.wire(correction))


class CorrectionSortView(V1View):
    @extend_schema(
        operation_id="corrections.sort",
        summary="Say who should deal with it",
        request=SortBody,
        responses={200: CorrectionShape, **refusals(400, 401, 403, 404, 409, 503)},
    )
    def post(self, request: Request, correction_id: str) -> Response:
        said = SortBody.read(self.document)
        if said.get("as") not in (None, status.FIX_JOB):
            raise InvalidError(Code.BAD_INPUT, "as is fix-job or left out.", field="as")
        correction = status.sort_correction(
            caller=self.caller,
            correction_id=correction_id,
            to=said["to"],
            reason=said.get("reason"),
            as_fix_job="as" in said,
        )
        return Response(CorrectionShape.wire(correction))


class CorrectionLinkView(V1View):
    @extend_schema(
        operation_id="corrections.link",
        summary="Name the work that is meant to fix it",
        request=LinkBody,
        responses={200: CorrectionShape, **refusals(400, 401, 403, 404, 409, 503)},
    )
    def post(self, request: Request, correction_id: str) -> Response:
        kind, target = link_said(self.document)
        correction = status.link_correction(caller=self.caller, correction_id=correction_id, kind=kind, target=target)
        return Response(CorrectionShape.wire(correction))


class CorrectionUnlinkView(V1View):
    @extend_schema(
        operation_id="corrections.unlink",
        summary="Take a correction's link away",
        request=None,
        responses={200: CorrectionShape, **refusals(401, 403, 404, 409, 503)},
    )
    def post(self, request: Request, correction_id: str) -> Response:
        correction = status.unlink_correction(caller=self.caller, correction_id=correction_id)
        return Response(CorrectionShape.wire(correction))


def _included(request: Request, *known: str) -> set[str]:
    """The parts that `include` names; it may be repeated or comma-separated. InvalidError for one not known."""
    parts = {part for value in request.query_params.getlist("include") for part in value.split(",") if part}
    unknown = parts - set(known)
    if unknown:
        raise InvalidError(Code.BAD_INPUT, f"include does not know {min(unknown)!r}.", field="include")
    return parts


def _with_parts(run: Run, parts: set[str]) -> dict[str, Any]:
    answer = RunWithOutputShape.wire(run)
    stored = {part: getattr(run.content, part) for part in _PARTS if part in parts}
    return answer | {part: text for part, text in stored.items() if text is not None}
