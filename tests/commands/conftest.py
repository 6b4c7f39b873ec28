"""Commands as a shell runs them: what they print on either stream, and the sentence they refuse with."""

from dataclasses import dataclass
from io import StringIO

import pytest
from django.core.management import call_command


@dataclass(frozen=True)
class Said:
    out: str
    err: str


class Manage:
    """`manage("mint_key", "--workspace", "acme")`; a refusal is the CommandError that manage.py prints.

    `last` is what the last one printed, also when it was refused.
    """

    last = Said("", "")

    def __call__(self, *words: object) -> Said:
        out, err = StringIO(), StringIO()
        try:
            call_command(*map(str, words), stdout=out, stderr=err)
        finally:
            self.last = Said(out.getvalue(), err.getvalue())
        return self.last


@pytest.fixture
def manage(db: None) -> Manage:
    return Manage()
