"""The contract's own schemas of the three seed operations, closed: a field they do not name is a fault.

The document is not part of this project; tests that need it skip where it is absent.
"""

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator, FormatChecker

DOCUMENT = Path(__file__).resolve().parents[2] / "shared" / "contract" / "seed-operations.openapi.yaml"
needs_seed_schema = pytest.mark.skipif(not DOCUMENT.exists(), reason=f"the contract's {DOCUMENT.name} is not here")

_WIRE_TIME = re.compile(r"[1-9]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_HARD = {"x-predecessor-const": "const", "x-predecessor-minimum": "minimum"}

_formats = FormatChecker(formats=[])
_formats.checks("date-time")(lambda value: not isinstance(value, str) or _WIRE_TIME.fullmatch(value) is not None)


def faults(name: str, body: Any) -> list[str]:
    """Where a parsed body differs from the closed schema `name`, as `path: problem`."""
    return [f"{error.json_path}: {error.message}" for error in _validator(name).iter_errors(body)]


@cache
def _validator(name: str) -> Draft202012Validator:
    schemas = yaml.safe_load(DOCUMENT.read_text())["components"]["schemas"]
    return Draft202012Validator(_closed(schemas[name], schemas), format_checker=_formats)


def _closed(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    """A schema without references, in which every object with named properties has only those."""
    if "$ref" in schema:
        return _closed(schemas[schema["$ref"].rpartition("/")[2]], schemas)
    if "allOf" in schema:
        return _closed(_one_object(schema, schemas), schemas)
    made = {_HARD.get(word, word): value for word, value in schema.items()}
    if "properties" in made:
        made["properties"] = {name: _closed(part, schemas) for name, part in made["properties"].items()}
        made.setdefault("additionalProperties", False)
    for word in ("items", "additionalProperties"):
        if isinstance(made.get(word), dict):
            made[word] = _closed(made[word], schemas)
    if "oneOf" in made:
        made["oneOf"] = [_closed(part, schemas) for part in made["oneOf"]]
    return made


def _one_object(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    """The parts of an `allOf` as one object: closed one by one, none would allow the fields of the others."""
    made: dict[str, Any] = {"type": "object", "properties": {}, "required": []}
    for part in schema["allOf"]:
        found = schemas[part["$ref"].rpartition("/")[2]] if "$ref" in part else part
        made["properties"] |= found.get("properties", {})
        made["required"] += found.get("required", [])
    return made
