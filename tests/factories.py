"""One factory per table, without surprises: what a test does not say is the plainest thing that is valid."""

from uuid import uuid4

from factory import LazyFunction, RelatedFactory, SelfAttribute, Sequence, SubFactory, Trait
from factory.django import DjangoModelFactory

from corrections.models import Correction, CorrectorGroup, Run, RunContent, RunCopy, RunTool
from corrections.vocabulary import RunStatus, ScopeKind, Status, SubjectKind, Verdict
from kindgi_site import clock
from kindgi_site.callers import Caller, ReviewerRole, Role
from kindgi_site.exact_json import JsonText
from kindgi_site.workspaces.models import (
    Membership,
    Person,
    Project,
    ProjectRole,
    Reviewer,
    ServiceAccount,
    Workspace,
)
from kindgi_site.workspaces.queries.callers import caller_of_key, caller_of_membership, key_by_digest
from kindgi_site.workspaces.services.keys import digest_of

INPUT = {"message": "Where is my order?"}
OUTPUT = {"content": "It arrives on Monday.", "sources": [{"id": "faq-1"}, {"id": "faq-2"}]}
CALLS = [{"toolId": "find_order", "arguments": {"order": 7}, "result": {"arrives": "Monday"}}]


class WorkspaceFactory(DjangoModelFactory):
    class Meta:
        model = Workspace

    slug = Sequence("workspace-{}".format)
    name = SelfAttribute("slug")


class ProjectFactory(DjangoModelFactory):
    """`default=True` makes the workspace's Default project."""

    class Meta:
        model = Project

    class Params:
        default = Trait(name="Default", slug="default", is_default=True)

    workspace = SubFactory(WorkspaceFactory)
    slug = Sequence("project-{}".format)
    name = SelfAttribute("slug")


class PersonFactory(DjangoModelFactory):
    """Without a password; sign in with `client.force_login`."""

    class Meta:
        model = Person

    username = Sequence("person-{}".format)
    password = "!"


class MembershipFactory(DjangoModelFactory):
    class Meta:
        model = Membership

    person = SubFactory(PersonFactory)
    workspace = SubFactory(WorkspaceFactory)


class ServiceAccountFactory(DjangoModelFactory):
    class Meta:
        model = ServiceAccount

    workspace = SubFactory(WorkspaceFactory)
    name = Sequence("service-{}".format)


class ProjectRoleFactory(DjangoModelFactory):
    """Say `person` or `service`."""

    class Meta:
        model = ProjectRole

    project = SubFactory(ProjectFactory)
    role = Role.EDITOR


class ReviewerFactory(DjangoModelFactory):
    class Meta:
        model = Reviewer

    workspace = SubFactory(WorkspaceFactory)
    person = SubFactory(PersonFactory)
    role = ReviewerRole.STANDARD


class RunContentFactory(DjangoModelFactory):
    class Meta:
        model = RunContent

    input = JsonText.of(INPUT)
    output = JsonText.of(OUTPUT)
    calls = JsonText.of(CALLS)


class RunFactory(DjangoModelFactory):
    """A completed turn of the agent `support`, with content; say `content__output=…` for another."""

    class Meta:
        model = Run
        skip_postgeneration_save = True

    project = SubFactory(ProjectFactory)
    workspace = SelfAttribute("project.workspace")
    run_id = LazyFunction(uuid4)
    subject_kind = SubjectKind.AGENT
    subject_id = "support"
    subject_version = "1.2.0"
    status = RunStatus.COMPLETED
    completed_at = LazyFunction(clock.now)
    content = RelatedFactory(RunContentFactory, "run")


class FlowRunFactory(RunFactory):
    """A completed run of the flow `ranking`."""

    subject_kind = SubjectKind.FLOW
    subject_id = "ranking"
    content = RelatedFactory(
        RunContentFactory, "run", calls=None, context=JsonText.of({"flow": {"calls": CALLS, "steps": []}})
    )


class RunToolFactory(DjangoModelFactory):
    class Meta:
        model = RunTool

    run = SubFactory(RunFactory)
    tool = "find_order"


class RunCopyFactory(DjangoModelFactory):
    """A copy without its run: it outlives it. Say `run_id` for a copy of a run."""

    class Meta:
        model = RunCopy

    project = SubFactory(ProjectFactory)
    workspace = SelfAttribute("project.workspace")
    run_id = LazyFunction(uuid4)
    subject_kind = SubjectKind.AGENT
    subject_id = "support"
    subject_version = "1.2.0"
    input = JsonText.of(INPUT)
    output = JsonText.of(OUTPUT)
    calls = JsonText.of(CALLS)
    called_tools = JsonText.of(["find_order"])


class CorrectorGroupFactory(DjangoModelFactory):
    """Covers the whole workspace, open to everybody."""

    class Meta:
        model = CorrectorGroup

    workspace = SubFactory(WorkspaceFactory)
    scope_kind = ScopeKind.TENANT
    name = Sequence("group-{}".format)
    weight = 1


class CorrectionFactory(DjangoModelFactory):
    """An open, wrong answer of some service, on a copy without its run."""

    class Meta:
        model = Correction

    class Params:
        removed = Trait(status=Status.REMOVED, unregistered_at=LazyFunction(clock.now))

    copy = SubFactory(RunCopyFactory)
    workspace = SelfAttribute("copy.workspace")
    project = SelfAttribute("copy.project")
    run_id = SelfAttribute("copy.run_id")
    subject_kind = SelfAttribute("copy.subject_kind")
    subject_id = SelfAttribute("copy.subject_id")
    subject_version = SelfAttribute("copy.subject_version")
    answer = Verdict.WRONG
    why = "It is late."
    has_right = False
    has_wrong = True
    made_by_kind = "service"
    made_by_id = Sequence("maker-{}".format)
    status = Status.OPEN


def person_with(project: Project, role: Role | None = Role.EDITOR, *, is_admin: bool = False) -> Person:
    """A member of the project's workspace with one role in it, or none."""
    person = MembershipFactory(workspace=project.workspace, is_admin=is_admin).person
    if role is not None:
        ProjectRoleFactory(project=project, person=person, role=role)
    return person


def service_with(project: Project, role: Role | None = Role.EDITOR) -> ServiceAccount:
    service = ServiceAccountFactory(workspace=project.workspace)
    if role is not None:
        ProjectRoleFactory(project=project, service=service, role=role)
    return service


def caller_of(person: Person) -> Caller:
    """The caller a person is at a page of their only workspace."""
    return caller_of_membership(person.memberships.select_related("person", "workspace").get())


def caller_behind(key: str) -> Caller:
    """The caller behind the text of an API key."""
    stored = key_by_digest(digest_of(key))
    assert stored is not None
    return caller_of_key(stored)


def crowd(project: Project, count: int) -> list[Correction]:
    """Live corrections of so many runs, with runs and copies, made in four statements."""
    runs = RunFactory.build_batch(count, project=project)
    copies = [RunCopyFactory.build(project=project, run_id=run.run_id) for run in runs]
    Run.objects.bulk_create(runs)
    RunContent.objects.bulk_create([run.content for run in runs])
    RunCopy.objects.bulk_create(copies)
    return Correction.objects.bulk_create([CorrectionFactory.build(copy=copy) for copy in copies])
