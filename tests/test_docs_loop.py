"""The commands of docs/loop.md, run as they stand against a server, print what the page says they print."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from django.conf import settings

from kindgi_site.callers import Role
from kindgi_site.workspaces.services.keys import store_key
from tests.factories import ProjectFactory, service_with

PAGE = Path(settings.BASE_DIR) / "docs" / "loop.md"
END = "--- end of block ---"

needs_shell = pytest.mark.skipif(not (shutil.which("curl") and shutil.which("sh")), reason="needs curl and sh")


def blocks() -> list[tuple[str, str]]:
    """Each block of commands, with what the page shows them to print."""
    found = re.findall(r"^```(sh|text)\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    commands: list[tuple[str, str]] = []
    for kind, text in found:
        if kind == "sh":
            commands.append((text, ""))
        else:
            commands[-1] = (commands[-1][0], text)
    return commands


def without_line_end(text: str) -> str:
    # An answer of curl's ends without one.
    return text.strip("\n")


@needs_shell
def test_each_block_prints_what_the_page_says(live_server):
    project = ProjectFactory(default=True)
    service = service_with(project, Role.ADMIN)
    key = store_key(workspace=project.workspace, principal=service)[1]
    script = "".join(f"{commands}\necho\necho '{END}'\n" for commands, _shown in blocks())

    done = subprocess.run(
        ["sh", "-eu"],  # noqa: S607 - whichever sh there is
        input=script,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "URL": live_server.url, "KEY": key, "NO_PROXY": "*"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    printed = [without_line_end(part) for part in done.stdout.split(f"{END}\n")[:-1]]
    assert printed == [without_line_end(shown) for _commands, shown in blocks()]


def test_the_page_names_a_block_for_each_step():
    assert len(blocks()) == 7
    assert sum(bool(shown) for _commands, shown in blocks()) == 6
