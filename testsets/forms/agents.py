"""What is said on an agent's page: what is live, who owns it, new cases."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from corrections.drafts import ExpectedCall
from corrections.marks import Party
from corrections.rules.expectations import AnswerExpected, DecisionsExpected, Expectation
from corrections.vocabulary import Verdict
from kindgi_site.exact_json import JsonText, NotJsonError, TooDeepError, parse
from kindgi_site.workspaces.models import Person, ServiceAccount
from testsets.drafts import HandCaseDraft, LiveChangeDraft
from testsets.forms.fields import checked_version, words

PIN, UNPIN, LATEST = "pin", "unpin", "latest"
NOBODY = "nobody"


class LiveForm(forms.Form):
    """Ship: which version goes live, and which mistakes it is said to fix."""

    action = forms.ChoiceField(choices=[(name, name) for name in (PIN, LATEST, UNPIN)])
    version = forms.CharField(max_length=100, label=gettext_lazy("Version"), widget=words(placeholder="1.4.0"))
    reason = forms.CharField(
        required=False, max_length=2000, label=gettext_lazy("Why"), widget=forms.Textarea(attrs={"rows": 1})
    )

    def __init__(self, data: Any = None, **options: Any) -> None:
        super().__init__(data, **options)
        if data is not None and data.get("action") == UNPIN:
            self.fields["version"].required = False

    def clean_version(self) -> str:
        """Taking a pin away names no version: what else was typed there is not looked at."""
        said = self.cleaned_data
        return "" if said.get("action") == UNPIN else checked_version(said["version"])

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
        label=gettext_lazy("Run id"),
        widget=words(placeholder=gettext_lazy("id of a run of this agent")),
        error_messages={"invalid": gettext_lazy("Give the id of a run, as the run’s own page shows it.")},
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
        required=False, max_length=200, label=gettext_lazy("Tool it should call"), widget=words(list="known-tool")
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
        widget=words(placeholder=gettext_lazy("the live one"), list="known-version"),
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
        return checked_version(self.cleaned_data["agent_version"])

    def clean(self) -> dict[str, Any]:
        said = self.cleaned_data
        if not said.get("should_say") and not said.get("tool"):
            self.add_error("should_say", _("Say what it should answer, or which tool it should call."))
        elif said.get("tool") == "" and self.data.get("arguments", "").strip():
            self.add_error("tool", _("Say which tool these arguments are for."))
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
