"""manage.py verify_audit: has any sealed entry been changed or taken away?"""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from kindgi_site.workspaces.models import AuditEntry, AuditSeal
from kindgi_site.workspaces.services.audit import broken_seals


class Command(BaseCommand):
    help = "Check every seal of the audit record. Exit status 1 when one is broken; tells how much is unsealed."

    def handle(self, *_args: Any, **_options: Any) -> None:
        broken = [seal.number for seal in broken_seals()]
        unsealed = AuditEntry.objects.filter(seal__isnull=True)
        tail = unsealed.count()
        oldest = unsealed.order_by("at").values_list("at", flat=True).first()
        since = f", the oldest of {oldest:%Y-%m-%d %H:%M:%S} UTC" if oldest else ""
        self.stdout.write(f"{AuditSeal.objects.count()} seals, {len(broken)} broken; {tail} entries unsealed{since}.")
        if broken:
            raise CommandError(f"Changed or missing entries under seal {', '.join(map(str, broken))}.")
