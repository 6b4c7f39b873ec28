"""`manage.py load_demo`: the demo's workspace, once, and how to get in."""

import json
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.db import transaction
from django.utils.translation import gettext as _

import testsets.demo
from corrections import demo
from corrections.models import Run
from corrections.vocabulary import RunStatus
from kindgi_site.callers import Role
from kindgi_site.env import env_int
from kindgi_site.workspaces.management.operators import OperatorCommand
from kindgi_site.workspaces.models import ApiKey, Workspace
from kindgi_site.workspaces.services import keys, people

PROGRAM = "demo-program"


class Command(OperatorCommand):
    help = "Load the demo unless it is there already, and print its address, sign-ins and API key."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--force", action="store_true", help="also where KINDGI_DEMO is not set")
        parser.add_argument(
            "--key-file",
            type=Path,
            default=Path(settings.BASE_DIR) / "var" / "demo_key",
            help="where the text of the demo's API key is kept, as the database has only its hash",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        if not (settings.DEMO or options["force"]):
            raise CommandError(
                _("Everybody knows the demo's passwords. Set KINDGI_DEMO=1 (make demo does), or say --force.")
            )
        workspace = demo.load()
        testsets.demo.load(workspace)
        file = options["key_file"]
        try:
            key = _kept_key(workspace, file)
        except OSError as problem:
            told = _("The key cannot be kept in %(file)s: %(why)s. Name another --key-file.")
            raise CommandError(told % {"file": file, "why": problem.strerror}) from problem
        self.stdout.write(_block(workspace, key))


@transaction.atomic
def _kept_key(workspace: Workspace, file: Path) -> str:
    """The key in the file while it opens this workspace; otherwise a new one, kept there.

    OSError when the file can't be read or written; no key is made then.
    """
    kept = file.read_text().strip() if file.exists() else ""
    usable = ApiKey.objects.filter(workspace=workspace, digest=keys.digest_of(kept), revoked_at__isnull=True)
    if kept and usable.exists():
        return kept
    service = people.service_account(workspace=workspace, name=PROGRAM)
    people.set_project_role(project=people.project_of(workspace, None), principal=service, role=Role.EDITOR)
    _key, text = keys.store_key(workspace=workspace, principal=service, label=_("Demo"))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch(mode=0o600)
    file.chmod(0o600)
    file.write_text(text)
    return text


def _block(workspace: Workspace, key: str) -> str:
    address = f"http://127.0.0.1:{env_int('PORT', 8000, minimum=1)}"
    people_lines = [
        *((colleague.name, colleague.does) for colleague in demo.COLLEAGUES),
        (demo.ADMIN, _("administers the workspace, and the site at %(address)s/admin/") % {"address": address}),
    ]
    return "\n".join(
        [
            "",
            _("  The demo is at %(address)s/") % {"address": address},
            "",
            _("  Sign in with the password “%(password)s” as") % {"password": demo.PASSWORD},
            *(f"    {name:<6} {does}" for name, does in people_lines),
            "",
            _("  A program uses this key, for example to say that a run was right:"),
            f"    {key}",
            "",
            *_curl(workspace, address, key),
            "",
        ]
    )


def _curl(workspace: Workspace, address: str, key: str) -> list[str]:
    """A correction that can be made as it stands."""
    run = Run.objects.filter(workspace=workspace, status=RunStatus.COMPLETED).first()
    body = json.dumps({"runId": str(run.run_id) if run else "", "answer": "right"}, separators=(",", ":"))
    return [
        f"    curl {address}/v1/corrections \\",
        f"      -H 'Authorization: Bearer {key}' \\",
        "      -H 'Content-Type: application/json' \\",
        f"      -d '{body}'",
    ]
