"""StoredJson: a text column that holds JSON as it was sent, parsed only when somebody looks."""

from functools import cached_property
from typing import Any

from django.db import models

from kindgi_site import exact_json


class JsonText:
    """A JSON text, ready for the wire as `.text` and parsed on first use as `.value`."""

    def __init__(self, text: str) -> None:
        self.text = text

    @classmethod
    def of(cls, value: Any) -> "JsonText":
        """The text of a value made of JSON types."""
        return cls(exact_json.dumps(value))

    @cached_property
    def value(self) -> Any:
        """Numbers are `exact_json.Number`."""
        return exact_json.parse(self.text)

    @cached_property
    def canonical(self) -> str:
        return exact_json.canonical(self.value)

    def __eq__(self, other: object) -> bool:
        """Same text; compare `.canonical` for same value."""
        return isinstance(other, JsonText) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"JsonText({self.text[:60]!r})"


class StoredJson(models.TextField):  # type: ignore[type-arg]
    """A nullable text column whose value in Python is a JsonText."""

    def from_db_value(self, value: str | None, *_: object) -> JsonText | None:
        return None if value is None else JsonText(value)

    def to_python(self, value: Any) -> JsonText | None:
        return value if value is None or isinstance(value, JsonText) else JsonText(str(value))

    def get_prep_value(self, value: Any) -> str | None:
        return value.text if isinstance(value, JsonText) else value

    def value_to_string(self, obj: models.Model) -> str:
        return self.get_prep_value(self.value_from_object(obj)) or ""
