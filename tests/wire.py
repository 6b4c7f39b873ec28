"""A program that speaks /v1: a key in every request, and bodies as the bytes they are."""

import json

from django.http import HttpResponse
from django.test import Client

from tests.told import check_told


class WireClient:
    """`key=None` sends no Authorization. `body` given as bytes or str goes as it is, anything else as JSON.

    Every answer must be one that the OpenAPI document tells of.
    """

    def __init__(self, key: str | None, *, raises: bool = True) -> None:
        self.key = key
        self._client = Client(raise_request_exception=raises)

    def request(self, method: str, path: str, body: object = b"", **headers: str) -> HttpResponse:
        """Header names are written with underscores: `idempotency_key="k1"`."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.key is not None:
            sent.setdefault("authorization", f"Bearer {self.key}")
        data = body if isinstance(body, bytes | str) else json.dumps(body)
        response = self._client.generic(method, path, data, content_type="application/json", headers=sent)
        check_told(method, path, response)
        return response

    def get(self, path: str, **headers: str) -> HttpResponse:
        return self.request("GET", path, **headers)

    def head(self, path: str, **headers: str) -> HttpResponse:
        return self.request("HEAD", path, **headers)

    def post(self, path: str, body: object = b"", **headers: str) -> HttpResponse:
        return self.request("POST", path, body, **headers)

    def put(self, path: str, body: object = b"", **headers: str) -> HttpResponse:
        return self.request("PUT", path, body, **headers)

    def patch(self, path: str, body: object = b"", **headers: str) -> HttpResponse:
        return self.request("PATCH", path, body, **headers)

    def delete(self, path: str, body: object = b"", **headers: str) -> HttpResponse:
        return self.request("DELETE", path, body, **headers)
