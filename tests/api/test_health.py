"""`GET /health` (contract 1.1): for load balancers, who have no token."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.wire import WireClient


def test_anybody_may_ask_and_no_database_is_needed() -> None:
    response = WireClient(None).get("/health")

    assert response.status_code == 200
    assert response["Content-Type"] == "application/json"
    assert response["X-Request-Id"].startswith("req-")
    assert response.json() == {"ok": True}


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_it_can_only_be_read(method: str, refusal: Callable[..., dict[str, Any]]) -> None:
    response = WireClient(None).request(method, "/health")

    assert response.status_code == 404
    assert response.json() == refusal(response, "route-not-found")
