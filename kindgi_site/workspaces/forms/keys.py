"""An API key to be minted."""

from collections.abc import Sequence
from datetime import datetime, time
from typing import Any
from uuid import UUID

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from kindgi_site.workspaces.services.keys import CAPABILITIES, KeyDraft


class KeyForm(forms.Form):
    principal = forms.ChoiceField(label=_("Acts for"))
    label = forms.CharField(
        required=False, max_length=200, label=_("Label"), help_text=_("What it is for, so that it can be told apart.")
    )
    role = forms.ChoiceField(
        choices=[("member", _("member: what the roles in projects allow")), ("admin", _("admin of the workspace"))],
        label=_("Role"),
    )
    project = forms.ChoiceField(required=False, label=_("Only in this project"))
    expires = forms.DateField(required=False, label=_("Last day"), widget=forms.DateInput(attrs={"type": "date"}))
    capabilities = forms.MultipleChoiceField(
        required=False,
        choices=[(name, name) for name in sorted(CAPABILITIES)],
        label=_("May also"),
        widget=forms.CheckboxSelectMultiple,
    )

    def __init__(
        self, *args: Any, principals: Sequence[tuple[str, str]], projects: Sequence[tuple[str, str]], **more: Any
    ) -> None:
        super().__init__(*args, **more)
        self.fields["principal"].choices = list(principals)  # type: ignore[attr-defined]
        self.fields["project"].choices = [("", _("in all of them")), *projects]  # type: ignore[attr-defined]

    def draft(self) -> KeyDraft:
        said = self.cleaned_data
        kind, _colon, principal_id = said["principal"].partition(":")
        last = said["expires"]
        return KeyDraft(
            principal=(kind, principal_id),
            role=said["role"],
            capabilities=tuple(said["capabilities"]),
            label=said["label"],
            expires_at=timezone.make_aware(datetime.combine(last, time.max)) if last else None,
            project_id=UUID(said["project"]) if said["project"] else None,
        )
