"""`make test`: the whole suite on SQLite, again on PostgreSQL, then in a browser; says what ran and what did not.

TEST_DATABASE_URL names a PostgreSQL server (else the local one is tried); CHROMIUM a browser (else the usual names).
REQUIRE_POSTGRES=1 and REQUIRE_BROWSER=1 make their absence a failure. Arguments are handed to pytest.
"""

import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT))

from tests.chromium import find_chromium  # noqa: E402 - run as a script, the project is not on the path before


@dataclass(frozen=True)
class Part:
    """One of the three parts of the suite, and how it went."""

    name: str
    ok: bool
    told: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0


def main(arguments: list[str]) -> int:
    parts = [_run("SQLite", ["-n", "auto", *arguments], {"TEST_DATABASE_URL": ""}), _on_postgres(arguments)]
    parts.append(_in_browser(arguments))
    sys.stdout.write("\n" + "; ".join(f"{part.name}: {part.told}" for part in parts) + ".\n")
    passed, failed, skipped = (sum(getattr(part, key) for part in parts) for key in ("passed", "failed", "skipped"))
    sys.stdout.write(f"{passed} passed, {failed} failed, {skipped} skipped\n")
    return 0 if all(part.ok for part in parts) else 1


def _on_postgres(arguments: list[str]) -> Part:
    for url in _postgres_urls():
        try:
            with psycopg.connect(url, connect_timeout=3) as connection:
                server = f"PostgreSQL {connection.info.server_version // 10000} at {connection.info.host}"
        except psycopg.Error as problem:
            reason = str(problem).strip().splitlines()[-1]
            continue
        return _run(server, ["-n", "auto", *arguments], {"TEST_DATABASE_URL": url})
    return _absent("PostgreSQL", f"not reachable ({reason})", "REQUIRE_POSTGRES")


def _postgres_urls() -> Iterator[str]:
    """The server that was named, else the local one as either of two users."""
    if named := os.environ.get("TEST_DATABASE_URL"):
        yield named
        return
    for user in ("postgres", "root"):
        yield f"postgresql://{user}@127.0.0.1:5432/postgres"


def _in_browser(arguments: list[str]) -> Part:
    browser = find_chromium()
    if browser is None:
        return _absent("browser", "no Chromium found", "REQUIRE_BROWSER")
    return _run("browser", ["-m", "browser", "-n", "auto", *arguments], {"TEST_DATABASE_URL": "", "CHROMIUM": browser})


def _absent(name: str, told: str, requirement: str) -> Part:
    required = os.environ.get(requirement, "") not in {"", "0"}
    return Part(name, ok=not required, told=f"did not run, {told}" + (f", though {requirement} is set" * required))


def _run(name: str, arguments: list[str], environment: dict[str, str]) -> Part:
    sys.stdout.write(f"\n=== {name} ===\n")
    sys.stdout.flush()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", f"--junitxml={report}", *arguments]
        status = subprocess.run(command, cwd=PROJECT, env=os.environ | environment, check=False).returncode
        passed, failed, skipped = _counts(report)
    if not passed + failed:
        return Part(name, ok=False, told="ran no test", skipped=skipped)
    ok = status == 0
    told = f"{passed} passed" + f", {failed} failed" * bool(failed) + f", {skipped} skipped" * bool(skipped)
    return Part(name, ok, told + ("" if ok else f" (pytest ended with {status})"), passed, failed, skipped)


def _counts(report: Path) -> tuple[int, int, int]:
    if not report.exists():
        return 0, 0, 0
    suite = next(ET.parse(report).iter("testsuite"))  # noqa: S314
    total, failures, errors, skipped = (int(suite.get(key, 0)) for key in ("tests", "failures", "errors", "skipped"))
    return total - failures - errors - skipped, failures + errors, skipped


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
