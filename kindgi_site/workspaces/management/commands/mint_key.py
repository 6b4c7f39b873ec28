"""`manage.py mint_key`: an API key for a person or a program, shown this once."""

from argparse import ArgumentTypeError
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction
from django.utils.translation import gettext as _

from kindgi_site import clock
from kindgi_site.callers import Role
from kindgi_site.workspaces.management.operators import OperatorCommand, operator_of, slug_argument, workspace_of
from kindgi_site.workspaces.models import Person, ServiceAccount, Workspace
from kindgi_site.workspaces.services import keys, people
from kindgi_site.workspaces.services.audit import record_write


class Command(OperatorCommand):
    help = "Make an API key and print it, and nothing else, on standard output. It cannot be shown again."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--workspace", required=True, metavar="SLUG", type=slug_argument)
        principal = parser.add_mutually_exclusive_group(required=True)
        principal.add_argument("--user", metavar="NAME", help="a member of the workspace")
        principal.add_argument("--service", metavar="NAME", help="a program; its account is made when new")
        parser.add_argument(
            "--role",
            choices=["admin", "member"],
            default="member",
            help="what the key allows at most; admin for a program also makes its account a workspace admin",
        )
        parser.add_argument(
            "--grant", choices=[role.value for role in Role], help="a role for the program in the project"
        )
        parser.add_argument(
            "--project", metavar="SLUG", type=slug_argument, help="limit the key to this project; the one of --grant"
        )
        parser.add_argument(
            "--capability", action="append", default=[], choices=sorted(keys.CAPABILITIES), dest="capabilities"
        )
        parser.add_argument("--expires", metavar="ISO", type=moment_argument, help="e.g. 2030-01-31T12:00:00Z")

    @transaction.atomic
    def handle(self, *_args: Any, **options: Any) -> None:
        workspace = workspace_of(options["workspace"])
        project = people.project_of(workspace, options["project"]) if options["project"] else None
        principal = self._principal(workspace, options)
        keys.check_key(
            workspace=workspace,
            principal=principal,
            role=options["role"],
            project=project,
            expires_at=options["expires"],
        )
        key, text = keys.store_key(
            workspace=workspace,
            principal=principal,
            role=options["role"],
            project=project,
            capabilities=set(options["capabilities"]),
            expires_at=options["expires"],
        )
        record_write(operator_of(workspace), "tokens.mint", "api-key", key.id, ["principal", "role"])
        self.stdout.write(text)

    def _principal(self, workspace: Workspace, options: dict[str, Any]) -> Person | ServiceAccount:
        if options["service"] is not None:
            return self._service(workspace, options)
        if options["grant"]:
            raise CommandError(_("--grant is for a program. Give a person a role with create_person."))
        person = workspace.people.filter(username=options["user"]).first()
        if person is None:
            raise CommandError(
                _("“%(name)s” is no member of the workspace “%(slug)s”.")
                % {"name": options["user"], "slug": workspace.slug}
            )
        return person

    def _service(self, workspace: Workspace, options: dict[str, Any]) -> ServiceAccount:
        service = people.service_account(workspace=workspace, name=service_name(options["service"]))
        if options["grant"]:
            project = people.project_of(workspace, options["project"])
            people.set_project_role(project=project, principal=service, role=Role(options["grant"]))
        if options["role"] == "admin" and not service.is_workspace_admin:
            people.make_service_admin(service=service)
            self.stderr.write(
                _("%(name)s is an administrator of %(slug)s from now on.")
                % {"name": service.name, "slug": workspace.slug}
            )
        return service


def service_name(text: str) -> str:
    field = ServiceAccount._meta.get_field("name")  # noqa: SLF001 - documented by Django
    if not text.strip() or len(text) > (field.max_length or 0) or "\0" in text:
        raise CommandError(_("A program's name has 1 to %(most)d characters.") % {"most": field.max_length})
    return text


def moment_argument(text: str) -> datetime:
    """For argparse: a time with its zone, to the millisecond."""
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is not None:
            moment = moment.astimezone(UTC)
    except (ValueError, OverflowError) as problem:
        raise ArgumentTypeError(_("“%(text)s” is no time, e.g. 2030-01-31T12:00:00Z.") % {"text": text}) from problem
    if moment.tzinfo is None:
        raise ArgumentTypeError(_("“%(text)s” has no time zone; add Z for UTC.") % {"text": text})
    return clock.milliseconds(moment)
