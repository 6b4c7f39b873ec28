"""The buttons that move a correction on: what each asks for, and which stand where."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from corrections.models import Correction
from corrections.rules.transitions import Event, transition
from corrections.vocabulary import LinkKind, SortedTo, Status

LINK_KINDS = [
    (LinkKind.PULL_REQUEST.value, _("pull request")),
    (LinkKind.SUGGESTED_CHANGE.value, _("suggested change")),
    (LinkKind.IMPROVE_RUN.value, _("improve run")),
]


@dataclass(frozen=True, slots=True)
class Step:
    """One button. `event` is the row of the status machine it asks for; `done` says that it happened."""

    name: str
    words: str | Promise
    event: Event
    done: str | Promise = ""
    takes_link: bool = False


STEPS = (
    Step("link", _("Link what fixes it"), Event.LINK, _("linked, being fixed"), takes_link=True),
    Step("being-fixed", _("Being fixed"), Event.SET_BEING_FIXED, _("being fixed")),
    Step("wont-fix", _("Won’t fix"), Event.SET_WONT_FIX, _("won’t be fixed")),
    Step("open", _("Open again"), Event.SET_OPEN, _("open again")),
    Step("sort-owner", _("To the owner"), Event.SORT_TO_OWNER, _("now with the owner")),
    Step("sort-developer", _("To a developer"), Event.SORT_TO_DEVELOPER, _("sorted to a developer")),
    Step("sort-improve", _("To Improve"), Event.SORT_TO_IMPROVE, _("sorted to Improve")),
    Step("unlink", _("Take the link away"), Event.UNLINK, _("link taken away")),
)
BY_NAME = {step.name: step for step in STEPS}
STATUS_OF = {"being-fixed": Status.BEING_FIXED, "wont-fix": Status.WONT_FIX, "open": Status.OPEN}
SORT_OF = {"sort-owner": SortedTo.OWNER, "sort-developer": SortedTo.DEVELOPER, "sort-improve": SortedTo.IMPROVE}


class StepForm(forms.Form):
    """What a step says; the button pressed is `step`."""

    step = forms.ChoiceField(choices=[(step.name, step.words) for step in STEPS])
    note = forms.CharField(
        required=False,
        max_length=2000,
        label=_("Note"),
        widget=forms.Textarea(attrs={"rows": 2, "placeholder": _("why, for whoever reads the history")}),
    )
    link_kind = forms.ChoiceField(required=False, choices=LINK_KINDS, label=_("Kind"))
    link_target = forms.CharField(
        required=False,
        max_length=2000,
        label=_("Address or id"),
        widget=forms.TextInput(attrs={"placeholder": "https://…", "autocomplete": "off", "spellcheck": "false"}),
    )

    def clean(self) -> dict[str, Any]:
        said = self.cleaned_data
        if said.get("step") != "link":
            return said
        kind, target = said.get("link_kind"), said.get("link_target")
        if not (kind and target):
            self.add_error("link_target", _("Give the address of the pull request, or the id of the change."))
        elif kind == LinkKind.PULL_REQUEST and not target.startswith(("https://", "http://")):
            self.add_error("link_target", _("Give the whole address of the pull request, from https:// on."))
        return said


def steps_from(correction: Correction, may: Callable[[bool], bool]) -> list[Step]:
    """The steps that the status machine allows now; `may` says whether the caller may, given the owner guard."""
    state = Status(correction.status)
    found = []
    for step in STEPS:
        row = transition(state, step.event)
        is_idle = step.event == Event.UNLINK and not correction.link_kind
        is_same = STATUS_OF.get(step.name) == state or _is_sorted_there(correction, step)
        lacks_sorting = row is not None and row.needs_sorting and not correction.sorted_to
        if row is not None and may(row.owner_guard) and not (is_idle or is_same or lacks_sorting):
            found.append(step)
    return found


def _is_sorted_there(correction: Correction, step: Step) -> bool:
    return SORT_OF.get(step.name) == correction.sorted_to
