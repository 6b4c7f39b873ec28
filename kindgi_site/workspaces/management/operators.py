"""What commands of an operator share: refusals as one sentence, and the checks of what stands on the command line."""

import os
import sys
from argparse import ArgumentTypeError
from getpass import getpass
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.core.validators import validate_slug
from django.db import DatabaseError, OperationalError, connection
from django.db.migrations.executor import MigrationExecutor
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from kindgi_site.callers import Caller
from kindgi_site.errors import DomainError
from kindgi_site.workspaces.models import Person, Workspace
from kindgi_site.workspaces.queries.callers import workspace_named

MAX_SLUG = 100


class OperatorCommand(BaseCommand):
    """A command whose refusals by the domain, and a database that is not ready, are a sentence and exit status 1."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            return super().execute(*args, **options)
        except DomainError as refusal:
            raise CommandError(refusal.message) from refusal
        except DatabaseError as problem:
            why = why_not_ready()
            if not why:
                raise
            raise CommandError(why) from problem


def why_not_ready() -> str:
    """What an operator has to do before the database can be used; nothing when it is ready."""
    try:
        executor = MigrationExecutor(connection)
        missing = len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    except OperationalError as problem:
        return _("The database does not answer: %(why)s") % {"why": problem}
    if not missing:
        return ""
    return ngettext(
        "The database lacks %(count)d migration. Run manage.py migrate.",
        "The database lacks %(count)d migrations. Run manage.py migrate.",
        missing,
    ) % {"count": missing}


def operator_of(workspace: Workspace) -> Caller:
    """Whoever sits at the machine, for the audit record."""
    return Caller(workspace_id=workspace.id, kind="service", id="operator", via="command")


def workspace_of(slug: str) -> Workspace:
    workspace = workspace_named(slug)
    if workspace is None:
        raise CommandError(_("There is no workspace “%(slug)s”.") % {"slug": slug})
    return workspace


def slug_argument(text: str) -> str:
    """For argparse: a slug as it may be stored."""
    try:
        validate_slug(text)
    except ValidationError as problem:
        raise ArgumentTypeError(
            _("“%(text)s” is no slug: letters, digits, - and _ only.") % {"text": text}
        ) from problem
    if len(text) > MAX_SLUG:
        raise ArgumentTypeError(_("A slug has at most %(most)d characters.") % {"most": MAX_SLUG})
    return text


def username_argument(text: str) -> str:
    """For argparse: a name to sign in with, as it may be stored."""
    name = Person.normalize_username(text)
    try:
        Person._meta.get_field("username").clean(name, None)  # noqa: SLF001 - documented by Django
    except ValidationError as problem:
        raise ArgumentTypeError(" ".join(problem.messages)) from problem
    return name


def has_terminal() -> bool:
    """Whether somebody can be asked. Standard input is None for a program started with it closed."""
    return sys.stdin is not None and sys.stdin.isatty()


def password_for(username: str, variable: str | None) -> str | None:
    """The password for a person who is new; None when they are known already and keep theirs.

    From an environment variable as it stands; when asked for at the terminal it must be a good one.
    """
    if Person.objects.filter(username=username).exists():
        return None
    if variable is None:
        return _asked(username)
    password = os.environ.get(variable, "")
    if not password:
        raise CommandError(_("The environment variable %(name)s holds no password.") % {"name": variable})
    return password


def _asked(username: str) -> str:
    if not has_terminal():
        raise CommandError(_("There is no terminal to ask for a password. Name a variable with --password-env."))
    password = getpass(_("Password for %(name)s: ") % {"name": username})
    if getpass(_("The same again: ")) != password:
        raise CommandError(_("The two passwords are not the same."))
    try:
        validate_password(password, Person(username=username))
    except ValidationError as problem:
        raise CommandError(" ".join(problem.messages)) from problem
    return password
