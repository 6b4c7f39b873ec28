"""What a corrector group says on its page, read into a draft or a change."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django import forms
from django.utils.translation import gettext_lazy as _

from corrections.drafts import AssertableBy, GroupChange, GroupDraft
from corrections.models import CorrectorGroup
from corrections.vocabulary import ScopeKind
from kindgi_site.callers import ReviewerRole

WORKSPACE = "workspace"
ROLES = [
    ("", _("anybody, on the roster or not")),
    (ReviewerRole.STANDARD.value, _("reviewers on the roster")),
    (ReviewerRole.SENIOR.value, _("senior reviewers and above")),
    (ReviewerRole.ADMIN.value, _("reviewers who are admins")),
]
KINDS = [("user", _("people")), ("service", _("programs"))]


class RestrictionForm(forms.Form):
    """Weight, description and who may speak for a group: what can change in one."""

    weight = forms.FloatField(
        min_value=0,
        initial=1,
        label=_("Weight"),
        help_text=_("How much one voice counts: 1 as much as anybody’s, 3 as three, 0 not at all."),
        widget=forms.NumberInput(attrs={"step": "any", "min": "0"}),
    )
    description = forms.CharField(
        required=False, max_length=2000, label=_("Description"), widget=forms.Textarea(attrs={"rows": 2})
    )
    min_reviewer_role = forms.ChoiceField(required=False, choices=ROLES, label=_("Who may speak for it"))
    principal_kinds = forms.MultipleChoiceField(
        required=False, choices=KINDS, label=_("Only these kinds of caller"), widget=forms.CheckboxSelectMultiple
    )
    principals = forms.MultipleChoiceField(
        required=False,
        label=_("Only those named here"),
        help_text=_("Nobody ticked: everybody of the kind above."),
        widget=forms.CheckboxSelectMultiple,
    )

    def __init__(self, *args: Any, principals: Sequence[tuple[str, str]], **more: Any) -> None:
        """`principals` are (id, name) of those who can be named."""
        super().__init__(*args, **more)
        self.fields["principals"].choices = list(principals)  # type: ignore[attr-defined]

    def restriction(self) -> AssertableBy | None:
        said = self.cleaned_data
        role = said["min_reviewer_role"]
        wanted = AssertableBy(
            min_reviewer_role=ReviewerRole(role) if role else None,
            principal_kinds=tuple(said["principal_kinds"]),
            principal_ids=tuple(said["principals"]),
        )
        return None if wanted == AssertableBy() else wanted

    def change(self) -> GroupChange:
        said = self.cleaned_data
        return GroupChange(weight=said["weight"], description=said["description"], assertable_by=self.restriction())


class GroupForm(RestrictionForm):
    """A new group. `scopes` are (value, words): `workspace`, or a project's id."""

    name = forms.CharField(max_length=100, label=_("Name"))
    scope = forms.ChoiceField(label=_("Covers"))
    agent = forms.CharField(
        required=False,
        max_length=200,
        label=_("Only this agent of the project"),
        widget=forms.TextInput(attrs={"list": "known-subject", "autocomplete": "off", "spellcheck": "false"}),
    )
    field_order = ("name", "scope", "agent", "weight", "description", "min_reviewer_role", "principal_kinds")

    def __init__(self, *args: Any, scopes: Sequence[tuple[str, str]], **more: Any) -> None:
        super().__init__(*args, **more)
        self.fields["scope"].choices = list(scopes)  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        said = self.cleaned_data
        if said.get("agent") and said.get("scope") == WORKSPACE:
            self.add_error("agent", _("An agent belongs to a project: choose the project it is in."))
        return said

    def draft(self) -> GroupDraft:
        said = self.cleaned_data
        of_workspace, agent = said["scope"] == WORKSPACE, said["agent"]
        narrow = ScopeKind.AGENT if agent else ScopeKind.PROJECT
        return GroupDraft(
            name=said["name"],
            weight=said["weight"],
            scope_kind=ScopeKind.TENANT if of_workspace else narrow,
            project_id=None if of_workspace else UUID(said["scope"]),
            agent_id=agent,
            description=said["description"],
            assertable_by=self.restriction(),
        )


def as_it_is(group: CorrectorGroup) -> dict[str, Any]:
    """What a group's form starts with."""
    return {
        "weight": int(group.weight) if group.weight.is_integer() else group.weight,
        "description": group.description,
        "min_reviewer_role": group.min_reviewer_role,
        "principal_kinds": group.principal_kinds,
        "principals": group.principal_ids,
    }
