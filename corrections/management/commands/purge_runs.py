"""manage.py purge_runs: drop the content of old runs."""

import re
import sys
from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from corrections.services.retention import purge_runs, runs_to_purge
from kindgi_site import clock
from kindgi_site.workspaces.queries.callers import workspace_named

_AGE = re.compile(r"([1-9][0-9]{0,4})d")


class Command(BaseCommand):
    help = "Drop the content of runs older than an age. What was said of them stays, with its copies."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--older-than", required=True, metavar="DAYS", help="an age such as 90d")
        parser.add_argument("--workspace", metavar="SLUG", help="only this workspace's runs")

    def handle(self, *_args: Any, **options: Any) -> None:
        age = _AGE.fullmatch(options["older_than"])
        if age is None:
            raise CommandError("--older-than is a number of days such as 90d.")
        selection = {"before": clock.now() - timedelta(days=int(age[1])), "workspace_id": _workspace(options)}
        total = runs_to_purge(**selection).count()
        with tqdm(total=total, unit="run", file=sys.stderr, disable=None) as bar:
            for size in purge_runs(**selection):
                bar.update(size)
        self.stdout.write(f"Purged {bar.n if not bar.disable else total} runs.")


def _workspace(options: dict[str, Any]) -> Any:
    slug = options["workspace"]
    if slug is None:
        return None
    workspace = workspace_named(slug)
    if workspace is None:
        raise CommandError(f"There is no workspace “{slug}”.")
    return workspace.id
