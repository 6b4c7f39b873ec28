"""Runs and corrections in the admin site: to look at. Corrector groups are made, changed and retired here."""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from corrections.drafts import AssertableBy, GroupChange, GroupDraft
from corrections.models import (
    AgentOwner,
    Correction,
    CorrectionEvent,
    CorrectorGroup,
    Erasure,
    Run,
    RunContent,
    RunCopy,
    RunTool,
)
from corrections.rules.groups import PRINCIPAL_KINDS, check_change, check_group
from corrections.services.groups import change_group, check_name_free, create_group, retire_group
from corrections.vocabulary import ScopeKind
from kindgi_site.callers import Caller, ReviewerRole
from kindgi_site.errors import DomainError
from kindgi_site.look_only import EvidenceAdmin, LookOnly, LookOnlyAdmin, show_the_rest
from kindgi_site.workspaces.admin import InWorkspaceAdmin

FIXED = ("workspace", "scope_kind", "project", "agent_id", "name")
RESTRICTION = ("min_reviewer_role", "principal_kinds", "principal_ids")


class ContentInline(LookOnly, admin.StackedInline):  # type: ignore[type-arg]
    model = RunContent
    hidden_fields = ("run",)


class ToolInline(LookOnly, admin.TabularInline):  # type: ignore[type-arg]
    model = RunTool
    hidden_fields = ("id", "run")


@admin.register(Run)
class RunAdmin(EvidenceAdmin):
    list_display = ("run_id", "subject_id", "subject_version", "status", "workspace", "project", "created_at")
    list_filter = ("status", "subject_kind", "workspace")
    list_select_related = ("workspace", "project")
    search_fields = ("run_id", "subject_id", "participant_id")
    inlines = (ContentInline, ToolInline)


@admin.register(RunCopy)
class RunCopyAdmin(EvidenceAdmin):
    list_display = ("run_id", "subject_id", "subject_version", "workspace", "captured_at", "erased_at")
    list_filter = ("subject_kind", "workspace")
    list_select_related = ("workspace",)
    search_fields = ("run_id", "subject_id")


@admin.register(Correction)
class CorrectionAdmin(EvidenceAdmin):
    list_display = ("id", "run_id", "subject_id", "status", "decisions", "answer", "group", "workspace", "created_at")
    list_filter = ("status", "sorted_to", "expert", "workspace")
    list_select_related = ("workspace", "group")
    search_fields = ("id", "run_id", "made_by_id", "participant_id")


@admin.register(CorrectionEvent)
class CorrectionEventAdmin(EvidenceAdmin):
    list_display = ("at", "action", "correction_id", "from_status", "to_status", "by_kind", "by_id")
    list_filter = ("action",)
    search_fields = ("correction", "by_id")


@admin.register(Erasure)
class ErasureAdmin(EvidenceAdmin):
    list_display = ("created_at", "selector_kind", "status", "workspace", "completed_at")
    list_filter = ("status", "selector_kind", "workspace")
    list_select_related = ("workspace",)


@admin.register(AgentOwner)
class AgentOwnerAdmin(LookOnlyAdmin):
    list_display = ("agent_id", "project", "owner_kind", "owner_id", "updated_at")
    list_select_related = ("project",)
    search_fields = ("agent_id", "owner_id")


class GroupForm(forms.ModelForm):  # type: ignore[type-arg]
    principal_kinds = forms.MultipleChoiceField(
        label=gettext_lazy("Kinds of caller"),
        choices=[(kind, kind) for kind in PRINCIPAL_KINDS],
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("Who may speak for the group; all that is said here must hold."),
    )
    principal_ids = forms.CharField(
        label=gettext_lazy("Callers"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text=gettext_lazy("One id of a person or a program on each line."),
    )

    class Meta:
        model = CorrectorGroup
        fields = (*FIXED, "weight", "description", *RESTRICTION)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.initial["principal_ids"] = "\n".join(self.instance.principal_ids)

    def clean_principal_ids(self) -> list[str]:
        lines = self.cleaned_data["principal_ids"].splitlines()
        return list(dict.fromkeys(line.strip() for line in lines if line.strip()))

    def clean(self) -> None:
        super().clean()
        if self.errors:
            return
        try:
            self._check_whole()
        except DomainError as refusal:
            self.add_error(None, refusal.message)

    def _check_whole(self) -> None:
        if not self.instance._state.adding:  # noqa: SLF001 - documented by Django
            check_change(self.change())
            return
        draft, workspace, project = self.draft(), self.cleaned_data["workspace"], self.cleaned_data["project"]
        check_group(draft)
        if project is not None and project.workspace_id != workspace.id:
            raise forms.ValidationError({"project": _("This project is of another workspace.")})
        check_name_free(workspace_id=workspace.id, draft=draft)

    def draft(self) -> GroupDraft:
        said = self.cleaned_data
        project = said["project"]
        return GroupDraft(
            name=said["name"],
            weight=said["weight"],
            scope_kind=ScopeKind(said["scope_kind"]),
            project_id=project and project.id,
            agent_id=said["agent_id"],
            description=said["description"],
            assertable_by=self._assertable_by(),
        )

    def change(self) -> GroupChange:
        said = self.cleaned_data
        return GroupChange(weight=said["weight"], description=said["description"], assertable_by=self._assertable_by())

    def _assertable_by(self) -> AssertableBy | None:
        said = self.cleaned_data
        role = said["min_reviewer_role"]
        restriction = AssertableBy(
            min_reviewer_role=ReviewerRole(role) if role else None,
            principal_kinds=tuple(said["principal_kinds"]),
            principal_ids=tuple(said["principal_ids"]),
        )
        return None if restriction == AssertableBy() else restriction


@admin.register(CorrectorGroup)
class CorrectorGroupAdmin(InWorkspaceAdmin):
    """Name and scope never change; a retired group is only looked at, as what was said under it stays."""

    form = GroupForm
    list_display = ("name", "workspace", "scope_kind", "project", "agent_id", "weight", "restricted", "unregistered_at")
    list_filter = ("scope_kind", "workspace", ("unregistered_at", admin.EmptyFieldListFilter))
    list_select_related = ("workspace", "project")
    search_fields = ("name", "agent_id")
    autocomplete_fields = ("workspace",)
    fieldsets = (
        (None, {"fields": (*FIXED, "weight", "description")}),
        (gettext_lazy("Restriction"), {"fields": RESTRICTION}),
        (gettext_lazy("Dates"), {"fields": ("created_at", "updated_at", "unregistered_at")}),
    )
    actions = ("retire",)

    @admin.display(boolean=True, description=gettext_lazy("restricted"))
    def restricted(self, group: CorrectorGroup) -> bool:
        return group.is_restricted

    def get_readonly_fields(self, _request: HttpRequest, obj: CorrectorGroup | None = None) -> tuple[str, ...]:
        dates = ("created_at", "updated_at", "unregistered_at")
        return dates if obj is None else (*FIXED, *dates)

    def has_change_permission(self, request: HttpRequest, obj: CorrectorGroup | None = None) -> bool:
        is_retired = obj is not None and obj.unregistered_at is not None
        return not is_retired and super().has_change_permission(request, obj)

    def has_delete_permission(self, _request: HttpRequest, _obj: CorrectorGroup | None = None) -> bool:
        return False

    def has_retire_permission(self, request: HttpRequest) -> bool:
        return self.has_change_permission(request)

    def save_model(self, request: HttpRequest, obj: CorrectorGroup, form: Any, change: bool) -> None:  # noqa: FBT001
        caller = _operator(request, obj.workspace_id)
        if change:
            change_group(caller=caller, group_id=str(obj.id), change=form.change())
        else:
            obj.pk = create_group(caller=caller, draft=form.draft()).pk

    @admin.action(description=gettext_lazy("Retire the chosen groups"), permissions=["retire"])
    def retire(self, request: HttpRequest, groups: QuerySet[CorrectorGroup]) -> None:
        live = groups.filter(unregistered_at__isnull=True)
        retired = [
            retire_group(caller=_operator(request, group.workspace_id), group_id=str(group.id)) for group in live
        ]
        said = ngettext("%(count)d group was retired.", "%(count)d groups were retired.", len(retired))
        self.message_user(request, said % {"count": len(retired)}, messages.SUCCESS)


def _operator(request: HttpRequest, workspace_id: UUID) -> Caller:
    """Somebody at the admin site stands above all workspaces: in each they may do what its administrators may."""
    return Caller(
        workspace_id=workspace_id,
        kind="user",
        id=str(request.user.pk),
        name=str(request.user),
        is_workspace_admin=True,
    )


show_the_rest("corrections", except_for=(RunContent, RunTool))
