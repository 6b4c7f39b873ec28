"""`manage.py create_person`: a member of a workspace, or more rights for one who is a member already."""

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction
from django.utils.translation import gettext as _

from kindgi_site.callers import ReviewerRole, Role
from kindgi_site.workspaces.management.operators import (
    OperatorCommand,
    has_terminal,
    operator_of,
    password_for,
    slug_argument,
    username_argument,
    workspace_of,
)
from kindgi_site.workspaces.models import Person, Project, Workspace
from kindgi_site.workspaces.services import people
from kindgi_site.workspaces.services.audit import record_write


class Command(OperatorCommand):
    help = (
        "Make a person a member of a workspace, with a role in a project and a place among the reviewers. "
        "For a member it adds or changes what is named and leaves the rest. Prints their ids as JSON."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username", metavar="USERNAME", type=username_argument)
        parser.add_argument("--workspace", required=True, metavar="SLUG", type=slug_argument)
        parser.add_argument("--workspace-admin", action="store_true", help="make them an administrator")
        parser.add_argument("--role", choices=[role.value for role in Role], help="their role in the project")
        parser.add_argument(
            "--project", metavar="SLUG", type=slug_argument, help="the project of --role; else the Default project"
        )
        parser.add_argument("--reviewer", choices=[role.value for role in ReviewerRole], help="their reviewer role")
        parser.add_argument(
            "--password-env",
            metavar="VAR",
            help="the environment variable with the password of a new person; else asked for at a terminal",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        if options["project"] and not options["role"]:
            raise CommandError(_("--project says where --role holds: name the role too."))
        workspace = workspace_of(options["workspace"])
        project = people.project_of(workspace, options["project"])
        # Outside the transaction, which nobody should hold open while they type.
        password = self._password(options)
        with transaction.atomic():
            person = self._member(workspace, password, options)
            self._give_rights(person, project, options)
            said = [name for name in ("workspace_admin", "role", "reviewer") if options[name]]
            record_write(operator_of(workspace), "people.create", "person", person.id, said)
        ids = {"userId": str(person.id), "workspaceId": str(workspace.id)}
        self.stdout.write(json.dumps(ids, separators=(",", ":")))

    def _password(self, options: dict[str, Any]) -> str | None:
        """A new person without one, where nobody can be asked, is set up by whoever gives them theirs."""
        if options["password_env"] or has_terminal():
            return password_for(options["username"], options["password_env"])
        if not Person.objects.filter(username=options["username"]).exists():
            said = _("%(name)s cannot sign in before they have a password: manage.py changepassword %(name)s")
            self.stderr.write(said % {"name": options["username"]})
        return None

    def _member(self, workspace: Workspace, password: str | None, options: dict[str, Any]) -> Person:
        person = workspace.people.filter(username=options["username"]).first()
        if person is None:
            is_known = Person.objects.filter(username=options["username"]).exists()
            person = people.add_person(workspace=workspace, username=options["username"], password=password)
            known = _("%(name)s: a member of %(place)s now, with the password they have.")
            new = _("%(name)s: new, and a member of %(place)s.")
            self._say(known if is_known else new, person, place=workspace.slug)
        return person

    def _give_rights(self, person: Person, project: Project, options: dict[str, Any]) -> None:
        workspace = project.workspace
        if options["workspace_admin"]:
            people.make_workspace_admin(workspace=workspace, person=person)
            self._say(_("%(name)s: administrator of %(place)s."), person, place=workspace.slug)
        if options["role"]:
            people.set_project_role(project=project, principal=person, role=Role(options["role"]))
            self._say(
                _("%(name)s: %(role)s in the project %(place)s."), person, role=options["role"], place=project.slug
            )
        if options["reviewer"]:
            people.set_reviewer_role(workspace=workspace, person=person, role=ReviewerRole(options["reviewer"]))
            self._say(_("%(name)s: %(role)s reviewer."), person, role=options["reviewer"])

    def _say(self, sentence: str, person: Person, **values: str) -> None:
        self.stderr.write(sentence % {"name": person.username, **values})
