"""manage.py write_status_machine: the page of the documentation that is made from the table of transitions."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from corrections.rules.transitions import TRANSITIONS, Event, Marks, Transition
from corrections.vocabulary import Status

PAGE = Path(settings.BASE_DIR) / "docs" / "status-machine.md"
_HEAD = """# The life of a correction

Made from `corrections/rules/transitions.py` by `manage.py write_status_machine`; a test compares them.

How to read it: from the state on the left, by the event on top of each table, to the state on the right. *back* is
with-owner when the correction is sorted to the owner, else open. What has no row is refused when a person asks for it
(`409 invalid-transition`), and is nothing when the server learns of it. The rows' names are the contract's (8.2).
"""
_MARKS = {
    Marks.KEEP: "",
    Marks.CLEAR: "clears `fixedIn` and `reopenedIn`",
    Marks.FIX: "sets `fixedIn`, clears `reopenedIn`",
    Marks.REOPEN: "sets `reopenedIn`, keeps `fixedIn`",
}


class Command(BaseCommand):
    help = "Write docs/status-machine.md from the table of transitions."

    def handle(self, *_args: Any, **_options: Any) -> None:
        PAGE.write_text(status_machine())
        self.stdout.write(f"Wrote {PAGE.name}.")


def status_machine() -> str:
    """The whole page, as Markdown."""
    return _HEAD + "".join(_of_event(event) for event in Event)


def _of_event(event: Event) -> str:
    lines = [f"\n## {event.capitalize()}\n\n", "| from | to | row | what else |\n|---|---|---|---|\n"]
    for state in Status:
        row = TRANSITIONS.get((state, event))
        if row is not None:
            lines.append(f"| {state} | {row.to} | {row.row} | {_what_else(row)} |\n")
    return "".join(lines)


def _what_else(row: Transition) -> str:
    parts = [
        "the owner or an administrator only" if row.owner_guard else "",
        "only when it is sorted" if row.needs_sorting else "",
        "only when it was reopened before" if row.only_reopened else "",
        _MARKS[row.marks],
    ]
    return "; ".join(part for part in parts if part)
