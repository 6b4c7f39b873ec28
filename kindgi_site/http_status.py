"""The one table from a family of refusal to its HTTP status."""

from kindgi_site.errors import (
    ConflictError,
    DomainError,
    ForbiddenError,
    GoneError,
    InvalidError,
    NotFoundError,
    UnprocessableError,
)

STATUS_OF_FAMILY: dict[type[DomainError], int] = {
    InvalidError: 400,
    ForbiddenError: 403,
    NotFoundError: 404,
    ConflictError: 409,
    GoneError: 410,
    UnprocessableError: 422,
}


def status_of(refusal: DomainError) -> int:
    return next(status for family, status in STATUS_OF_FAMILY.items() if isinstance(refusal, family))
