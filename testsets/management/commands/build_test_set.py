"""`manage.py build_test_set`: build a test set version from what people said, with a progress line."""

import sys
from argparse import ArgumentTypeError
from typing import Any

from django.core.management.base import CommandError, CommandParser
from tqdm import tqdm

from corrections.vocabulary import SubjectKind
from kindgi_site.callers import Caller
from kindgi_site.workspaces.management.operators import OperatorCommand, slug_argument, workspace_of
from kindgi_site.workspaces.services.people import project_of
from testsets.drafts import Selection
from testsets.services.building import build_from_corrections

LONGEST_NAME = 200


class Command(OperatorCommand):
    help = "Build a version of a test set from the corrections of an agent or a flow."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("set", metavar="SET@VERSION")
        parser.add_argument("--workspace", required=True, metavar="SLUG", type=slug_argument)
        parser.add_argument("--project", metavar="SLUG", type=slug_argument, help="else the Default project")
        subject = parser.add_mutually_exclusive_group(required=True)
        subject.add_argument("--agent", metavar="ID", type=_name)
        subject.add_argument("--flow", metavar="ID", type=_name)
        parser.add_argument("--min-corrections", type=_at_least_one, default=1, metavar="N")
        parser.add_argument("--description", default="")

    def handle(self, *_args: Any, **options: Any) -> None:
        set_name, _, version = options["set"].partition("@")
        if not version:
            raise CommandError("Name the version too: SET@VERSION.")
        workspace = workspace_of(options["workspace"])
        caller = Caller(workspace_id=workspace.id, kind="service", id="build", is_workspace_admin=True, via="command")
        with tqdm(unit="case", file=sys.stderr, disable=None) as bar:
            built = build_from_corrections(
                caller=caller,
                set_name=set_name,
                version=version,
                selection=_selection(project_of(workspace, options["project"]).id, options),
                description=options["description"],
                progress=bar.update,
            )
        more = " There were more." if built.truncated else ""
        self.stdout.write(f"Built {set_name} {version} with {built.case_count} cases.{more}")


def _at_least_one(text: str) -> int:
    if not text.isdecimal() or len(text) > 9 or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def _name(text: str) -> str:
    if not text.strip() or len(text) > LONGEST_NAME:
        raise ArgumentTypeError(f"a name has 1 to {LONGEST_NAME} characters")
    return text


def _selection(project_id: Any, options: dict[str, Any]) -> Selection:
    kind = SubjectKind.AGENT if options["agent"] else SubjectKind.FLOW
    name = options["agent"] or options["flow"]
    as_sent = {"agentId" if options["agent"] else "flowId": name, "minCorrections": options["min_corrections"]}
    return Selection(
        project_id=project_id,
        subject_kind=kind,
        subject_id=name,
        min_corrections=options["min_corrections"],
        as_sent=as_sent,
    )
