"""Answers: shapes that say their fields once, for the renderer and for the OpenAPI document."""

from functools import cache, cached_property
from typing import Any, ClassVar, Self

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from kindgi_site.clock import wire_time


class WireShape(serializers.Serializer):  # type: ignore[type-arg]
    """An object of an answer. A field whose value is None or '' is left out (contract 4.1), unless `required`.

    Fields that may be left out say `required=False`.
    """

    example: ClassVar[dict[str, Any] | None] = None  # for the OpenAPI document

    @classmethod
    def wire(cls, instance: Any) -> dict[str, Any]:
        """The object's JSON form, with ready-made pieces in it."""
        return cls.shared().to_representation(instance)

    def to_representation(self, instance: Any) -> dict[str, Any]:
        answer: dict[str, Any] = {}
        for name, field in self._shown:
            value = field.get_attribute(instance)
            if value is not None and value != "":
                answer[name] = field.to_representation(value)
            elif field.required:
                answer[name] = value
        return answer

    @cached_property
    def _shown(self) -> list[tuple[str, Any]]:
        return list(self.fields.items())

    @classmethod
    @cache
    def shared(cls) -> Self:
        """Rendering keeps nothing on the serializer, so one serves all requests."""
        made = cls()
        assert made.fields  # bound now, before threads meet in it
        return made


class ShownTime(serializers.DateTimeField):
    def to_representation(self, value: Any) -> str:
        return wire_time(value)


class ShownId(serializers.CharField):
    """Ids are opaque texts on the wire."""


@extend_schema_field({"type": "boolean", "const": True})
class Always(serializers.BooleanField):
    """A flag that is there and true, or not there (contract, section 20)."""

    def get_attribute(self, instance: Any) -> Any:
        return super().get_attribute(instance) or None


@extend_schema_field({})
class StoredJsonField(serializers.Field):  # type: ignore[type-arg]
    """JSON as it is stored, joined into the answer as it stands. Say what it is with `schema_of`."""

    def to_representation(self, value: Any) -> Any:
        return value


def schema_of(schema: Any) -> type[StoredJsonField]:
    """A StoredJsonField that the OpenAPI document describes by a JSON schema or a serializer."""
    return extend_schema_field(schema)(type("StoredJsonField", (StoredJsonField,), {}))


@cache
def page_of(shape: type[WireShape]) -> type[serializers.Serializer]:  # type: ignore[type-arg]
    """The shape of a page of rows, for the OpenAPI document."""
    return type(
        f"{shape.__name__}Page",
        (serializers.Serializer,),
        {
            "data": serializers.ListField(child=shape()),
            "hasMore": serializers.BooleanField(),
            "nextCursor": serializers.CharField(required=False),
        },
    )
