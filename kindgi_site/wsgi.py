"""The server's entry."""

import gc
import io
import os
from collections.abc import Callable, Iterable
from typing import Any

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kindgi_site.settings")

# How many objects more than were freed make Python look for cycles; a page over one parsed run makes ten times its 700.
YOUNG_OBJECTS = 50_000

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


def settle() -> None:
    """Load every view before the first request, and let the collector pass over what lives as long as the process.

    Reading a large run makes hundreds of thousands of objects, none of them in a cycle. With Python's own thresholds
    half the time of such a page goes into looking through all modules and templates again and again.
    """
    assert get_resolver().url_patterns
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, 20, 20)


application = with_length(get_wsgi_application())
settle()
