"""Who is asking and what they may do: contract 2.2, 2.3, section 10, decisions 12 and 13."""

from uuid import UUID

import pytest

from kindgi_site import clock
from kindgi_site.callers import Action, Caller, ReviewerRole, Role
from kindgi_site.errors import Code, ForbiddenError
from kindgi_site.workspaces.models import ApiKey, Reviewer
from kindgi_site.workspaces.permissions import check_project_action, check_workspace_admin
from kindgi_site.workspaces.queries.callers import caller_of_key, key_by_digest
from kindgi_site.workspaces.services.keys import digest_of, store_key
from tests.factories import (
    MembershipFactory,
    ProjectFactory,
    ProjectRoleFactory,
    ReviewerFactory,
    ServiceAccountFactory,
    caller_behind,
    caller_of,
    person_with,
    service_with,
)

WORKSPACE, HERE, THERE = UUID(int=1), UUID(int=2), UUID(int=3)
READ, WRITE, EXECUTE, ADMIN, DELETE = Action
ROLES = {
    None: set(),
    Role.VIEWER: {READ},
    Role.EDITOR: {READ, WRITE, EXECUTE},
    Role.ADMIN: {READ, WRITE, EXECUTE, ADMIN},
    Role.OWNER: {READ, WRITE, EXECUTE, ADMIN, DELETE},
}


def made(**fields: object) -> Caller:
    return Caller(**{"workspace_id": WORKSPACE, "kind": "user", "id": "somebody"} | fields)


def actions(caller: Caller, project_id: UUID) -> set[Action]:
    return {action for action in Action if caller.may(action, project_id)}


@pytest.mark.parametrize(("role", "may"), ROLES.items(), ids=map(str, ROLES))
@pytest.mark.parametrize("key", [{}, {"key_is_member": True}, {"key_is_member": False}])
def test_a_role_gives_its_actions_in_its_project_and_none_elsewhere(role, may, key):
    caller = made(project_roles={HERE: role} if role else {}, **key)

    assert actions(caller, HERE) == may
    assert actions(caller, THERE) == set()
    assert not caller.may_administer_workspace


@pytest.mark.parametrize("key_is_member", [True, False])
def test_a_workspace_admin_has_admin_on_every_project_whatever_the_key(key_is_member):
    caller = made(is_workspace_admin=True, key_is_member=key_is_member)

    assert actions(caller, HERE) == actions(caller, THERE) == ROLES[Role.ADMIN]
    assert caller.readable_project_ids is None


def test_a_workspace_admin_who_owns_a_project_may_also_delete_it():
    caller = made(is_workspace_admin=True, project_roles={HERE: Role.OWNER, THERE: Role.VIEWER})

    assert actions(caller, HERE) == ROLES[Role.OWNER]
    assert actions(caller, THERE) == ROLES[Role.ADMIN]


@pytest.mark.parametrize(
    "principal", [{"project_roles": {HERE: Role.OWNER, THERE: Role.OWNER}}, {"is_workspace_admin": True}]
)
def test_a_key_limited_to_a_project_acts_in_no_other(principal):
    caller = made(key_project_id=HERE, **principal)

    assert actions(caller, HERE) == actions(made(**principal), HERE)
    assert actions(caller, THERE) == set()
    assert caller.readable_project_ids == {HERE}


def test_a_key_limited_to_a_project_gives_no_role_there():
    assert actions(made(key_project_id=HERE, project_roles={THERE: Role.OWNER}), HERE) == set()
    assert made(key_project_id=HERE).readable_project_ids == frozenset()


@pytest.mark.parametrize(
    ("fields", "may"),
    [
        ({"is_workspace_admin": True}, True),
        ({"is_workspace_admin": True, "key_is_member": True}, False),
        ({"is_workspace_admin": True, "key_project_id": HERE}, False),
        ({"is_workspace_admin": False, "project_roles": {HERE: Role.OWNER}}, False),
    ],
)
def test_who_administers_the_workspace(fields, may):
    caller = made(**fields)

    assert caller.may_administer_workspace is may
    if may:
        check_workspace_admin(caller)
    else:
        with pytest.raises(ForbiddenError) as caught:
            check_workspace_admin(caller)
        assert caught.value.code == Code.PERMISSION_DENIED
        assert caught.value.details == {
            "action": "admin",
            "resource": {"type": "workspace", "id": str(WORKSPACE)},
            "reason": "The caller is not an administrator of the workspace.",
        }


def test_a_denial_names_action_project_and_reason():
    caller = made(project_roles={HERE: Role.VIEWER})

    check_project_action(caller, READ, HERE)
    with pytest.raises(ForbiddenError) as caught:
        check_project_action(caller, WRITE, HERE)

    assert caught.value.code == Code.PERMISSION_DENIED
    assert caught.value.details == {
        "action": "write",
        "resource": {"type": "project", "id": str(HERE)},
        "reason": "You need the write permission on this project.",
    }


def test_a_person_at_a_page_has_their_roles_in_this_workspace_only(project):
    person = person_with(project, Role.VIEWER)
    ProjectRoleFactory(person=person, project=ProjectFactory(), role=Role.OWNER)
    ReviewerFactory(person=person, workspace=project.workspace, role=ReviewerRole.SENIOR)

    assert caller_of(person) == Caller(
        workspace_id=project.workspace_id,
        kind="user",
        id=str(person.id),
        name=person.username,
        project_roles={project.id: Role.VIEWER},
        reviewer_role=ReviewerRole.SENIOR,
    )


def test_a_key_speaks_for_its_person_within_the_keys_limits(project):
    person = MembershipFactory(workspace=project.workspace, is_admin=True).person
    ProjectRoleFactory(person=person, project=project, role=Role.OWNER)
    ReviewerFactory(person=person, workspace=project.workspace)
    expires_at = clock.now()

    key, text = store_key(
        workspace=project.workspace,
        principal=person,
        project=project,
        capabilities=["corrections:fix-job"],
        expires_at=expires_at,
    )

    assert caller_behind(text) == Caller(
        workspace_id=project.workspace_id,
        kind="user",
        id=str(person.id),
        name=person.username,
        is_workspace_admin=True,
        project_roles={project.id: Role.OWNER},
        reviewer_role=ReviewerRole.STANDARD,
        via="key",
        key_id=key.id,
        key_is_member=True,
        key_project_id=project.id,
        key_expires_at=expires_at,
        capabilities=frozenset({"corrections:fix-job"}),
    )


@pytest.mark.parametrize("is_admin", [True, False])
@pytest.mark.parametrize("role", ["admin", "member"])
def test_a_key_speaks_for_its_service(project, is_admin, role):
    service = ServiceAccountFactory(workspace=project.workspace, is_workspace_admin=is_admin)
    ProjectRoleFactory(service=service, project=project, role=Role.EDITOR)

    key, text = store_key(workspace=project.workspace, principal=service, role=role)

    assert caller_behind(text) == Caller(
        workspace_id=project.workspace_id,
        kind="service",
        id=str(service.id),
        name=service.name,
        is_workspace_admin=is_admin,
        project_roles={project.id: Role.EDITOR},
        via="key",
        key_id=key.id,
        key_is_member=role == "member",
    )


def test_a_service_has_only_what_it_was_granted(project):
    service = service_with(project, role=None)

    caller = caller_behind(store_key(workspace=project.workspace, principal=service, role="admin")[1])

    assert (actions(caller, project.id), caller.may_administer_workspace) == (set(), False)


def test_a_key_of_nobody_speaks_under_its_own_id(workspace):
    key = ApiKey.objects.create(workspace=workspace, digest=digest_of("text"), role="member", label="old key")

    caller = caller_behind("text")

    assert (caller.kind, caller.id, caller.name) == ("service", str(key.id), "old key")
    assert (caller.project_roles, caller.is_workspace_admin) == ({}, False)


@pytest.mark.parametrize(
    ("roster", "of_key", "role"),
    [
        (None, None, None),
        ("senior", None, "senior"),
        (None, "standard", "standard"),
        ("senior", "standard", "standard"),
        ("standard", "admin", "admin"),
    ],
)
def test_the_reviewer_role_is_the_keys_else_the_rosters(project, roster, of_key, role):
    person = person_with(project)
    if roster:
        ReviewerFactory(person=person, workspace=project.workspace, role=roster)

    _key, text = store_key(workspace=project.workspace, principal=person, reviewer_role=of_key)

    assert caller_behind(text).reviewer_role == role


def test_a_deactivated_reviewer_or_one_of_another_workspace_has_no_role(project):
    person = person_with(project)
    ReviewerFactory(person=person, workspace=project.workspace, deactivated_at=clock.now())
    ReviewerFactory(person=person)
    text = store_key(workspace=project.workspace, principal=person)[1]

    assert caller_of(person).reviewer_role is None
    assert caller_behind(text).reviewer_role is None

    Reviewer.objects.update(deactivated_at=None)
    assert caller_of(person).reviewer_role == caller_behind(text).reviewer_role == ReviewerRole.STANDARD


def test_admin_of_another_workspace_is_nobody_here(project):
    person = person_with(project)
    MembershipFactory(person=person, is_admin=True)

    assert caller_behind(store_key(workspace=project.workspace, principal=person)[1]).is_workspace_admin is False


def test_only_a_hash_of_a_key_is_stored(workspace):
    service = ServiceAccountFactory(workspace=workspace)

    (_key, one), (_other_key, other) = (store_key(workspace=workspace, principal=service) for _ in range(2))

    assert one != other
    stored = str(list(ApiKey.objects.values()))
    assert one not in stored
    assert digest_of(one) in stored
    assert key_by_digest(one) is None
    assert key_by_digest(digest_of(f"{one} ")) is None


def test_a_caller_costs_two_statements(project, django_assert_num_queries):
    person = person_with(project)
    for _ in range(3):
        ProjectRoleFactory(person=person, project=ProjectFactory(workspace=project.workspace))
    text = store_key(workspace=project.workspace, principal=person)[1]

    with django_assert_num_queries(2):
        caller = caller_of_key(key_by_digest(digest_of(text)))

    assert len(caller.project_roles) == 4


def test_the_principal_is_told_apart_by_kind():
    assert made(kind="user", id="x").principal == "user:x"
    assert made(kind="service", id="x").principal == "service_account:x"
