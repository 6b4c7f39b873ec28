"""The OpenAPI document: what drf-spectacular cannot know by itself."""

import inspect
import re
from collections.abc import Iterator
from typing import Any

from django.forms import MultipleChoiceField
from django_filters import Filter, FilterSet
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework import serializers

from kindgi_site.api.bodies import Shape, WireBody
from kindgi_site.api.codes import name_codes
from kindgi_site.api.links import link_up
from kindgi_site.api.shapes import WireShape

_MEANING = {
    400: "The request cannot be accepted as it stands.",
    401: "No usable bearer token.",
    403: "The caller may not do this.",
    404: "There is no such thing for this caller.",
    409: "The stored state does not allow it, or an Idempotency-Key conflict.",
    410: "It was taken away for good.",
    413: "The body is larger than the limit; `details.maxBytes`.",
    422: "This server cannot work with it.",
    429: "The workspace used up its requests for this minute.",
    500: "Unexpected failure.",
    503: "Busy; nothing ran. Try again after `Retry-After` seconds.",
}
_SUCCESS = {"200": "As it is now.", "201": "As it was made.", "202": "As it was taken on."}
_EVERYWHERE = (400, 401, 403, 413, 429, 500, 503)  # what the stages before a route may answer with


class _ErrorShape(serializers.Serializer):  # type: ignore[type-arg]
    code = serializers.CharField()
    message = serializers.CharField()
    details = serializers.DictField(required=False)
    requestId = serializers.CharField()


class WireErrorShape(serializers.Serializer):  # type: ignore[type-arg]
    error = _ErrorShape()


def paging(least: int = 1) -> list[OpenApiParameter]:
    """The parameters of a list that comes in pages; `least` is 0 where the rows can be left out."""
    limit = {"type": "integer", "minimum": least, "maximum": 100, "default": 25}
    return [
        OpenApiParameter("limit", limit, description="Page size. More counts as 100, anything else as 25."),
        OpenApiParameter("cursor", str, description="The last page's `nextCursor`, unchanged."),
    ]


PAGING = paging()
SCOPE = [
    OpenApiParameter("scopeKind", str, enum=["tenant", "project", "org"], description="What to list from."),
    OpenApiParameter("scopeId", str, description="The project, with `scopeKind=project`."),
]
_IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "minLength": 1, "maxLength": 255},
    OpenApiParameter.HEADER,
    description="The caller's key for safe retries.",
)


def query(name: str, **options: Any) -> OpenApiParameter:
    return OpenApiParameter(name, str, **options)


def filtering(filters: type[FilterSet]) -> list[OpenApiParameter]:
    """The query parameters of a filter set, with the words and forms that each takes."""
    return [_filtering(name, each) for name, each in filters.get_filters().items()]


def _filtering(name: str, each: Filter) -> OpenApiParameter:
    words = [word for word, _label in each.extra.get("choices", ())]
    if issubclass(each.field_class, MultipleChoiceField):
        return query(name, enum=words, many=True, description="One or more: repeated, or with commas between them.")
    return OpenApiParameter(name, getattr(each.field_class, "wire_type", str), enum=words or None)


def refusals(*statuses: int) -> dict[int, OpenApiResponse]:
    """The refusals of an operation, and those that any operation may answer with."""
    return {
        status: OpenApiResponse(WireErrorShape, description=_MEANING[status])
        for status in sorted({*statuses, *_EVERYWHERE})
    }


class WireSchema(AutoSchema):
    """Operations as the contract names and tags them."""

    def get_tags(self) -> list[str]:
        return [self.path.removeprefix("/v1/").split("/")[0]]

    def get_auth(self) -> list[dict[str, Any]]:
        return [{"bearerAuth": []}]

    def get_description(self) -> str:  # type: ignore[override]
        """What the handler's docstring says; the class's own is for its readers."""
        handler = getattr(self.view, self.method.lower(), None)
        return str(getattr(handler, "__doc__", None) or "")

    def get_serializer_name(self, serializer: Any, direction: Any) -> str:
        name: str = super().get_serializer_name(serializer, direction)
        return name.lstrip("_").replace("Shape", "")

    def map_parsers(self) -> list[str]:
        """Bodies are JSON, read by the pipeline and not by a DRF parser."""
        return ["application/json"]

    def get_override_parameters(self) -> list[Any]:
        return [_IDEMPOTENCY_KEY] if self.method in ("POST", "PUT", "PATCH", "DELETE") else []


# drf-spectacular describes a class by the docstring of its base where it has none.
_INHERITED = frozenset(inspect.cleandoc(base.__doc__ or "") for base in (Shape, WireBody, WireShape))


def _drop_enum_marks(part: Any) -> None:
    """Take out drf-spectacular's own notes on enumerations."""
    if isinstance(part, dict):
        part.pop("x-spec-enum-id", None)
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        _drop_enum_marks(inner)


_CAMEL = re.compile(r"_([a-z])")
_RETRY_AFTER = {"description": "Whole seconds to wait.", "schema": {"type": "integer", "minimum": 1}}


def _camel(found: re.Match[str]) -> str:
    return found[1].upper()


def _renamed(path: str, path_item: dict[str, Any]) -> dict[str, Any]:
    """Path parameters under the contract's names; in the addresses' patterns they are Python's."""
    for operation in path_item.values():
        for parameter in operation.get("parameters", []):
            if parameter["in"] == "path":
                parameter["name"] = _CAMEL.sub(_camel, parameter["name"])
                parameter["schema"] |= _in_path(path, parameter["name"])
    return path_item


def _in_path(path: str, name: str) -> dict[str, Any]:
    """What is known of a name in an address; the others are opaque (contract 1.1)."""
    if name == "version":
        return {"pattern": r"^\d+\.\d+\.\d+$"}
    if name == "projectId" or path.startswith(("/v1/runs/", "/v1/test-runs/")):
        return {"format": "uuid"}
    return {"minLength": 1}


def _kinds(of: type[Any]) -> Iterator[type[Any]]:
    for kind in of.__subclasses__():
        yield kind
        yield from _kinds(kind)


def _complete(schemas: dict[str, Any]) -> None:
    """What bodies say of their fields together, and the examples of bodies and of answers."""
    for body in _kinds(WireBody):
        if (schema := schemas.get(body.__name__)) is not None:
            schema |= body.together | {"examples": [body.example]}
    for shape in _kinds(WireShape):
        if shape.__dict__.get("example"):
            schemas[shape.__name__.replace("Shape", "")]["examples"] = [shape.example]


def _explain(responses: dict[str, Any]) -> None:
    """What a success is, and where a refusal says when to come back."""
    for status in _SUCCESS.keys() & responses:
        responses[status]["description"] = _SUCCESS[status]
    for status in ("429", "503"):
        responses[status]["headers"] = {"Retry-After": {"$ref": "#/components/headers/RetryAfter"}}


def finish_document(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:  # noqa: FBT001 - drf-spectacular's signature
    """Name the one way to authenticate, close every request body (no unknown fields), and link what follows."""
    components = result.setdefault("components", {})
    components["securitySchemes"] = {"bearerAuth": {"type": "http", "scheme": "bearer"}}
    components["headers"] = {"RetryAfter": _RETRY_AFTER}
    paths = {_CAMEL.sub(_camel, path): item for path, item in result.get("paths", {}).items()}
    result["paths"] = {path: _renamed(path, item) for path, item in paths.items()}
    for name, schema in components.get("schemas", {}).items():
        if name.endswith("Body") and schema.get("type") == "object":
            schema["additionalProperties"] = False
        if schema.get("description") in _INHERITED:
            del schema["description"]
    _complete(components.get("schemas", {}))
    _drop_enum_marks(result)
    operations = {each["operationId"]: each for item in result["paths"].values() for each in item.values()}
    for path, item in result["paths"].items():
        for method, operation in item.items():
            name_codes(path, method, operation)
            _explain(operation["responses"])
    link_up(operations)
    return result
