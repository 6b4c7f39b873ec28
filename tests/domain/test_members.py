"""Who belongs to a workspace is for its administrators to say, whichever way they come."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from kindgi_site.callers import Caller, Role
from kindgi_site.errors import Code, ForbiddenError, NotFoundError
from kindgi_site.workspaces.models import AuditEntry, Person, Project
from kindgi_site.workspaces.services import members
from kindgi_site.workspaces.services.keys import store_key
from tests.factories import ProjectFactory, caller_behind, caller_of, person_with

WRITES: dict[str, Callable[[Caller, UUID, UUID], Any]] = {
    "invite": lambda by, _person, _project: members.invite_person(caller=by, username="nora"),
    "welcome": lambda by, person, _project: members.welcome_token(caller=by, person_id=person),
    "make-admin": lambda by, person, _project: members.set_member_admin(caller=by, person_id=person, is_admin=True),
    "remove": lambda by, person, _project: members.remove_member(caller=by, person_id=person),
    "set-role": lambda by, person, project: members.set_role(
        caller=by, kind="user", principal_id=person, project_id=project, role=Role.ADMIN
    ),
    "make-service": lambda by, _person, _project: members.create_service(caller=by, name="importer"),
}


@pytest.mark.parametrize("who", ["admin-of-project", "member-key-of-admin", "key-for-one-project"])
@pytest.mark.parametrize("write", WRITES)
def test_only_an_administrator_of_the_workspace(project: Project, reviewer: Person, write: str, who: str):
    boss = person_with(project, None, is_admin=True)
    by = {
        "admin-of-project": lambda: caller_of(person_with(project, Role.ADMIN)),
        "member-key-of-admin": lambda: caller_behind(store_key(workspace=project.workspace, principal=boss)[1]),
        "key-for-one-project": lambda: caller_behind(
            store_key(workspace=project.workspace, principal=boss, role="admin", project=project)[1]
        ),
    }[who]()

    with pytest.raises(ForbiddenError) as refused:
        WRITES[write](by, reviewer.id, project.id)

    assert refused.value.code == Code.PERMISSION_DENIED
    assert not AuditEntry.objects.exists()
    assert caller_of(reviewer).project_roles == {project.id: Role.EDITOR}
    assert not Person.objects.filter(username="nora").exists()


@pytest.mark.parametrize("write", ["welcome", "make-admin", "remove", "set-role"])
def test_nobody_of_another_workspace(project: Project, write: str):
    stranger = person_with(ProjectFactory())
    boss = caller_of(person_with(project, None, is_admin=True))

    with pytest.raises(NotFoundError) as refused:
        WRITES[write](boss, stranger.id, project.id)

    assert refused.value.code == Code.PRINCIPAL_NOT_FOUND
    assert not AuditEntry.objects.exists()


def test_no_role_in_a_project_of_another_workspace(project: Project, reviewer: Person):
    boss = caller_of(person_with(project, None, is_admin=True))

    with pytest.raises(NotFoundError) as refused:
        WRITES["set-role"](boss, reviewer.id, ProjectFactory().id)

    assert refused.value.code == Code.PROJECT_NOT_FOUND
    assert not AuditEntry.objects.exists()
