"""`manage.py create_workspace`: a workspace, its Default project and its first administrator."""

import json
from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction

from kindgi_site.workspaces.management.operators import (
    OperatorCommand,
    operator_of,
    password_for,
    slug_argument,
    username_argument,
)
from kindgi_site.workspaces.queries.callers import workspace_named
from kindgi_site.workspaces.services import people
from kindgi_site.workspaces.services.audit import record_write


class Command(OperatorCommand):
    help = "Make a workspace with its Default project and its first administrator; prints their ids as JSON."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", metavar="SLUG", type=slug_argument)
        parser.add_argument(
            "--admin",
            required=True,
            metavar="USERNAME",
            type=username_argument,
            help="who administers it; made when new, and keeps their password when known",
        )
        parser.add_argument(
            "--password-env",
            metavar="VAR",
            help="the environment variable with the password of a new person; asked for when left out",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        slug, username = options["slug"], options["admin"]
        # Outside the transaction, which nobody should hold open while they type; a taken slug is refused unasked.
        password = None if workspace_named(slug) else password_for(username, options["password_env"])
        with transaction.atomic():
            workspace, project = people.create_workspace(slug=slug)
            person = people.add_person(workspace=workspace, username=username, password=password, is_admin=True)
            record_write(operator_of(workspace), "workspaces.create", "workspace", workspace.id, ["slug", "admin"])
        ids = {"workspaceId": str(workspace.id), "projectId": str(project.id), "userId": str(person.id)}
        self.stdout.write(json.dumps(ids, separators=(",", ":")))
