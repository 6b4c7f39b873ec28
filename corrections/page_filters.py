"""What narrows the lists of runs, corrections and groups on their pages; all of it stands in the address."""

from datetime import date
from typing import Any

import django_filters
from django import forms
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from corrections.models import Correction, CorrectorGroup, Run, RunTool
from corrections.vocabulary import RECORDED_RIGHT, RunStatus, Status
from kindgi_site import days
from kindgi_site.callers import Caller
from kindgi_site.exact_json import dumps
from kindgi_site.pages import address_query
from kindgi_site.workspaces.models import Project
from kindgi_site.workspaces.page_filters import NameFilter
from kindgi_site.workspaces.queries.projects import projects_readable_by

STATUSES = [
    (RunStatus.COMPLETED.value, _("completed")),
    (RunStatus.FAILED.value, _("failed")),
    (RunStatus.CANCELLED.value, _("cancelled")),
    (RunStatus.RUNNING.value, _("running")),
    (RunStatus.SUSPENDED.value, _("suspended")),
    (RunStatus.PENDING.value, _("pending")),
]
CORRECTED = [
    ("no", _("not corrected yet")),
    ("yes", _("corrected")),
    ("wrong", _("something wrong")),
    ("mine", _("corrected by me")),
    ("not-mine", _("not by me yet")),
]


class ProjectFilter(django_filters.ModelChoiceFilter):
    """Offers the projects that the filter set's `caller` may read."""

    parent: Any  # the filter set it stands in, as django-filter sets it

    def get_queryset(self, request: object) -> QuerySet[Project]:
        return projects_readable_by(self.parent.caller).order_by("name")


class DayFilter(django_filters.DateFilter):
    """Rows of a day and those after it, or with `is_last` those up to its end, in the time zone of the site.

    Compares with the moments at which the days begin, so that an index on the column serves.
    """

    def __init__(self, *, is_last: bool = False, **extra: Any) -> None:
        super().__init__(
            lookup_expr="lt" if is_last else "gte",
            validators=days.BOUNDS,
            widget=forms.DateInput(attrs={"type": "date"}),
            **extra,
        )
        self.is_last = is_last

    def filter(self, qs: QuerySet[Run], value: date | None) -> QuerySet[Run]:
        if value is None:
            return qs
        return super().filter(qs, days.start_of(value + days.ONE if self.is_last else value))


class RunPageFilter(django_filters.FilterSet):
    """Built with the caller, whose projects it offers and whose corrections are `mine`."""

    text = django_filters.CharFilter(label=_("Text in input or output"), method="with_text")
    subject = django_filters.CharFilter(label=_("Agent or flow"), field_name="subject_id")
    version = django_filters.CharFilter(label=_("Version"), field_name="subject_version")
    corrected = django_filters.ChoiceFilter(
        label=_("Corrections"), choices=CORRECTED, empty_label=_("corrected or not"), method="by_correction"
    )
    status = django_filters.ChoiceFilter(label=_("Status"), choices=STATUSES, empty_label=_("any status"))
    tool = django_filters.CharFilter(label=_("Tool called"), method="calling")
    project = ProjectFilter(label=_("Project"), empty_label=_("any project"))
    since = DayFilter(label=_("Received from"), field_name="created_at")
    until = DayFilter(label=_("Received until"), field_name="created_at", is_last=True)

    class Meta:
        model = Run
        fields: list[str] = []

    def __init__(self, data: QueryDict, queryset: QuerySet[Run], *, caller: Caller) -> None:
        super().__init__(data, queryset)
        self.asked = data
        self.caller = caller
        for name in ("subject", "version", "tool"):
            attrs = {"list": f"known-{name}", "placeholder": _("any"), "autocomplete": "off", "spellcheck": "false"}
            self.filters[name].extra["widget"] = forms.TextInput(attrs=attrs)
        self.filters["text"].extra["widget"] = forms.TextInput(attrs={"type": "search", "autocomplete": "off"})

    @property
    def query(self) -> str:
        """The filters as a query string without the empty ones, the same however they were typed."""
        return address_query(self.asked, self.filters)

    @property
    def count(self) -> int:
        return sum(bool(self.asked.get(name)) for name in self.filters)

    def with_text(self, runs: QuerySet[Run], _name: str, text: str) -> QuerySet[Run]:
        """Content is kept as it was sent, so letters may stand there as themselves or as escapes."""
        found = Q()
        for spelled in {dumps(text)[1:-1], text}:
            found |= Q(content__input__icontains=spelled) | Q(content__output__icontains=spelled)
        return runs.filter(found)

    def calling(self, runs: QuerySet[Run], _name: str, tool: str) -> QuerySet[Run]:
        return runs.filter(Exists(RunTool.objects.filter(run=OuterRef("id"), tool=tool)))

    def by_correction(self, runs: QuerySet[Run], _name: str, which: str) -> QuerySet[Run]:
        everybodys = Correction.objects.filter(workspace=self.caller.workspace_id, unregistered_at__isnull=True)
        live = everybodys.filter(run_id=OuterRef("run_id"))
        # One's own are few beside all runs, so that they are read from the index of makers and not run by run.
        mine = everybodys.filter(made_by_kind=self.caller.kind, made_by_id=self.caller.id).order_by()
        conditions: dict[str, Any] = {
            "yes": Exists(live),
            "no": ~Exists(live),
            "wrong": Exists(live.filter(has_wrong=True)),
            "mine": Q(run_id__in=mine.values("run_id")),
            "not-mine": ~Exists(mine.filter(run_id=OuterRef("run_id"))),
        }
        return runs.filter(conditions[which])


DESKS = [
    ("with-owner", _("With owner")),
    ("improve", _("Improve")),
    ("developer", _("Developer")),
    ("fixed", _("Fixed")),
    ("all", _("All")),
]
CORRECTION_STATUSES = [
    (Status.OPEN.value, _("open")),
    (Status.BEING_FIXED.value, _("being fixed")),
    (Status.WITH_OWNER.value, _("with the owner")),
    (Status.FIXED.value, _("fixed")),
    (Status.WONT_FIX.value, _("won’t fix")),
]
_UNDONE = (Status.OPEN, Status.BEING_FIXED)


class CorrectionPageFilter(django_filters.FilterSet):
    """The desks of an agent's owner: whose turn it is, and what narrows it. Offers the projects the caller may read."""

    desk = django_filters.ChoiceFilter(choices=DESKS, method="at_desk", label=_("Desk"))
    subject = django_filters.CharFilter(label=_("Agent or flow"), field_name="subject_id")
    version = django_filters.CharFilter(label=_("Version"), field_name="subject_version")
    status = django_filters.ChoiceFilter(label=_("Status"), choices=CORRECTION_STATUSES, empty_label=_("any status"))
    expert = django_filters.ChoiceFilter(
        label=_("Said by"), choices=[("true", _("experts"))], empty_label=_("anybody"), method="by_experts"
    )
    project = ProjectFilter(label=_("Project"), empty_label=_("any project"))

    class Meta:
        model = Correction
        fields: list[str] = []

    def __init__(self, data: QueryDict, queryset: QuerySet[Correction], *, caller: Caller) -> None:
        given = data.copy()
        if given.get("desk") not in dict(DESKS):
            given["desk"] = DESKS[0][0]
        super().__init__(given, queryset.filter(unregistered_at__isnull=True))
        self.asked = given
        self.caller = caller
        self.filters["desk"].extra["widget"] = forms.HiddenInput()
        for name in ("subject", "version"):
            attrs = {"list": f"known-{name}", "placeholder": _("any"), "autocomplete": "off", "spellcheck": "false"}
            self.filters[name].extra["widget"] = forms.TextInput(attrs=attrs)

    @property
    def desk_name(self) -> str:
        return str(self.asked["desk"])

    @property
    def query(self) -> str:
        """The filters as a query string without the empty ones, the desk first."""
        return address_query(self.asked, self.filters)

    @property
    def count(self) -> int:
        """How many filters narrow the desk."""
        return sum(bool(self.asked.get(name)) for name in self.filters if name != "desk")

    def at_desk(self, corrections: QuerySet[Correction], _name: str, desk: str) -> QuerySet[Correction]:
        match desk:
            case "with-owner":
                return corrections.filter(status=Status.WITH_OWNER)
            case "fixed":
                return corrections.filter(status=Status.FIXED).exclude(fixed_how=RECORDED_RIGHT)
            case "improve" | "developer":
                return corrections.filter(sorted_to=desk, status__in=_UNDONE)
        return corrections

    def by_experts(self, corrections: QuerySet[Correction], _name: str, _value: str) -> QuerySet[Correction]:
        return corrections.filter(expert=True)


class GroupFilter(NameFilter):
    """Groups by name: those in use, or the retired ones."""

    state = django_filters.ChoiceFilter(
        label=_("State"), choices=[("retired", _("retired"))], empty_label=_("in use"), method="as_asked"
    )

    def __init__(self, data: QueryDict, queryset: QuerySet[CorrectorGroup]) -> None:
        self.is_retired = data.get("state") == "retired"
        super().__init__(data, queryset.filter(unregistered_at__isnull=not self.is_retired))

    def as_asked(self, groups: QuerySet[CorrectorGroup], _name: str, _value: str) -> QuerySet[CorrectorGroup]:
        return groups
