"""How an answer becomes bytes: once, from ready-made pieces where there are any."""

from collections.abc import Mapping
from typing import Any

import orjson
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.renderers import BaseRenderer

from kindgi_site.exact_json import JsonText, Number


class WireRenderer(BaseRenderer):
    """JSON by orjson; a JsonText goes into it as it is, neither parsed nor encoded again."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Mapping[str, Any] | None = None
    ) -> bytes:
        return b"" if data is None else wire_bytes(data)


class AlwaysJson(BaseContentNegotiation):
    """The contract has one representation, whatever a client's Accept header says."""

    def select_parser(self, request: Any, parsers: Any) -> None:
        return None

    def select_renderer(self, request: Any, renderers: Any, format_suffix: str | None = None) -> tuple[Any, str]:
        return renderers[0], renderers[0].media_type


def wire_bytes(value: Any) -> bytes:
    return orjson.dumps(value, default=_piece)


def _piece(value: Any) -> Any:
    if isinstance(value, JsonText | Number):
        return orjson.Fragment(value.text)
    raise TypeError(f"{type(value).__name__} has no JSON form")
