"""`scopeKind` and `scopeId`: narrowing a list to a project (contract 7.7)."""

from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

from django.db.models import Model, QuerySet
from django.http import QueryDict

from kindgi_site.api.bodies import uuid_of
from kindgi_site.errors import Code, InvalidError

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True)
class Scope:
    """`is_empty`: a scope in which this server has nothing."""

    project_id: UUID | None = None
    is_empty: bool = False

    def narrow(self, queryset: QuerySet[Row]) -> QuerySet[Row]:
        if self.is_empty:
            return queryset.none()
        return queryset if self.project_id is None else queryset.filter(project=self.project_id)


def scope_of(query: QueryDict) -> Scope:
    """InvalidError `scope-invalid` for a combination that means nothing."""
    kind, scope_id = query.get("scopeKind", ""), query.get("scopeId", "")
    project_id = uuid_of(scope_id)
    if kind == "project" and project_id is not None:
        return Scope(project_id=project_id)
    if kind == "org":
        return Scope(is_empty=True)
    if kind in ("", "tenant") and not scope_id:
        return Scope()
    message = "scopeKind is tenant (without scopeId) or project (with a UUID as scopeId)."
    raise InvalidError(Code.SCOPE_INVALID, message, field="scopeKind")
