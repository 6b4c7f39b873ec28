"""manage.py verify_audit: has any sealed entry been changed or taken away?"""

import re
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.core.management.base import CommandError

from kindgi_site.workspaces.management.operators import OperatorCommand
from kindgi_site.workspaces.models import AuditEntry, AuditSeal
from kindgi_site.workspaces.services.audit import broken_seals, holds_seal, newest_seal

_KEPT = re.compile(r"([0-9]+):([0-9a-f]{64})")


def kept_seal(text: str) -> tuple[int, str]:
    """(number, hash) of a seal that was printed before."""
    found = _KEPT.fullmatch(text)
    if found is None:
        raise ArgumentTypeError("give a seal as it was printed, NUMBER:HASH")
    return int(found[1]), found[2]


class Command(OperatorCommand):
    help = (
        "Check every seal of the audit record. Exit status 1 when one is broken, or one kept elsewhere is gone; "
        "tells how much is unsealed, and the newest seal to keep."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--expect",
            type=kept_seal,
            action="append",
            default=[],
            metavar="NUMBER:HASH",
            help="fail unless the record still holds this seal, printed by an earlier run; may be repeated",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        newest = newest_seal()
        broken = [seal.number for seal in broken_seals()]
        self.stdout.write(f"{AuditSeal.objects.count()} seals, {len(broken)} broken; {_tail()}.")
        self.stdout.write(f"Newest seal: {f'{newest.number}:{newest.digest}' if newest else 'none'}")
        wrong = [f"Changed or missing entries under seal {', '.join(map(str, broken))}."] if broken else []
        for number, digest in options["expect"]:
            if not holds_seal(number, digest):
                wrong.append(f"The record no longer holds seal {number} with the hash {digest}.")
        if wrong:
            raise CommandError("\n".join(wrong))


def _tail() -> str:
    """How much is not sealed yet."""
    unsealed = AuditEntry.objects.filter(seal__isnull=True)
    oldest = unsealed.order_by("at").values_list("at", flat=True).first()
    since = f", the oldest of {oldest:%Y-%m-%d %H:%M:%S} UTC" if oldest else ""
    return f"{unsealed.count()} entries unsealed{since}"
