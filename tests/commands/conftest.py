"""Commands as a shell runs them: what they print on either stream, and the sentence they refuse with."""

from collections.abc import Callable
from dataclasses import dataclass
from io import StringIO

import pytest
from django.core.management import call_command


@dataclass(frozen=True)
class Said:
    out: str
    err: str


@pytest.fixture
def manage(db: None) -> Callable[..., Said]:
    """`manage("mint_key", "--workspace", "acme")`; a refusal is the CommandError that manage.py prints."""

    def run(*words: object) -> Said:
        out, err = StringIO(), StringIO()
        call_command(*map(str, words), stdout=out, stderr=err)
        return Said(out.getvalue(), err.getvalue())

    return run
