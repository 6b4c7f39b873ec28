"""What is asked to be forgotten."""

from typing import Any
from uuid import UUID

from django import forms
from django.utils.translation import gettext_lazy as _


class ConfirmForm(forms.Form):
    """A tick that says it is meant."""

    understood = forms.BooleanField(
        label=_("I know that this cannot be undone"), error_messages={"required": _("Tick this first.")}
    )


class SelectorForm(ConfirmForm):
    """Whose words are to be forgotten: an end user's, or a conversation's."""

    kind = forms.ChoiceField(
        label=_("Forget"),
        choices=[("participant", _("an end user")), ("conversation", _("a conversation"))],
    )
    selector = forms.CharField(
        max_length=256,
        label=_("Their id"),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    field_order = ("kind", "selector", "understood")

    def clean(self) -> dict[str, Any]:
        said = self.cleaned_data
        if said.get("kind") == "conversation" and said.get("selector"):
            try:
                said["selector"] = UUID(said["selector"])
            except ValueError:
                self.add_error("selector", _("The id of a conversation is a UUID."))
        return said
