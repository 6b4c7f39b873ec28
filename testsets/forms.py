"""What people say on the pages of test sets, as drafts."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from uuid import UUID

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from corrections.drafts import ExpectedCall
from corrections.marks import Party
from corrections.models import CorrectorGroup
from corrections.rules.expectations import AnswerExpected, DecisionsExpected, Expectation
from corrections.vocabulary import SubjectKind, Verdict
from kindgi_site.api.bodies import SEMVER
from kindgi_site.clock import wire_time
from kindgi_site.exact_json import JsonText, NotJsonError, TooDeepError, parse
from kindgi_site.workspaces.models import Person, Project, ServiceAccount
from testsets.drafts import HandCaseDraft, LiveChangeDraft, Sample, SamplePart, Selection, TestRunDraft
from testsets.rules.cases import GroupWeights
from testsets.rules.versions import parse_set_version

KINDS = [(SubjectKind.AGENT.value, gettext_lazy("Agent")), (SubjectKind.FLOW.value, gettext_lazy("Flow"))]
WEIGHTS = [
    (GroupWeights.AS_RECORDED.value, gettext_lazy("everybody’s, as recorded")),
    (GroupWeights.EXPERTS_ONLY.value, gettext_lazy("experts’ only")),
]
PARTS = [
    ("", gettext_lazy("every case")),
    (SamplePart.SEARCH.value, gettext_lazy("the part for searching")),
    (SamplePart.HOLD_OUT.value, gettext_lazy("the part held out")),
]
PIN, UNPIN, LATEST = "pin", "unpin", "latest"
NOBODY = "nobody"


def _words(**attrs: Any) -> forms.TextInput:
    return forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"} | attrs)


class SelectionForm(forms.Form):
    """Which corrected runs a set is built from; shown with its preview before anything is built."""

    project = forms.ModelChoiceField(
        Project.objects.none(), label=gettext_lazy("Project"), empty_label=None, required=True
    )
    kind = forms.ChoiceField(choices=KINDS, label=gettext_lazy("What ran"), initial=SubjectKind.AGENT.value)
    subject = forms.CharField(max_length=200, label=gettext_lazy("Its name"), widget=_words(list="known-subject"))
    subject_version = forms.CharField(
        max_length=100,
        required=False,
        label=gettext_lazy("Version"),
        widget=_words(placeholder=gettext_lazy("any"), list="known-version"),
    )
    since = forms.DateField(
        required=False, label=gettext_lazy("First corrected from"), widget=forms.DateInput(attrs={"type": "date"})
    )
    until = forms.DateField(
        required=False, label=gettext_lazy("to, included"), widget=forms.DateInput(attrs={"type": "date"})
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
        since, until = _start_of(said["since"]), _start_of(said["until"], days=1)
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


def _start_of(day: date | None, days: int = 0) -> datetime | None:
    return None if day is None else datetime.combine(day + timedelta(days=days), time.min, UTC)


class VersionField(forms.CharField):
    """A test set's version: three numbers."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=60, widget=_words(placeholder="1.0.0", inputmode="decimal"), **options)

    def clean(self, value: Any) -> str:
        text: str = super().clean(value)
        if text and parse_set_version(text) is None:
            raise forms.ValidationError(_("A version is three numbers such as 1.2.0, without leading zeros."))
        return text


def _checked_version(version: str) -> str:
    """Of an agent or a flow."""
    if version and not SEMVER.fullmatch(version):
        raise forms.ValidationError(_("Name a version such as 1.4.0."))
    return version


class PublishForm(forms.Form):
    """The name and version that what is chosen is kept under."""

    set_name = forms.RegexField(
        r"^[A-Za-z0-9][A-Za-z0-9._-]{0,199}\Z",
        label=gettext_lazy("Test set"),
        widget=_words(placeholder="support.corrections"),
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


class LiveForm(forms.Form):
    """Ship: which version goes live, and which mistakes it is said to fix."""

    action = forms.ChoiceField(choices=[(name, name) for name in (PIN, LATEST, UNPIN)])
    version = forms.CharField(max_length=100, label=gettext_lazy("Version"), widget=_words(placeholder="1.4.0"))
    reason = forms.CharField(
        required=False, max_length=2000, label=gettext_lazy("Why"), widget=forms.Textarea(attrs={"rows": 1})
    )

    def __init__(self, data: Any = None, **options: Any) -> None:
        super().__init__(data, **options)
        if data is not None and data.get("action") == UNPIN:
            self.fields["version"].required = False

    def clean_version(self) -> str:
        return _checked_version(self.cleaned_data["version"])

    def draft(self, fixes: Iterable[str]) -> LiveChangeDraft:
        said = self.cleaned_data
        version = None if said["action"] == UNPIN else said["version"]
        return LiveChangeDraft(action=said["action"], version=version, reason=said["reason"], fixes=tuple(fixes))


class OwnerForm(forms.Form):
    """Who decides on an agent's wrong decisions: a person, a service account, or nobody."""

    owner = forms.ChoiceField(label=gettext_lazy("Owner"))

    def __init__(
        self,
        data: Any = None,
        *,
        people: Iterable[Person],
        services: Iterable[ServiceAccount],
        now: Party | None,
        **options: Any,
    ) -> None:
        """`now` can be kept even when they are not among those offered."""
        super().__init__(data, initial={"owner": _choice_of(now) if now else NOBODY}, **options)
        offered = [
            (_("People"), [(f"user:{person.id}", person.told_apart) for person in people]),
            (_("Service accounts"), [(f"service:{service.id}", str(service)) for service in services]),
        ]
        known = {value for _words, rows in offered for value, _name in rows}
        self.is_now_offered = now is None or _choice_of(now) in known
        kept = [] if now is None or self.is_now_offered else [(_choice_of(now), _("as it is now"))]
        choices = [(NOBODY, _("nobody")), *kept, *(group for group in offered if group[1])]
        self.fields["owner"].choices = choices  # type: ignore[attr-defined]

    def party(self) -> Party | None:
        said: str = self.cleaned_data["owner"]
        kind, _colon, owner_id = said.partition(":")
        return None if said == NOBODY else Party(kind, owner_id)


def _choice_of(owner: Party) -> str:
    return f"{owner.kind}:{owner.id}"


class PromoteForm(forms.Form):
    """A run becomes a case of its agent's set."""

    run_id = forms.UUIDField(
        label=gettext_lazy("Run id"), widget=_words(placeholder=gettext_lazy("id of a run of this agent"))
    )

    def run(self) -> UUID:
        found: UUID = self.cleaned_data["run_id"]
        return found


class DraftCaseForm(forms.Form):
    """A case written by hand: what comes in, and what should happen."""

    query = forms.CharField(
        max_length=20_000, label=gettext_lazy("What comes in"), widget=forms.Textarea(attrs={"rows": 2})
    )
    should_say = forms.CharField(
        required=False,
        max_length=20_000,
        label=gettext_lazy("What it should say"),
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    tool = forms.CharField(
        required=False, max_length=200, label=gettext_lazy("Tool it should call"), widget=_words(list="known-tool")
    )
    arguments = forms.CharField(
        required=False,
        max_length=20_000,
        label=gettext_lazy("with these arguments"),
        widget=forms.Textarea(attrs={"rows": 1, "placeholder": '{"order": 7}', "spellcheck": "false"}),
        help_text=gettext_lazy("JSON; left empty, any will do."),
    )
    agent_version = forms.CharField(
        required=False,
        max_length=100,
        label=gettext_lazy("Version"),
        widget=_words(placeholder=gettext_lazy("the live one"), list="known-version"),
    )

    def clean_arguments(self) -> JsonText:
        text = self.cleaned_data["arguments"].strip() or "{}"
        try:
            value = parse(text)
        except (NotJsonError, TooDeepError):
            value = None
        if not isinstance(value, dict):
            raise forms.ValidationError(_('Arguments are a JSON object such as {"order": 7}.'))
        return JsonText.parsed(text, value)

    def clean_agent_version(self) -> str:
        return _checked_version(self.cleaned_data["agent_version"])

    def clean(self) -> dict[str, Any]:
        said = self.cleaned_data
        if not said.get("should_say") and not said.get("tool"):
            self.add_error("should_say", _("Say what it should answer, or which tool it should call."))
        return said

    def draft(self) -> HandCaseDraft:
        said = self.cleaned_data
        arguments: JsonText = said["arguments"]
        calls = (ExpectedCall(said["tool"], arguments.value, arguments.text),) if said["tool"] else ()
        return HandCaseDraft(
            expect=Expectation(
                decisions=DecisionsExpected(Verdict.WRONG, calls) if calls else None,
                answer=AnswerExpected(Verdict.WRONG, said["should_say"]) if said["should_say"] else None,
            ),
            agent_version=said["agent_version"] or None,
            input=JsonText.of({"query": said["query"]}),
        )


class TestRunForm(forms.Form):
    """Which version is graded, how often, by whose words, and with which of the cases."""

    __test__ = False

    project = forms.ModelChoiceField(Project.objects.none(), label=gettext_lazy("Where it runs"), empty_label=None)
    kind = forms.ChoiceField(choices=KINDS, label=gettext_lazy("What is graded"))
    subject = forms.CharField(max_length=200, label=gettext_lazy("Its name"), widget=_words(list="known-subject"))
    subject_version = forms.CharField(
        max_length=100,
        label=gettext_lazy("The version to grade"),
        widget=_words(placeholder="1.4.0", list="known-version"),
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
        widget=_words(),
        help_text=gettext_lazy("Any word; the same one divides the cases in the same way each time."),
    )
    hold_out_share = forms.FloatField(
        required=False, min_value=0.1, max_value=0.9, initial=0.3, label=gettext_lazy("Share that is held out")
    )

    def __init__(self, data: Any = None, *, projects: Any, **options: Any) -> None:
        super().__init__(data, **options)
        self.fields["project"].queryset = projects  # type: ignore[attr-defined]

    def clean_subject_version(self) -> str:
        return _checked_version(self.cleaned_data["subject_version"])

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
    reason = forms.CharField(required=False, max_length=2000, label=gettext_lazy("Why"), widget=_words())
