"""People and keys in the admin site; workspaces and projects to look at, and a workspace's rate limit to set."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from kindgi_site.callers import Caller, ReviewerRole, Role
from kindgi_site.errors import DomainError
from kindgi_site.look_only import EvidenceAdmin, LongTableAdmin, LookOnlyAdmin, show_the_rest
from kindgi_site.workspaces.models import (
    ApiKey,
    AuditEntry,
    AuditSeal,
    IdempotencyRecord,
    Membership,
    Person,
    Project,
    ProjectRole,
    RateWindow,
    Reviewer,
    ServiceAccount,
    Workspace,
)
from kindgi_site.workspaces.services import keys, people
from kindgi_site.workspaces.services.audit import record_write

admin.site.site_header = admin.site.site_title = gettext_lazy("Kindgi corrections")
# Roles are given in projects; a second kind of group beside the corrector groups would only confuse.
admin.site.unregister(Group)


class InWorkspaceChoice(forms.ModelChoiceField):  # type: ignore[type-arg]
    """Projects and programs of different workspaces often have one name."""

    def label_from_instance(self, row: Any) -> str:
        return f"{row.workspace} / {row}"


class InWorkspaceAdmin(LongTableAdmin):
    """Offers what belongs to a workspace by the names of both."""

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **options: Any) -> Any:
        model = db_field.related_model
        if model in (Project, ServiceAccount):
            options["form_class"] = InWorkspaceChoice
            options["queryset"] = model.objects.select_related("workspace").order_by("workspace__slug", "name")
        return super().formfield_for_foreignkey(db_field, request, **options)


class OnRecord:
    """Writes at the admin site stand in the audit record too, beside Django's own log of them."""

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        _record(request, obj, "add", message)
        return super().log_addition(request, obj, message)  # type: ignore[misc]

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        _record(request, obj, "change", message)
        return super().log_change(request, obj, message)  # type: ignore[misc]

    def log_deletions(self, request: HttpRequest, queryset: QuerySet[Any]) -> Any:
        for row in queryset:
            _record(request, row, "delete", ())
        return super().log_deletions(request, queryset)  # type: ignore[misc]


def _record(request: HttpRequest, row: Any, action: str, message: Any) -> None:
    """Who, what and the names of the fields; a row is of a workspace itself or through its project."""
    workspace = row if isinstance(row, Workspace) else getattr(row, "workspace", None) or row.project.workspace
    caller = Caller(
        workspace_id=workspace.pk,
        kind="user",
        id=str(request.user.pk),
        via="admin",
        request_id=getattr(request, "request_id", ""),
    )
    changes = [change for part in message if isinstance(part, dict) for change in part.values()]
    fields = [str(name) for change in changes for name in change.get("fields", ())]
    kind = row._meta.model_name  # noqa: SLF001 - documented by Django
    record_write(caller, f"admin.{kind}.{action}", kind, row.pk, fields)


class KeptAdmin(InWorkspaceAdmin):
    """Rows that others point at, or that say who did something: never deleted. `fixed` holds once they are made."""

    fixed: tuple[str, ...] = ()
    never_written: tuple[str, ...] = ()

    def get_readonly_fields(self, _request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        return self.never_written if obj is None else (*self.fixed, *self.never_written)

    def has_delete_permission(self, _request: HttpRequest, _obj: Model | None = None) -> bool:
        return False


@admin.register(Workspace)
class WorkspaceAdmin(OnRecord, KeptAdmin):
    list_display = ("name", "slug", "requests_per_minute", "created_at")
    search_fields = ("slug", "name")
    fields = ("slug", "name", "requests_per_minute", "created_at")
    fixed = ("slug", "name", "created_at")

    def has_add_permission(self, _request: HttpRequest) -> bool:
        return False

    def save_model(self, _request: HttpRequest, obj: Workspace, _form: Any, _change: bool) -> None:  # noqa: FBT001
        people.set_rate_limit(workspace=obj, requests_per_minute=obj.requests_per_minute)


@admin.register(Project)
class ProjectAdmin(LookOnlyAdmin):
    list_display = ("name", "slug", "workspace", "is_default", "created_at")
    list_filter = ("workspace",)
    list_select_related = ("workspace",)
    search_fields = ("slug", "name")


@admin.register(RateWindow)
class RateWindowAdmin(LookOnlyAdmin):
    list_display = ("workspace", "opened_at", "requests")
    list_select_related = ("workspace",)
    ordering = ("-opened_at",)


@admin.register(IdempotencyRecord)
class IdempotencyRecordAdmin(EvidenceAdmin):
    """The stored answers stay hidden: one may hold a key that was shown to its owner once."""

    list_display = ("scope", "workspace", "status", "created_at", "expires_at")
    list_select_related = ("workspace",)
    search_fields = ("scope",)
    ordering = ("-expires_at",)
    hidden_fields = ("body",)


@admin.register(AuditEntry)
class AuditEntryAdmin(EvidenceAdmin):
    list_display = ("at", "action", "target_kind", "target_id", "by_kind", "by_id", "via", "workspace")
    list_filter = ("via", "workspace")
    list_select_related = ("workspace",)
    search_fields = ("target_id", "by_id", "request_id", "key_id")


@admin.register(AuditSeal)
class AuditSealAdmin(EvidenceAdmin):
    list_display = ("number", "sealed_at", "entries", "digest")
    ordering = ("-number",)


@admin.register(Person)
class PersonAdmin(UserAdmin):  # type: ignore[type-arg]
    """Nobody is deleted, as their id stands in what they said: take `active` from them instead."""

    show_full_result_count = False
    list_display = ("username", "first_name", "last_name", "is_active", "is_staff", "last_login")
    list_filter = ("is_active", "is_staff", "is_superuser")
    filter_horizontal = ("user_permissions",)
    readonly_fields = ("last_login", "date_joined")
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        (gettext_lazy("Personal info"), {"fields": ("first_name", "last_name", "email")}),
        (
            gettext_lazy("The admin site"),
            {"fields": ("is_active", "is_staff", "is_superuser", "user_permissions")},
        ),
        (gettext_lazy("Dates"), {"fields": ("last_login", "date_joined")}),
    )

    def has_delete_permission(self, _request: HttpRequest, _obj: Model | None = None) -> bool:
        return False


@admin.register(Membership)
class MembershipAdmin(OnRecord, LongTableAdmin):
    list_display = ("person", "workspace", "is_admin", "created_at")
    list_filter = ("is_admin", "workspace")
    list_select_related = ("person", "workspace")
    search_fields = ("person__username",)
    autocomplete_fields = ("person", "workspace")
    fields = ("person", "workspace", "is_admin")

    def get_readonly_fields(self, _request: HttpRequest, obj: Membership | None = None) -> tuple[str, ...]:
        return () if obj is None else ("person", "workspace")


@admin.register(ServiceAccount)
class ServiceAccountAdmin(OnRecord, KeptAdmin):
    list_display = ("name", "workspace", "is_workspace_admin", "created_at")
    list_filter = ("workspace",)
    list_select_related = ("workspace",)
    search_fields = ("name",)
    autocomplete_fields = ("workspace",)
    fields = ("workspace", "name", "is_workspace_admin")
    fixed = ("workspace", "name")


class PrincipalForm(forms.ModelForm):  # type: ignore[type-arg]
    """Something of exactly one person or program, who must be of the workspace."""

    def clean(self) -> None:
        super().clean()
        if not self.errors and self.instance._state.adding:  # noqa: SLF001 - documented by Django
            self.check_new()

    def check_new(self) -> None:
        check_of_workspace(self.principal, self.cleaned_data["project"].workspace)

    @property
    def principal(self) -> Person | ServiceAccount:
        person, service = self.cleaned_data["person"], self.cleaned_data["service"]
        if (person is None) == (service is None):
            raise ValidationError(_("Choose either a person or a service account."))
        principal: Person | ServiceAccount = person or service
        return principal


def check_of_workspace(principal: Person | ServiceAccount, workspace: Workspace) -> None:
    if isinstance(principal, Person):
        is_theirs = principal.memberships.filter(workspace=workspace).exists()
    else:
        is_theirs = principal.workspace_id == workspace.id
    if not is_theirs:
        raise ValidationError(_("“%(name)s” is not of this workspace.") % {"name": principal})


@admin.register(ProjectRole)
class ProjectRoleAdmin(OnRecord, InWorkspaceAdmin):
    form = PrincipalForm
    list_display = ("project", "person", "service", "role")
    list_filter = ("role",)
    list_select_related = ("project", "person", "service")
    search_fields = ("person__username", "service__name")
    autocomplete_fields = ("person",)
    fields = ("project", "person", "service", "role")

    def get_readonly_fields(self, _request: HttpRequest, obj: ProjectRole | None = None) -> tuple[str, ...]:
        return () if obj is None else ("project", "person", "service")

    def save_model(self, _request: HttpRequest, obj: ProjectRole, _form: Any, _change: bool) -> None:  # noqa: FBT001
        principal = obj.person or obj.service
        assert principal is not None
        obj.pk = people.set_project_role(project=obj.project, principal=principal, role=Role(obj.role)).pk


class ReviewerForm(forms.ModelForm):  # type: ignore[type-arg]
    def clean(self) -> None:
        super().clean()
        if not self.errors and self.instance._state.adding:  # noqa: SLF001 - documented by Django
            check_of_workspace(self.cleaned_data["person"], self.cleaned_data["workspace"])


@admin.register(Reviewer)
class ReviewerAdmin(OnRecord, KeptAdmin):
    form = ReviewerForm
    list_display = ("__str__", "workspace", "role", "created_at", "deactivated_at")
    list_filter = ("role", "workspace")
    list_select_related = ("person", "workspace")
    search_fields = ("display_name", "person__username")
    autocomplete_fields = ("workspace", "person")
    fields = ("workspace", "person", "role", "display_name", "created_at", "deactivated_at")
    fixed = ("workspace", "person")
    never_written = ("created_at", "deactivated_at")
    actions = ("deactivate", "activate")

    def save_model(self, request: HttpRequest, obj: Reviewer, form: Any, change: bool) -> None:  # noqa: FBT001
        if change:  # and one who is deactivated stays it
            super().save_model(request, obj, form, change)
        else:
            obj.pk = _on_the_roster(obj).pk

    def has_roster_permission(self, request: HttpRequest) -> bool:
        return self.has_change_permission(request)

    @admin.action(description=gettext_lazy("Deactivate the chosen reviewers"), permissions=["roster"])
    def deactivate(self, _request: HttpRequest, reviewers: QuerySet[Reviewer]) -> None:
        for reviewer in reviewers:
            people.deactivate_reviewer(reviewer=reviewer)

    @admin.action(description=gettext_lazy("Activate the chosen reviewers again"), permissions=["roster"])
    def activate(self, _request: HttpRequest, reviewers: QuerySet[Reviewer]) -> None:
        for reviewer in reviewers.select_related("workspace", "person"):
            _on_the_roster(reviewer)


def _on_the_roster(reviewer: Reviewer) -> Reviewer:
    return people.set_reviewer_role(
        workspace=reviewer.workspace,
        person=reviewer.person,
        role=ReviewerRole(reviewer.role),
        display_name=reviewer.display_name,
    )


class KeyForm(PrincipalForm):
    capabilities = forms.MultipleChoiceField(
        choices=[(name, name) for name in sorted(keys.CAPABILITIES)],
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )

    def check_new(self) -> None:
        said = self.cleaned_data
        try:
            keys.check_key(
                workspace=said["workspace"],
                principal=self.principal,
                role=said["role"],
                project=said["project"],
                expires_at=said["expires_at"],
            )
        except DomainError as refusal:
            raise ValidationError(refusal.message) from refusal


@admin.register(ApiKey)
class ApiKeyAdmin(OnRecord, KeptAdmin):
    """A key is made and revoked, never changed. Its text is in the message after making it and nowhere else."""

    form = KeyForm
    list_display = ("__str__", "person", "service", "workspace", "role", "created_at", "expires_at", "revoked_at")
    list_filter = ("role", "workspace", ("revoked_at", admin.EmptyFieldListFilter))
    list_select_related = ("person", "service", "workspace")
    search_fields = ("label",)
    autocomplete_fields = ("workspace", "person")
    written = (
        "workspace",
        "person",
        "service",
        "role",
        "reviewer_role",
        "project",
        "capabilities",
        "expires_at",
        "label",
    )
    noted = ("created_by", "created_at", "revoked_at", "last_used_at")
    actions = ("revoke",)

    def get_fields(self, _request: HttpRequest, obj: ApiKey | None = None) -> tuple[str, ...]:
        return self.written if obj is None else (*self.written, *self.noted)

    def has_change_permission(self, _request: HttpRequest, _obj: ApiKey | None = None) -> bool:
        return False

    def has_view_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        return super().has_view_permission(request, obj) or self.has_revoke_permission(request)

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return super().has_change_permission(request)

    def save_model(self, request: HttpRequest, obj: ApiKey, form: Any, _change: bool) -> None:  # noqa: FBT001
        role = obj.reviewer_role
        key, text = keys.store_key(
            workspace=obj.workspace,
            principal=form.principal,
            role=obj.role,
            project=obj.project,
            capabilities=obj.capabilities,
            expires_at=obj.expires_at,
            label=obj.label,
            reviewer_role=ReviewerRole(role) if role else None,
            created_by=f"user:{request.user.pk}",
        )
        obj.pk = key.pk
        said = _("The key is %(key)s – keep it now, it cannot be shown again.") % {"key": text}
        self.message_user(request, said, messages.WARNING)

    @admin.action(description=gettext_lazy("Revoke the chosen keys"), permissions=["revoke"])
    def revoke(self, request: HttpRequest, chosen: QuerySet[ApiKey]) -> None:
        live = list(chosen.filter(revoked_at__isnull=True))
        for key in live:
            keys.revoke_key(key=key)
        said = ngettext("%(count)d key was revoked.", "%(count)d keys were revoked.", len(live))
        self.message_user(request, said % {"count": len(live)}, messages.SUCCESS)


show_the_rest("workspaces")
