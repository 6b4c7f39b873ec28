"""What the forms of several pages have in common."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from corrections.vocabulary import SubjectKind
from kindgi_site.api.bodies import SEMVER

KINDS = [(SubjectKind.AGENT.value, gettext_lazy("Agent")), (SubjectKind.FLOW.value, gettext_lazy("Flow"))]


def words(**attrs: Any) -> forms.TextInput:
    return forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"} | attrs)


def checked_version(version: str) -> str:
    """Of an agent or a flow."""
    if version and not SEMVER.fullmatch(version):
        raise forms.ValidationError(_("Name a version such as 1.4.0."))
    return version
