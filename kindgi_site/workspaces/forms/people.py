"""Who is invited, and what they may do."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django import forms
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.utils.translation import gettext_lazy as _

from kindgi_site.callers import ReviewerRole, Role
from kindgi_site.workspaces.models import Project, ProjectRole

ROLES = [
    ("", _("no role")),
    (Role.VIEWER.value, _("viewer: reads")),
    (Role.EDITOR.value, _("editor: reads and corrects")),
    (Role.ADMIN.value, _("admin: decides, and sets it up")),
    (Role.OWNER.value, _("owner: everything")),
]
REVIEWER_ROLES = [
    ("", _("not on the roster")),
    (ReviewerRole.STANDARD.value, _("reviewer")),
    (ReviewerRole.SENIOR.value, _("senior reviewer")),
    (ReviewerRole.ADMIN.value, _("reviewer and admin of reviewers")),
]


class RolesForm(forms.Form):
    """A role in each project of the workspace; the field of a project is `role-<id>`."""

    def __init__(self, *args: Any, projects: Iterable[Project], roles: Iterable[ProjectRole] = (), **more: Any) -> None:
        super().__init__(*args, **more)
        held = {role.project_id: role.role for role in roles}
        self.projects = list(projects)
        for project in self.projects:
            self.fields[_field(project.id)] = forms.ChoiceField(
                required=False, choices=ROLES, initial=held.get(project.id, ""), label=_("Role in %s") % project.name
            )

    def changed_roles(self) -> dict[UUID, Role | None]:
        """The projects whose role is another than before."""
        return {
            project.id: Role(self.cleaned_data[_field(project.id)]) if self.cleaned_data[_field(project.id)] else None
            for project in self.projects
            if _field(project.id) in self.changed_data
        }


def _field(project_id: UUID) -> str:
    return f"role-{project_id}"


class MemberForm(RolesForm):
    """What a member may do: in the workspace, in its projects, on the roster."""

    is_admin = forms.BooleanField(required=False, label=_("Administers the workspace"))
    reviewer_role = forms.ChoiceField(required=False, choices=REVIEWER_ROLES, label=_("On the roster of reviewers"))
    display_name = forms.CharField(required=False, max_length=200, label=_("Name on the roster"))

    def clean(self) -> dict[str, Any]:
        """A name that was there stays in its field when somebody is taken off the roster; a new one needs a place."""
        said = self.cleaned_data
        is_new = said.get("display_name") and "display_name" in self.changed_data
        if is_new and said.get("reviewer_role") == "":
            self.add_error("display_name", _("Choose what they are on the roster of reviewers too."))
        return said


class InviteForm(MemberForm):
    username = forms.CharField(
        max_length=150,
        label=_("Name to sign in with"),
        validators=[UnicodeUsernameValidator()],
        widget=forms.TextInput(attrs={"autocapitalize": "none", "spellcheck": "false"}),
    )

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.order_fields(["username"])


class ServiceForm(RolesForm):
    name = forms.CharField(max_length=200, label=_("Name"))

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.order_fields(["name"])
