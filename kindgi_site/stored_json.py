"""StoredJson: a text column that holds JSON as it was sent, parsed only when somebody looks."""

from typing import TYPE_CHECKING, Any

from django.db import models

from kindgi_site.exact_json import JsonText

__all__ = ["JsonText", "StoredJson"]

if TYPE_CHECKING:
    _Base = models.TextField[JsonText | None, JsonText | None]
else:
    _Base = models.TextField


class StoredJson(_Base):
    """A nullable text column whose value in Python is a JsonText."""

    def from_db_value(self, value: str | None, *_: object) -> JsonText | None:
        return None if value is None else JsonText(value)

    def to_python(self, value: Any) -> JsonText | None:
        return value if value is None or isinstance(value, JsonText) else JsonText(str(value))

    def get_prep_value(self, value: Any) -> str | None:
        return value.text if isinstance(value, JsonText) else value

    def value_to_string(self, obj: models.Model) -> str:
        return self.get_prep_value(self.value_from_object(obj)) or ""
