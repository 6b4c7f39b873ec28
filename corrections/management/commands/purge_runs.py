"""manage.py purge_runs: drop the content of old runs."""

import re
import sys
from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import CommandError
from django.utils.translation import gettext as _
from tqdm import tqdm

from corrections.services.retention import purge_runs, runs_to_purge
from kindgi_site import clock
from kindgi_site.workspaces.management.operators import OperatorCommand, slug_argument, workspace_of

_AGE = re.compile(r"([1-9][0-9]{0,4})d")


class Command(OperatorCommand):
    help = "Drop the content of runs older than an age. What was said of them stays, with its copies."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--older-than", required=True, metavar="DAYS", help="an age such as 90d")
        parser.add_argument("--workspace", metavar="SLUG", type=slug_argument, help="only this workspace's runs")

    def handle(self, *_args: Any, **options: Any) -> None:
        age = _AGE.fullmatch(options["older_than"])
        if age is None:
            raise CommandError("--older-than is a number of days such as 90d.")
        slug = options["workspace"]
        workspace_id = workspace_of(slug).id if slug else None
        before = clock.now() - timedelta(days=int(age[1]))
        total = runs_to_purge(before=before, workspace_id=workspace_id).count()
        purged = 0
        with tqdm(total=total, unit="run", file=sys.stderr, disable=None) as bar:
            for size in purge_runs(before=before, workspace_id=workspace_id):
                bar.update(size)
                purged += size
        self.stdout.write(_("Purged %(count)d runs.") % {"count": purged})
