"""Where a word is still found in the database: in its file as bytes, or in a dump of it."""

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
from django.db import connection


def everything_kept() -> bytes:
    """All that the database keeps at this moment, as bytes; its write-ahead log and journal too."""
    if connection.vendor == "sqlite":
        file = Path(connection.settings_dict["NAME"])
        files = [file, *(file.with_name(file.name + end) for end in ("-wal", "-journal"))]
        return b"".join(each.read_bytes() for each in files if each.exists())
    program = shutil.which("pg_dump")
    if program is None:
        pytest.skip("pg_dump is not installed")
    url = "postgresql://{USER}:{PASSWORD}@{HOST}:{PORT}/{NAME}".format(**connection.settings_dict)
    return subprocess.run([program, "--inserts", url], check=True, capture_output=True).stdout  # noqa: S603


def found_of(words: Iterable[str]) -> set[str]:
    """Which of the words are still kept, in whichever of the usual encodings."""
    kept = everything_kept()
    return {
        word
        for word in words
        if any(form in kept for form in (word.encode(), word.encode("utf-16-le"), word.encode().hex().encode()))
    }
