"""Pages as a browser asks for them, whole and by htmx."""

import re
from html import unescape

import pytest
from django.utils.html import strip_tags

from corrections.models import Run
from kindgi_site.exact_json import JsonText
from kindgi_site.workspaces.models import Project
from tests.factories import RunFactory

HTMX = {"HX-Request": "true"}
VARY = {"HX-Request", "HX-Boosted", "HX-History-Restore-Request"}


@pytest.fixture
def marked_run(project: Project) -> Run:
    """A run with two calls, an answer and a list of two."""
    return RunFactory(
        project=project,
        content__input=JsonText.of({"message": "Cancel it please"}),
        content__output=JsonText.of({"content": "**Done.**", "hits": [{"id": "a"}, {"id": "b"}]}),
        content__calls=JsonText.of(
            [
                {"toolId": "find_order", "arguments": {"orderId": "A-17", "limit": 1}, "result": {"found": True}},
                {"toolId": "cancel_order", "arguments": {"orderId": "A-17"}, "error": "not allowed"},
            ]
        ),
    )


def text_of(html: str) -> str:
    """What a person reads on a page, in one line."""
    spaced = re.sub(r"</(t[dh]|d[dt]|summary|label|p|li|h[1-6]|option|button|span)>", r" </\1>", html)
    return re.sub(r"\s+", " ", unescape(strip_tags(spaced)))


def root_of(html: str) -> str:
    """The id of a fragment's root element."""
    found = re.match(r"\s*<[a-z]+[^>]*\bid=\"([^\"]+)\"", html)
    return found.group(1) if found else ""
