"""What is said of a test run: what it grades, its outputs, why it is cancelled."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from corrections.vocabulary import SubjectKind
from kindgi_site.exact_json import JsonText
from kindgi_site.workspaces.models import Project
from testsets.drafts import Sample, SamplePart, TestRunDraft
from testsets.forms.fields import KINDS, checked_version, words
from testsets.rules.cases import GroupWeights

WEIGHTS = [
    (GroupWeights.AS_RECORDED.value, gettext_lazy("everybody’s, as recorded")),
    (GroupWeights.EXPERTS_ONLY.value, gettext_lazy("experts’ only")),
]
PARTS = [
    ("", gettext_lazy("every case")),
    (SamplePart.SEARCH.value, gettext_lazy("the part for searching")),
    (SamplePart.HOLD_OUT.value, gettext_lazy("the part held out")),
]


class TestRunForm(forms.Form):
    """Which version is graded, how often, by whose words, and with which of the cases."""

    __test__ = False

    project = forms.ModelChoiceField(Project.objects.none(), label=gettext_lazy("Where it runs"), empty_label=None)
    kind = forms.ChoiceField(choices=KINDS, label=gettext_lazy("What is graded"))
    subject = forms.CharField(max_length=200, label=gettext_lazy("Its name"), widget=words(list="known-subject"))
    subject_version = forms.CharField(
        max_length=100,
        label=gettext_lazy("The version to grade"),
        widget=words(placeholder="1.4.0", list="known-version"),
    )
    repetitions = forms.IntegerField(
        min_value=1, max_value=10, initial=1, label=gettext_lazy("How often each case is run")
    )
    k = forms.IntegerField(
        min_value=1,
        max_value=100,
        initial=10,
        label=gettext_lazy("How many first items count"),
        help_text=gettext_lazy("Of a ranked list."),
    )
    group_weights = forms.ChoiceField(
        choices=WEIGHTS, label=gettext_lazy("Whose words count"), initial=GroupWeights.AS_RECORDED.value
    )
    part = forms.ChoiceField(choices=PARTS, required=False, label=gettext_lazy("Which cases"), initial="")
    seed = forms.CharField(
        required=False,
        max_length=200,
        label=gettext_lazy("Seed"),
        widget=words(),
        help_text=gettext_lazy("Any word; the same one divides the cases in the same way each time."),
    )
    hold_out_share = forms.FloatField(
        required=False, min_value=0.1, max_value=0.9, initial=0.3, label=gettext_lazy("Share that is held out")
    )

    def __init__(self, data: Any = None, *, projects: Any, **options: Any) -> None:
        super().__init__(data, **options)
        self.fields["project"].queryset = projects  # type: ignore[attr-defined]

    def clean_subject_version(self) -> str:
        return checked_version(self.cleaned_data["subject_version"])

    def clean(self) -> dict[str, Any]:
        said = self.cleaned_data
        if said.get("part"):
            if "seed" in said and not said["seed"]:
                self.add_error("seed", _("A part needs a seed to divide the cases by."))
            if "hold_out_share" in said and said["hold_out_share"] is None:
                self.add_error("hold_out_share", _("A part needs the share that is held out."))
        return said

    @property
    def has_part(self) -> bool:
        """Whether a part of the cases is asked for, rightly or not."""
        return bool(self["part"].value())

    def draft(self, set_version: str) -> TestRunDraft:
        said = self.cleaned_data
        sample, sent = None, None
        if said["part"]:
            sample = Sample(SamplePart(said["part"]), said["seed"], said["hold_out_share"])
            sent = {"part": said["part"], "seed": said["seed"], "holdOutShare": said["hold_out_share"]}
        return TestRunDraft(
            project_id=said["project"].id,
            subject_kind=SubjectKind(said["kind"]),
            subject_id=said["subject"],
            subject_version=said["subject_version"],
            set_version=set_version,
            repetitions=said["repetitions"],
            k=said["k"],
            group_weights=said["group_weights"],
            sample=sample,
            sample_as_sent=None if sent is None else JsonText.of(sent),
        )


class OutputsForm(forms.Form):
    """What a version gave, as a file."""

    file = forms.FileField(
        label=gettext_lazy("File of outputs"),
        widget=forms.FileInput(attrs={"accept": ".jsonl,.ndjson,.json,.txt,application/x-ndjson"}),
    )


class CancelRunForm(forms.Form):
    reason = forms.CharField(required=False, max_length=2000, label=gettext_lazy("Why"), widget=words())
