"""`manage.py set_rate_limit`: how many API requests a workspace has in a minute."""

from argparse import ArgumentTypeError
from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction
from django.utils.translation import gettext as _

from kindgi_site.workspaces.management.operators import OperatorCommand, operator_of, slug_argument, workspace_of
from kindgi_site.workspaces.services import people
from kindgi_site.workspaces.services.audit import record_write

MOST = 2**31 - 1


class Command(OperatorCommand):
    help = "Set how many API requests a workspace may make in a minute, or `none` for no limit."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--workspace", required=True, metavar="SLUG", type=slug_argument)
        parser.add_argument("limit", metavar="N|none", type=limit_argument)

    def handle(self, *_args: Any, **options: Any) -> None:
        workspace = workspace_of(options["workspace"])
        limit: int | None = options["limit"] or None
        with transaction.atomic():
            people.set_rate_limit(workspace=workspace, requests_per_minute=limit)
            record_write(operator_of(workspace), "workspaces.change", "workspace", workspace.id, ["requestsPerMinute"])
        said = _("no limit") if limit is None else _("%(limit)d API requests a minute") % {"limit": limit}
        self.stdout.write(f"{workspace.slug}: {said}")


def limit_argument(text: str) -> int:
    """0 stands for `none`: argparse cannot tell a None from an argument that is missing."""
    if text == "none":
        return 0
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= MOST):
        raise ArgumentTypeError(_("Say a whole number from 1, or none."))
    return int(text)
