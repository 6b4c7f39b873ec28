"""What is written by command or at the admin site stands in the audit record, by name and never by content."""

import pytest
from django.core.management import call_command

from kindgi_site.workspaces.models import ApiKey, AuditEntry, Membership, Person
from tests.factories import MembershipFactory, PersonFactory

pytestmark = pytest.mark.django_db


def entries():
    return list(AuditEntry.objects.order_by("id").values_list("via", "action", "target_kind", "target_id", "fields"))


def test_commands(project, monkeypatch):
    workspace = project.workspace
    monkeypatch.setenv("PASSWORD", "a good long one")

    call_command("create_person", "pia", workspace=workspace.slug, role="editor", password_env="PASSWORD")
    call_command("mint_key", workspace=workspace.slug, user="pia")
    call_command("set_rate_limit", "60", workspace=workspace.slug)

    pia = Person.objects.get(username="pia")
    assert entries() == [
        ("command", "people.create", "person", str(pia.id), "role"),
        ("command", "tokens.mint", "api-key", str(ApiKey.objects.get().id), "principal role"),
        ("command", "workspaces.change", "workspace", str(workspace.id), "requestsPerMinute"),
    ]


def test_the_admin_site(workspace, client):
    member = MembershipFactory(workspace=workspace)
    client.force_login(PersonFactory(is_staff=True, is_superuser=True))
    address = f"/admin/workspaces/membership/{member.id}"

    client.post(f"{address}/change/", {"person": member.person_id, "workspace": workspace.id, "is_admin": "on"})
    client.post(f"{address}/delete/", {"post": "yes"})

    assert entries() == [
        ("admin", "admin.membership.change", "membership", str(member.id), "Workspace admin"),
        ("admin", "admin.membership.delete", "membership", str(member.id), ""),
    ]
    assert not Membership.objects.filter(id=member.id).exists()
