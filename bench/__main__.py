"""Run every measurement in a database that is thrown away, and print a table of each."""

import argparse
import os
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import django


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--corrections", type=int, default=200_000, help="how many the large list has")
    parser.add_argument("--database", default="", help="a PostgreSQL server; SQLite unless said")
    said = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DATABASE_URL"] = said.database or f"sqlite:///{Path(folder) / 'bench.sqlite3'}"
        os.environ["SECRET_KEY"] = "for the benchmark only: it seals nothing that anybody keeps"
        os.environ["DJANGO_SETTINGS_MODULE"] = "kindgi_site.settings"
        serve_static_files_as_they_lie()
        django.setup()
        from bench import measures  # noqa: PLC0415 - only once Django is set up

        with throwaway_database():
            measures.run(said.corrections)


def serve_static_files_as_they_lie() -> None:
    """Pages name their static files, and on a fresh clone none were collected."""
    from django.conf import settings  # noqa: PLC0415

    storage = "django.contrib.staticfiles.storage.StaticFilesStorage"
    warnings.filterwarnings("ignore", "No directory at")
    settings.STORAGES = settings.STORAGES | {"staticfiles": {"BACKEND": storage}}


@contextmanager
def throwaway_database() -> Iterator[None]:
    """A database of the tests' kind, beside whatever DATABASE_URL names."""
    from django.db import connection  # noqa: PLC0415

    name = connection.settings_dict["NAME"]
    connection.settings_dict["TEST"]["NAME"] = f"{name}.bench" if connection.vendor == "sqlite" else "bench_kindgi"
    connection.creation.create_test_db(verbosity=0, autoclobber=True)
    sys.stdout.write(f"{connection.vendor}, Python {sys.version.split()[0]}, Django {django.get_version()}\n")
    try:
        yield
    finally:
        connection.creation.destroy_test_db(name, verbosity=0)


if __name__ == "__main__":
    main()
