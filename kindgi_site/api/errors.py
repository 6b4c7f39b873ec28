"""Every refusal of /v1 in the contract's one shape (section 3)."""

import json
import logging
from typing import Any

from django.core.exceptions import SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from psycopg import errors as postgres
from psycopg_pool import PoolTimeout, TooManyRequests
from rest_framework.exceptions import APIException

from kindgi_site.errors import Code, DomainError
from kindgi_site.http_status import status_of

logger = logging.getLogger(__name__)

RETRY_SECONDS = 5
_BUSY = (postgres.QueryCanceled, postgres.LockNotAvailable, PoolTimeout, TooManyRequests)
_SAFE_METHODS = frozenset({"GET", "HEAD"})


class HttpRefusal(Exception):  # noqa: N818 - a refusal, like DomainError's families
    """A refusal that is HTTP's own business and that the domain knows nothing of."""

    def __init__(
        self,
        status: int,
        code: Code,
        message: str,
        details: dict[str, Any] | None = None,
        retry_after: int | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.details = status, code, message, details
        self.retry_after = retry_after


def error_response(
    request: HttpRequest, status: int, code: Code, message: str, details: dict[str, Any] | None = None
) -> HttpResponse:
    error: dict[str, Any] = {"code": code, "message": message}
    if details:
        error["details"] = details
    error["requestId"] = getattr(request, "request_id", "")
    # Not orjson: a refusal may repeat what was sent, and it refuses a text with an unpaired surrogate.
    body = json.dumps({"error": error}, default=str, separators=(",", ":"))
    return HttpResponse(body, content_type="application/json", status=status)


def wants_json(request: HttpRequest) -> bool:
    """Whether a refusal is told in JSON: on /v1 and /health always, elsewhere when the client asks for it."""
    path = request.path_info
    if path in ("/v1", "/health") or path.startswith("/v1/"):
        return True
    accepted = request.headers.get("Accept", "")
    return "application/json" in accepted and "text/html" not in accepted


def response_to(request: HttpRequest, problem: Exception) -> HttpResponse:
    """The answer to anything raised while a /v1 request was served; never tells an unknown exception's text."""
    match problem:
        case HttpRefusal():
            response = error_response(request, problem.status, problem.code, problem.message, problem.details)
            if problem.retry_after is not None:
                response["Retry-After"] = str(problem.retry_after)
            return response
        case DomainError():
            return error_response(request, status_of(problem), problem.code, problem.message, problem.details)
        case Http404():
            return error_response(request, 404, Code.ROUTE_NOT_FOUND, "There is nothing at this address.")
        case SuspiciousOperation() | APIException():
            return error_response(request, 400, Code.BAD_INPUT, "The request cannot be understood.")
    if is_database_busy(problem) and request.method in _SAFE_METHODS:
        response = error_response(request, 503, Code.DATABASE_BUSY, "The database is busy. Try again.")
        response["Retry-After"] = str(RETRY_SECONDS)
        return response
    logger.error("Unhandled exception in request %s", getattr(request, "request_id", ""), exc_info=problem)
    return server_error(request)


def server_error(request: HttpRequest) -> HttpResponse:
    return error_response(request, 500, Code.INTERNAL_SERVER_ERROR, "Something went wrong on the server.")


def is_database_busy(problem: BaseException) -> bool:
    """Whether the database timed out: a lock, a statement, or no connection free in the pool."""
    if not isinstance(problem, OperationalError | InterfaceError | PoolTimeout):
        return False
    causes = (problem, problem.__cause__)
    return any(isinstance(cause, _BUSY) for cause in causes) or "database is locked" in str(problem)


def first_message(detail: Any) -> tuple[str, str]:
    """(field, message) of the first problem in a nest of field errors."""
    if isinstance(detail, dict):
        name, inner = next(iter(detail.items()))
        field, message = first_message(inner)
        return (name if not field or field == "non_field_errors" else f"{name}.{field}"), message
    if isinstance(detail, list):
        return first_message(next((entry for entry in detail if entry), ""))
    return "", str(detail)
