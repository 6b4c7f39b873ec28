"""What goes over the wire: pages are packed for browsers that take it, and nothing else is."""

import gzip
import re

from django.test import Client

from kindgi_site.exact_json import JsonText
from kindgi_site.workspaces.models import Project
from tests.factories import RunFactory
from tests.pages.conftest import HTMX

PACKED = {"Accept-Encoding": "gzip, br"}


def without_token(page: bytes) -> str:
    """Each answer has a form's token of its own."""
    return re.sub(r'(name="csrfmiddlewaretoken" value=")[^"]+', r"\1", page.decode())


def test_a_long_page_is_small_on_the_wire(reviewer_client: Client, project: Project):
    calls = [{"toolId": "find_order", "arguments": {"order": number}, "result": "x"} for number in range(200)]
    run = RunFactory(project=project, content__calls=JsonText.of(calls))
    address = f"/runs/{run.run_id}/"

    plain = reviewer_client.get(address)
    packed = reviewer_client.get(address, headers=PACKED)

    assert without_token(gzip.decompress(packed.content)) == without_token(plain.content)
    assert ("Content-Encoding" in plain, packed["Content-Encoding"]) == (False, "gzip")
    assert "Accept-Encoding" in packed["Vary"]
    assert len(packed.content) < len(plain.content) / 10
    assert reviewer_client.get(address, headers=PACKED | HTMX)["Content-Encoding"] == "gzip"


def test_what_programs_read_stays_as_written(reviewer_client: Client, project: Project):
    run = RunFactory(project=project, content__output=JsonText.of({"content": "x" * 5000}))

    for address in ("/v1/openapi.json", f"/runs/{run.run_id}/raw/output/", "/v1/runs"):
        assert "Content-Encoding" not in reviewer_client.get(address, headers=PACKED), address
