"""What a test set is built from and kept as."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from corrections.models import CorrectorGroup
from corrections.vocabulary import SubjectKind
from kindgi_site import days
from kindgi_site.clock import wire_time
from kindgi_site.workspaces.models import Project
from testsets.drafts import Selection
from testsets.forms.fields import KINDS, words
from testsets.rules.versions import parse_set_version


class SelectionForm(forms.Form):
    """Which corrected runs a set is built from; shown with its preview before anything is built."""

    project = forms.ModelChoiceField(
        Project.objects.none(), label=gettext_lazy("Project"), empty_label=None, required=True
    )
    kind = forms.ChoiceField(choices=KINDS, label=gettext_lazy("What ran"), initial=SubjectKind.AGENT.value)
    subject = forms.CharField(max_length=200, label=gettext_lazy("Its name"), widget=words(list="known-subject"))
    subject_version = forms.CharField(
        max_length=100,
        required=False,
        label=gettext_lazy("Version"),
        widget=words(placeholder=gettext_lazy("any"), list="known-version"),
    )
    since = forms.DateField(
        required=False,
        label=gettext_lazy("First corrected from"),
        validators=days.BOUNDS,
        widget=forms.DateInput(attrs={"type": "date"}),
    )
    until = forms.DateField(
        required=False,
        label=gettext_lazy("to, included"),
        validators=days.BOUNDS,
        widget=forms.DateInput(attrs={"type": "date"}),
    )
    min_corrections = forms.IntegerField(
        min_value=1, max_value=1000, initial=1, label=gettext_lazy("Corrections a run needs at least")
    )
    groups = forms.ModelMultipleChoiceField(
        CorrectorGroup.objects.none(),
        required=False,
        label=gettext_lazy("Only what these groups said"),
        widget=forms.CheckboxSelectMultiple,
    )
    segments = forms.CharField(
        required=False,
        max_length=2500,
        label=gettext_lazy("Only runs whose segments begin with"),
        widget=forms.Textarea(attrs={"rows": 1, "placeholder": "desk = west", "spellcheck": "false"}),
        help_text=gettext_lazy("One a line, coarse to fine."),
    )

    def __init__(self, data: Any = None, *, projects: Any, groups: Any, **options: Any) -> None:
        super().__init__(data, **options)
        self.fields["project"].queryset = projects  # type: ignore[attr-defined]
        self.fields["groups"].queryset = groups  # type: ignore[attr-defined]

    def clean_segments(self) -> list[dict[str, str]]:
        segments = []
        for line in self.cleaned_data["segments"].splitlines():
            if line.strip():
                key, sign, value = (part.strip() for part in line.partition("="))
                if not (key and sign and value):
                    raise forms.ValidationError(_("Write each as name = value."))
                segments.append({"key": key, "value": value})
        return segments

    def clean(self) -> dict[str, Any]:
        said = self.cleaned_data
        if said.get("subject_version") and said.get("kind") == SubjectKind.FLOW:
            self.add_error("subject_version", _("A version narrows an agent’s runs only."))
        return said

    def selection(self) -> Selection:
        said = self.cleaned_data
        groups: tuple[str, ...] | None = tuple(str(group.id) for group in said["groups"]) or None
        since = said["since"] and days.start_of(said["since"])
        until = said["until"] and days.start_of(said["until"] + days.ONE)
        is_agent = said["kind"] == SubjectKind.AGENT
        sent = {
            ("agentId" if is_agent else "flowId"): said["subject"],
            "agentVersion": said["subject_version"] or None,
            "since": since and wire_time(since),
            "until": until and wire_time(until),
            "correctorGroupIds": groups and list(groups),
            "minCorrections": said["min_corrections"],
            "segments": said["segments"] or None,
        }
        return Selection(
            project_id=said["project"].id,
            subject_kind=SubjectKind(said["kind"]),
            subject_id=said["subject"],
            subject_version=said["subject_version"] or None,
            since=since,
            until=until,
            group_ids=groups,
            min_corrections=said["min_corrections"],
            segments=said["segments"],
            as_sent={name: value for name, value in sent.items() if value is not None},
        )


class VersionField(forms.CharField):
    """A test set's version: three numbers."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=60, widget=words(placeholder="1.0.0", inputmode="decimal"), **options)

    def clean(self, value: Any) -> str:
        text: str = super().clean(value)
        if text and parse_set_version(text) is None:
            raise forms.ValidationError(_("A version is three numbers such as 1.2.0, without leading zeros."))
        return text


class PublishForm(forms.Form):
    """The name and version that what is chosen is kept under."""

    set_name = forms.RegexField(
        r"^[A-Za-z0-9][A-Za-z0-9._-]{0,199}\Z",
        label=gettext_lazy("Test set"),
        widget=words(placeholder="support.corrections"),
        error_messages={
            "invalid": gettext_lazy(
                "Letters, digits, dots, hyphens and underscores, beginning with one of the first two."
            )
        },
    )
    version = VersionField(label=gettext_lazy("New version"))
    description = forms.CharField(
        required=False,
        max_length=2000,
        label=gettext_lazy("What it is for"),
        widget=forms.Textarea(attrs={"rows": 1}),
    )
