"""What a correcting rule says on its page, read into a draft or a change. Shape only."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from corrections.drafts import RuleChange, RuleDraft, RuleWhen
from corrections.models import CorrectingRuleVersion
from corrections.rules.queue import MAX_NAME, MAX_OPEN, read_when

_LINES = {"rows": 2, "spellcheck": "false"}


class RuleForm(forms.Form):
    name = forms.CharField(max_length=MAX_NAME, label=_("Name"))
    agents = forms.CharField(
        required=False,
        label=_("Only turns of these agents, one a line"),
        widget=forms.Textarea(attrs=_LINES),
    )
    flows = forms.CharField(
        required=False,
        label=_("Or only runs of these flows, one a line"),
        widget=forms.Textarea(attrs=_LINES),
    )
    versions = forms.CharField(
        required=False,
        label=_("Only these versions, one a line"),
        help_text=_("“live” stands for whichever version was live."),
        widget=forms.Textarea(attrs=_LINES),
    )
    dry_runs = forms.BooleanField(required=False, label=_("Dry runs too"))
    percent = forms.FloatField(
        initial=100,
        max_value=100,
        label=_("Share of them, in percent"),
        error_messages={
            "required": _("Say how many percent of them it takes."),
            "invalid": _("Say in a number how many percent of them it takes."),
            "max_value": _("It takes 100 percent of them at most."),
        },
        widget=forms.NumberInput(attrs={"step": "any", "min": "0", "max": "100"}),
    )
    max_open = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MAX_OPEN,
        label=_("At most so many waiting at once"),
    )
    group = forms.ChoiceField(required=False, label=_("Whose correction it wants"))
    enabled = forms.BooleanField(required=False, initial=True, label=_("In force"))

    def __init__(self, *args: Any, groups: Sequence[tuple[str, str]], **more: Any) -> None:
        super().__init__(*args, **more)
        self.fields["group"].choices = [("", _("anybody’s")), *groups]  # type: ignore[attr-defined]

    def clean_percent(self) -> float:
        percent: float = self.cleaned_data["percent"]
        if not percent > 0:
            raise forms.ValidationError(_("It takes more than 0 percent of them."))
        return percent

    def clean(self) -> dict[str, Any]:
        said = self.cleaned_data
        if said.get("agents") and said.get("flows"):
            self.add_error("flows", _("Name agents or flows, not both."))
        return said

    def when(self) -> RuleWhen:
        said = self.cleaned_data
        return RuleWhen(
            agent_ids=_lines(said["agents"]),
            flow_ids=_lines(said["flows"]),
            versions=_lines(said["versions"]),
            include_dry_runs=True if said["dry_runs"] else None,
        )

    @property
    def sample(self) -> float:
        return float(self.cleaned_data["percent"] / 100)

    def draft(self) -> RuleDraft:
        said = self.cleaned_data
        return RuleDraft(
            name=said["name"],
            when=self.when(),
            sample=self.sample,
            max_open=said["max_open"],
            group_id=said["group"] or None,
            enabled=said["enabled"],
        )

    def change(self) -> RuleChange:
        said = self.cleaned_data
        return RuleChange(
            name=said["name"],
            when=self.when(),
            sample=self.sample,
            max_open=said["max_open"],
            group_id=said["group"] or None,
            enabled=said["enabled"],
        )


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.splitlines() if line.strip())


def rule_as_it_is(version: CorrectingRuleVersion) -> dict[str, Any]:
    """What a rule's form starts with."""
    when = read_when(version.when)
    return {
        "name": version.name,
        "agents": "\n".join(when.agent_ids),
        "flows": "\n".join(when.flow_ids),
        "versions": "\n".join(when.versions),
        "dry_runs": bool(when.include_dry_runs),
        "percent": f"{version.sample * 100:.10g}",
        "max_open": version.max_open,
        "group": str(version.group_id or ""),
        "enabled": version.enabled,
    }
