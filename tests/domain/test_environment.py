"""The environment the site reads, and the file that tells people about it."""

import re
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent


def test_every_variable_of_the_settings_stands_in_the_example_and_no_other():
    read = set(re.findall(r'\benv_\w+\(\s*"([A-Z_]+)"', (PROJECT / "kindgi_site" / "settings.py").read_text()))
    told = set(re.findall(r"^(?:# )?([A-Z_]+)=", (PROJECT / ".env.example").read_text(), flags=re.MULTILINE))
    of_the_tests = {"TEST_DATABASE_URL", "CHROMIUM", "REQUIRE_POSTGRES", "REQUIRE_BROWSER"}

    assert read
    assert told == read | of_the_tests | {"SECRET_KEY_FILE"}
