"""The server's entry."""

import io
import os
from collections.abc import Callable, Iterable
from typing import Any

from django.conf import settings
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kindgi_site.settings")

WsgiApplication = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def with_length(application: WsgiApplication) -> WsgiApplication:
    """Give a body that came without a length one, reading at most one byte more than is allowed.

    Django reads no body without a Content-Length. The extra byte makes BodyLimitMiddleware refuse.
    """

    def measured(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if "chunked" in environ.get("HTTP_TRANSFER_ENCODING", "").lower():
            body = _read_up_to(environ["wsgi.input"], settings.MAX_BODY_BYTES + 1)
            environ["wsgi.input"] = io.BytesIO(body)
            environ["CONTENT_LENGTH"] = str(len(body))
        return application(environ, start_response)

    return measured


def _read_up_to(stream: Any, limit: int) -> bytes:
    pieces, left = [], limit
    while left > 0 and (piece := stream.read(min(left, 65536))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


application = with_length(get_wsgi_application())
