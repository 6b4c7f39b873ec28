"""Words that stand on several pages, or twice on one, are the same."""

import re
from html import unescape
from pathlib import Path

import pytest
from django.conf import settings

from tests.pages.conftest import text_of

TABLES = sorted(
    path for path in Path(settings.BASE_DIR, "templates").rglob("*.html") if "data-label" in path.read_text()
)


@pytest.mark.parametrize("table", TABLES, ids=lambda path: path.stem)
def test_a_narrow_table_names_its_cells_as_the_wide_one_heads_its_columns(table: Path):
    """Where a table is narrow its head is not seen, and each cell says what it is."""
    source = re.sub(r"{% translate (['\"])(.*?)\1 %}", r"\2", table.read_text())
    heads = {text_of(head).strip() for head in re.findall(r"<th scope=\"col\"[^>]*>.*?</th>", source)}
    labels = {unescape(label) for label in re.findall(r'data-label="([^"]*)"', source)}

    assert labels - heads == set()
