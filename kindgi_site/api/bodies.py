"""Request bodies: their fields, strict as the contract is (section 4), first problem first.

DRF's fields coerce (`"1"` is a number, `1` a text); the contract does not, so each field here
takes exactly its JSON type. They stay DRF fields, so that the OpenAPI document is made from them.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum
from functools import cache
from typing import Any, ClassVar, Self
from uuid import UUID

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.fields import empty

from kindgi_site.api.documents import Document
from kindgi_site.api.errors import first_message
from kindgi_site.errors import Code, InvalidError
from kindgi_site.exact_json import Number, is_storable

SEMVER = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"
    r"(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?(\+[0-9a-zA-Z.-]+)?",
    re.ASCII,
)
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_TIME = re.compile(
    r"([1-9]\d{3}-\d{2}-\d{2})[T ]((?!24)\d{2}:\d{2}:\d{2})"
    r"(?:\.(\d{1,9}))?(?:Z|([+-])(\d{2})(?::(\d{2})(?::(\d{2}))?)?)",
    re.ASCII,
)


class Text(serializers.CharField):
    """A JSON text, kept as sent. `non_blank`: it must hold something other than white space."""

    default_error_messages = {
        "invalid": "This must be a text.",
        "unstorable": "This text holds a character that cannot be stored (NUL or an unpaired surrogate).",
    }

    def __init__(self, *, non_blank: bool = False, **options: Any) -> None:
        self.non_blank = non_blank
        if non_blank:
            options.setdefault("min_length", 1)  # for the document; what is blank is refused before
        options.setdefault("allow_blank", options.get("min_length", 0) == 0 and not non_blank)
        super().__init__(trim_whitespace=False, **options)
        # Ours says the same with one message, and knows surrogates too.
        self.validators = [v for v in self.validators if "Prohibit" not in type(v).__name__]

    def run_validation(self, data: Any = empty) -> Any:
        if data is not empty and data is not None and not isinstance(data, str):
            self.fail("invalid")
        if isinstance(data, str) and self.non_blank and not data.strip():
            self.fail("blank")
        return super().run_validation(data)

    def to_internal_value(self, data: Any) -> str:
        if not is_storable(data):
            self.fail("unstorable")
        return str(data)


class Word(serializers.ChoiceField):
    """One of an enumeration's words."""

    default_error_messages = {"invalid_choice": "This is not one of the words allowed here."}

    def __init__(self, words: type[StrEnum], **options: Any) -> None:
        self.words = words
        super().__init__([word.value for word in words], **options)

    def to_internal_value(self, data: Any) -> StrEnum:
        if not isinstance(data, str) or data not in set(self.words):
            self.fail("invalid_choice")
        return self.words(data)


class Flag(serializers.BooleanField):
    """`true` or `false` and nothing like them."""

    default_error_messages = {"invalid": "This must be true or false."}

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid")
        return data


class Whole(serializers.IntegerField):
    """A whole number; `2.0` is one, `true` is not."""

    default_error_messages = {"invalid": "This must be a whole number."}

    def to_internal_value(self, data: Any) -> int:
        whole = data.whole() if isinstance(data, Number) else None
        if whole is None:
            self.fail("invalid")
        return whole


class Decimal(serializers.FloatField):
    """A finite number, as a double."""

    default_error_messages = {"invalid": "This must be a number."}

    def to_internal_value(self, data: Any) -> float:
        if not isinstance(data, Number):
            self.fail("invalid")
        value = float(data.text)
        if value in (float("inf"), float("-inf")):
            self.fail("invalid")
        return value


class Id(serializers.UUIDField):
    """A UUID in its hyphenated form."""

    default_error_messages = {"invalid": "This must be a UUID."}

    def to_internal_value(self, data: Any) -> UUID:
        found = uuid_of(data)
        if found is None:
            self.fail("invalid")
        return found


class Moment(serializers.DateTimeField):
    """A time with its zone (contract 4.4), cut to milliseconds."""

    default_error_messages = {"invalid": "This must be a time with its zone, such as 2026-03-01T09:30:00Z."}

    def to_internal_value(self, data: Any) -> datetime:
        moment = moment_of(data) if isinstance(data, str) else None
        if moment is None:
            self.fail("invalid")
        return moment


@extend_schema_field({"type": "string", "maxLength": 100, "pattern": f"^{SEMVER.pattern}$"})
class Version(Text):
    """A semantic version."""

    default_error_messages = {"version": "This must be a version such as 1.2.0."}

    def __init__(self, **options: Any) -> None:
        super().__init__(non_blank=True, **options)

    def to_internal_value(self, data: Any) -> str:
        version = super().to_internal_value(data)
        if len(version) > 100 or not SEMVER.fullmatch(version):
            self.fail("version")
        return version


@extend_schema_field({})
class AnyJson(serializers.Field):  # type: ignore[type-arg]
    """Any JSON; null is a value here, not an absence."""

    def run_validation(self, data: Any = empty) -> Any:
        return None if data is None else super().run_validation(data)

    def to_internal_value(self, data: Any) -> Any:
        return data

    def to_representation(self, value: Any) -> Any:
        return value


@extend_schema_field({"type": "object", "additionalProperties": True})
class AnyObject(serializers.Field):  # type: ignore[type-arg]
    default_error_messages = {"invalid": "This must be an object."}

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, dict):
            self.fail("invalid")
        return data

    def to_representation(self, value: Any) -> Any:
        return value


class ListOf(serializers.ListField):
    """A JSON array; its length is checked before what is in it."""

    def to_internal_value(self, data: Any) -> list[Any]:
        if not isinstance(data, list):
            self.fail("not_a_list", input_type=type(data).__name__)
        if self.max_length is not None and len(data) > self.max_length:
            self.fail("max_length")
        if self.min_length is not None and len(data) < self.min_length:
            self.fail("min_length")
        return [self.child.run_validation(entry) for entry in data]

    default_error_messages = {"max_length": "There are too many entries.", "min_length": "There are too few entries."}

    def fail(self, key: str, **options: Any) -> Any:
        raise serializers.ValidationError(self.error_messages[key].format(**options))


class Shape(serializers.Serializer):  # type: ignore[type-arg]
    """An object inside a body: unknown fields are refused as `bad-input` (contract 4.1)."""

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, Mapping):
            raise serializers.ValidationError("This must be an object.")
        self.refuse_unknown([name for name in data if name not in self.fields])
        said: dict[str, Any] = {}
        for name, field in self.fields.items():
            try:
                value = self._checked(name, field, data)
            except serializers.ValidationError:
                self.refuse_earlier(name, said)
                raise
            if value is not empty:
                said[name] = value
        return said

    def refuse_earlier(self, name: str, said: dict[str, Any]) -> None:
        """Raise what the contract tells before a problem of the field `name`; `said` are the fields before it."""

    def refuse_unknown(self, names: list[str]) -> None:
        if names:
            raise serializers.ValidationError({_printable(names[0]): "There is no such field."})

    def _checked(self, name: str, field: Any, data: Mapping[str, Any]) -> Any:
        try:
            return field.run_validation(data.get(name, empty))
        except serializers.ValidationError as problem:
            raise serializers.ValidationError({name: problem.detail}) from None
        except serializers.SkipField:
            return empty


class WireBody(Shape):
    """A whole request body. `read` is the only way in.

    `together` is what the OpenAPI document says of its fields together; the body's own rules refuse what breaks it.
    """

    together: ClassVar[dict[str, Any]] = {}
    example: ClassVar[dict[str, Any]]  # for the document too; it is sent in a test, and taken

    @classmethod
    def read(cls, document: Document, *, optional: bool = False) -> dict[str, Any]:
        """The validated fields that were sent, by wire name.

        `optional`: an empty body counts as `{}`. InvalidError `bad-input` or `unknown-field`.
        """
        value = {} if optional and document.is_empty else document.value
        if not isinstance(value, dict):
            raise InvalidError(Code.BAD_INPUT, "The body must be a JSON object.")
        try:
            return dict(cls.shared().to_internal_value(value))
        except serializers.ValidationError as problem:
            field, message = first_message(problem.detail)
            raise InvalidError(Code.BAD_INPUT, f"{field}: {message}", field=field) from None

    def refuse_unknown(self, names: list[str]) -> None:
        if names:
            message = "The body has fields that are not known here."
            raise InvalidError(Code.UNKNOWN_FIELD, message, fields=[_printable(name) for name in names])

    @classmethod
    @cache
    def shared(cls) -> Self:
        """Reading keeps nothing on the serializer, so one serves all requests (DRF copies fields for each new one)."""
        made = cls()
        assert made.fields  # bound now, before threads meet in it
        return made


def any_of(*names: str) -> dict[str, Any]:
    """At least one of these fields."""
    return {"anyOf": [{"required": [name]} for name in names]}


def one_of(*names: str) -> dict[str, Any]:
    """Exactly one of these fields."""
    return {"oneOf": [{"required": [name]} for name in names]}


def _printable(name: str) -> str:
    return name.encode("utf-8", "backslashreplace").decode()


def uuid_of(data: Any) -> UUID | None:
    return UUID(data) if isinstance(data, str) and _UUID.fullmatch(data) else None


def moment_of(text: str) -> datetime | None:
    """A time of contract 4.4, in UTC and cut to milliseconds, or None."""
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    day, clock, fraction, sign, hours, minutes, seconds = found.groups()
    offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0), seconds=int(seconds or 0))
    if hours and (int(hours) >= 16 or int(minutes or 0) >= 60 or int(seconds or 0) >= 60):
        return None
    zone = timezone(-offset if sign == "-" else offset)
    try:
        moment = datetime.fromisoformat(f"{day}T{clock}.{(fraction or '')[:3]:0<3}").replace(tzinfo=zone)
        return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
