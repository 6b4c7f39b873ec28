"""GET /v1/projects/{projectId}/correcting-rules/preview (contract 18.2)."""

from uuid import UUID, uuid4

import pytest

from corrections.models import Run
from corrections.rules.queue import is_sampled
from corrections.vocabulary import RunStatus, SubjectKind
from kindgi_site import clock
from tests.api.expect import assert_refused, nothing_stored
from tests.queueing import COMPLETED_AT, finish_run, write_rule


@pytest.fixture
def path(project):
    return f"/v1/projects/{project.id}/correcting-rules/preview"


@pytest.fixture
def runs(caller, project):
    """Eight runs that count, of which six can be taken without more said, and two that are not looked at."""
    unfinished = {"output": None, "completed_at": None, "status": RunStatus.RUNNING}
    finish_run(caller, project)
    finish_run(caller, project, subject_version="2.0.0", via="live")
    finish_run(caller, project, subject_id="other", via="latest")
    finish_run(caller, project, subject_id="other", via="explicit")
    finish_run(caller, project, subject_kind=SubjectKind.FLOW, subject_id="ranking")
    finish_run(caller, project, subject_kind=SubjectKind.FLOW, subject_id="sorting", subject_version="3.0.0")
    finish_run(caller, project, dry_run=True)
    finish_run(caller, project, **unfinished)
    finish_run(caller, project, parent_run_id="parent")
    finish_run(caller, project, replay_of="earlier")


@pytest.mark.parametrize(
    ("query", "matched"),
    [
        ("", 6),
        ("?agentIds=&flowIds=&versions=&status=&includeDryRuns=&sample=&last=&ruleId=", 6),
        ("?agentIds=support", 2),
        ("?agentIds=support,other", 4),
        ("?agentIds=support&agentIds=other", 4),
        ("?agentIds=nobody", 0),
        ("?flowIds=ranking,sorting", 2),
        ("?versions=1.2.0", 4),
        ("?versions=live", 2),
        ("?versions=live,3.0.0", 3),
        ("?agentIds=other&versions=live", 1),
        ("?status=completed", 6),
        ("?includeDryRuns=true", 7),
        ("?includeDryRuns=false", 6),
        ("?sample=0.5", 3),
        ("?sample=0.25", 2),
        ("?sample=1e-3", 0),
        ("?sample=1.0", 6),
        ("?unknown=1", 6),
    ],
)
def test_what_would_have_been_queued(api_client, runs, path, query, matched):
    with nothing_stored():
        response = api_client.get(path + query)

    assert (response.status_code, response.json()) == (200, {"considered": 8, "matched": matched})


@pytest.mark.parametrize(("last", "considered", "matched"), [(1, 1, 0), (2, 2, 0), (3, 3, 1), (500, 8, 6)])
def test_only_the_newest_are_looked_at(api_client, runs, path, last, considered, matched):
    assert api_client.get(f"{path}?last={last}").json() == {"considered": considered, "matched": matched}


def test_nothing_to_look_at(api_client, path):
    assert api_client.get(path).json() == {"considered": 0, "matched": 0}


def test_with_a_rule_s_id_it_is_sampled_as_the_rule_does_and_without_its_cap(api_client, caller, project, path):
    rule = write_rule(caller, project, sample=0.2, max_open=1)
    ids = [UUID(int=number) for number in range(30)]
    for run_id in ids:
        finish_run(caller, project, run_id=run_id)

    def taken(sample):
        return sum(is_sampled(str(rule.rule_id), str(run_id), sample) for run_id in ids)

    shares = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    for query, sample in (("", 0.2), *((f"&sample={share}", share) for share in shares)):
        response = api_client.get(f"{path}?ruleId={str(rule.rule_id).upper()}{query}")
        assert response.json() == {"considered": 30, "matched": taken(sample)}


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("agentIds=a&flowIds=b", "flowIds"),
        ("agentIds=" + ",".join("a" * 51), "agentIds"),
        ("versions=" + "a" * 201, "versions"),
        ("agentIds=%00", "agentIds"),
        ("flowIds=%20", "flowIds"),
        ("status=failed", "status"),
        ("status=completed,running", "status"),
        ("includeDryRuns=yes", "includeDryRuns"),
        ("includeDryRuns=True", "includeDryRuns"),
        ("sample=0", "sample"),
        ("sample=1.1", "sample"),
        ("sample=-0.5", "sample"),
        ("sample=nan", "sample"),
        ("sample=inf", "sample"),
        ("sample=0_1", "sample"),
        ("sample=x", "sample"),
        ("last=0", "last"),
        ("last=501", "last"),
        ("last=1.5", "last"),
        ("last=x", "last"),
        ("last=-1", "last"),
        ("last=%D9%A1", "last"),
    ],
)
def test_parameters_that_mean_nothing_are_refused(api_client, path, query, field):
    assert_refused(api_client.get(f"{path}?{query}"), 400, "bad-input", field=field)


def test_a_rule_that_is_not_there_is_refused(api_client, path):
    for rule_id in (str(uuid4()), "x"):
        response = api_client.get(f"{path}?ruleId={rule_id}")
        assert_refused(response, 404, "correcting-rule-not-found", ruleId=rule_id)


@pytest.mark.parametrize("count", [1, 300])
def test_it_costs_one_statement_however_many_runs_there_are(
    api_client, project, path, count, django_assert_num_queries
):
    api_client.get(path)
    Run.objects.bulk_create(
        Run(
            workspace_id=project.workspace_id,
            project=project,
            run_id=uuid4(),
            subject_kind=SubjectKind.AGENT,
            subject_id="support",
            subject_version="1.2.0",
            status=RunStatus.COMPLETED,
            completed_at=COMPLETED_AT,
            created_at=clock.now(),
        )
        for _number in range(count)
    )

    with django_assert_num_queries(4):
        body = api_client.get(f"{path}?last=200").json()

    assert body == {"considered": min(count, 200), "matched": min(count, 200)}
