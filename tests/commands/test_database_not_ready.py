"""A database that lacks its tables, or does not answer: a sentence that says what to do, and no traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent.parent
COMMANDS = ["create_workspace acme --admin ada", "seal_audit", "verify_audit", "purge_runs --older-than 90d"]


def run(command: str, database: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"DATABASE_URL": database, "DJANGO_SETTINGS_MODULE": "kindgi_site.settings"}
    words = [sys.executable, "manage.py", *command.split()]
    return subprocess.run(  # noqa: S603 - our own command
        words, cwd=PROJECT, env=environment, text=True, capture_output=True, timeout=60, check=False
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_a_new_database_is_to_be_migrated(tmp_path: Path, command: str):
    said = run(command, f"sqlite:///{tmp_path / 'new.sqlite3'}")

    assert (said.returncode, said.stdout) == (1, "")
    assert said.stderr.startswith("CommandError: The database lacks ")
    assert said.stderr.endswith(" migrations. Run manage.py migrate.\n")
    assert said.stderr.count("\n") == 1


def test_a_database_that_does_not_answer_is_told(tmp_path: Path):
    said = run("seal_audit", f"sqlite:///{tmp_path}")

    told = "CommandError: The database does not answer: unable to open database file\n"
    assert (said.returncode, said.stdout, said.stderr) == (1, "", told)
