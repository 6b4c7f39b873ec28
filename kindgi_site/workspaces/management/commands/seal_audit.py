"""manage.py seal_audit: chain what was written to the audit record since the last seal."""

import time
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.db import OperationalError, close_old_connections

from kindgi_site.workspaces.management.operators import OperatorCommand
from kindgi_site.workspaces.services.audit import seal_pending

LONGEST_PAUSE = 86_400


class Command(OperatorCommand):
    help = "Seal audit entries that have settled, in batches. With --every it goes on until it is stopped."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--every", type=_pause, metavar="SECONDS", help="seal again after so many seconds")

    def handle(self, *_args: Any, **options: Any) -> None:
        while True:
            try:
                self.stdout.write(f"Sealed {seal_pending()} entries.")
            except OperationalError as problem:
                if not options["every"]:
                    raise
                self.stderr.write(f"Not sealed this time: {problem}")
            if not options["every"]:
                return
            close_old_connections()
            time.sleep(options["every"])


def _pause(text: str) -> int:
    if not text.isdecimal() or len(text) > 9 or not 1 <= int(text) <= LONGEST_PAUSE:
        raise ArgumentTypeError(f"{text!r} is not a number of seconds from 1 to {LONGEST_PAUSE}")
    return int(text)
