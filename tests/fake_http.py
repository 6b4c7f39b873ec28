"""A server on this machine that answers over HTTP what a test tells it to."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Protocol


class Endpoint(Protocol):
    def respond(self, handler: BaseHTTPRequestHandler) -> None: ...


@contextmanager
def served(endpoint: Endpoint) -> Iterator[str]:
    """Serves it; the address it is at."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            endpoint.respond(self)

        do_GET = do_POST

        def log_message(self, *_words: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
