"""`manage.py build_test_set`."""

import io
import sys

import pytest
from django.core.management import CommandError

from corrections.vocabulary import SubjectKind
from tests.api.expect import nothing_stored
from tests.factories import CorrectionFactory, ProjectFactory, RunCopyFactory, crowd
from testsets.models import TestCase, TestSetVersion


@pytest.fixture
def build(manage, project):
    """Builds in the project's workspace; what is printed is in `manage.last`."""

    def run(name, *words):
        return manage("build_test_set", name, "--workspace", project.workspace.slug, *words)

    return run


def refused(build, *words):
    with nothing_stored(), pytest.raises(CommandError) as problem:
        build(*words)
    return str(problem.value)


def test_builds_a_version_and_says_so(build, project):
    crowd(project, 3)
    CorrectionFactory(copy=RunCopyFactory(project=ProjectFactory(workspace=project.workspace)))

    said = build("all@1.0.0", "--agent", "support", "--description", "All of it.")

    assert (said.out, said.err) == ("Built all 1.0.0 with 3 cases.\n", "")
    version = TestSetVersion.objects.get()
    assert (version.test_set.name, version.version, version.description) == ("all", "1.0.0", "All of it.")
    assert version.test_set.project == project
    assert version.spec.value["query"]["agentId"] == "support"


def test_of_a_flow_in_a_named_project(build, project):
    other = ProjectFactory(workspace=project.workspace)
    copy = RunCopyFactory(project=other, subject_kind=SubjectKind.FLOW, subject_id="ranking")
    for _one in range(2):
        CorrectionFactory(copy=copy)

    said = build("all@1.0.0", "--flow", "ranking", "--project", other.slug, "--min-corrections", "2")

    assert said.out == "Built all 1.0.0 with 1 cases.\n"
    assert TestCase.objects.get().run_id == copy.run_id


def test_says_when_there_were_more(build, project):
    crowd(project, 1001)

    assert build("all@1.0.0", "--agent", "support").out == "Built all 1.0.0 with 1000 cases. There were more.\n"


@pytest.mark.parametrize("is_terminal", [True, False])
def test_progress_is_shown_at_a_terminal_only(build, project, monkeypatch, is_terminal):
    class Stream(io.StringIO):
        def isatty(self):
            return is_terminal

    stream = Stream()
    monkeypatch.setattr(sys, "stderr", stream)
    crowd(project, 2)

    build("all@1.0.0", "--agent", "support")

    assert ("2case" in stream.getvalue()) is is_terminal


def test_refusals(build, project):
    assert refused(build, "all", "--agent", "support") == "Name the version too: SET@VERSION."
    assert refused(build, "all@1.0", "--agent", "support").startswith("version is three numbers")
    assert refused(build, "a b@1.0.0", "--agent", "support").startswith("A test set's id has")
    assert "one of the arguments --agent --flow is required" in refused(build, "all@1.0.0")
    assert "not allowed with" in refused(build, "all@1.0.0", "--agent", "a", "--flow", "f")
    for number in ("0", "-1", "x"):
        said = refused(build, "all@1.0.0", "--agent", "a", "--min-corrections", number)
        assert said.endswith(f"--min-corrections: {number!r} is not a whole number of at least 1")
    assert "nowhere" in refused(build, "all@1.0.0", "--agent", "a", "--project", "nowhere")


@pytest.mark.parametrize("subject", ["--agent", "--flow"])
@pytest.mark.parametrize("name", ["", " ", "x" * 201])
def test_refuses_a_name_that_no_agent_or_flow_has(build, project, subject, name):
    assert refused(build, "all@1.0.0", subject, name).endswith(f"{subject}: a name has 1 to 200 characters")


def test_the_same_version_again(build, project):
    crowd(project, 1)
    build("all@1.0.0", "--agent", "support")

    assert refused(build, "all@1.0.0", "--agent", "support") == "This version exists already."
