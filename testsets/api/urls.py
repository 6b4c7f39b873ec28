"""Addresses of /v1 for test sets."""

from django.urls import path, register_converter
from django.urls.converters import StringConverter

from testsets.api.agent_sets import (
    AgentSetView,
    DraftCaseView,
    FreezeView,
    HandCaseView,
    LiveCasesView,
    PromoteRunView,
    UnregisterCaseView,
)
from testsets.api.live import AgentOwnerView, AgentView, LiveChangesView, LiveView
from testsets.api.sets import (
    BuildView,
    CasesView,
    ReinstateVersionView,
    TestSetsView,
    TestSetView,
    UnregisterVersionView,
    VersionsView,
    VersionView,
)
from testsets.api.test_runs import (
    CancelTestRunView,
    CompleteTestRunView,
    RescoreTestRunView,
    StartTestRunView,
    SubmitOutputsView,
    TestRunCasesView,
    TestRunsView,
    TestRunView,
)

_SET = "test-sets/<str:test_set_id>"
_VERSION = f"{_SET}/versions/<str:version>"


class AgentIdConverter(StringConverter):
    """An agent's id may hold anything; a slash that a client encoded comes decoded. One at the end is a stray one."""

    regex = r"[\s\S]*[^/]"


register_converter(AgentIdConverter, "agent_id")

_AGENT = "projects/<str:project_id>/agents/<agent_id:agent_id>"
_AGENT_SET = f"{_AGENT}/test-set"
_RUN = "test-runs/<str:run_id>"

# An agent's own address comes last: it would take those of its parts too.
urlpatterns = [
    path(f"{_AGENT}/owner", AgentOwnerView.as_view(), name="agent_owner"),
    path(f"{_AGENT}/live", LiveView.as_view(), name="agent_live"),
    path(f"{_AGENT}/live-changes", LiveChangesView.as_view(), name="agent_live_changes"),
    path(f"{_AGENT_SET}/cases", LiveCasesView.as_view(), name="agent_set_cases"),
    path(f"{_AGENT_SET}/cases/from-draft", DraftCaseView.as_view(), name="agent_set_draft"),
    path(f"{_AGENT_SET}/cases/from-run", PromoteRunView.as_view(), name="agent_set_promote"),
    path(f"{_AGENT_SET}/cases/<str:case_id>", HandCaseView.as_view(), name="agent_set_case"),
    path(
        f"{_AGENT_SET}/cases/<str:case_id>/unregister", UnregisterCaseView.as_view(), name="agent_set_case_unregister"
    ),
    path(f"{_AGENT_SET}/freeze", FreezeView.as_view(), name="agent_set_freeze"),
    path(_AGENT_SET, AgentSetView.as_view(), name="agent_set"),
    path(_AGENT, AgentView.as_view(), name="agent"),
    path("test-runs", TestRunsView.as_view(), name="test_runs"),
    path(_RUN, TestRunView.as_view(), name="test_run"),
    path(f"{_RUN}/cases", TestRunCasesView.as_view(), name="test_run_cases"),
    path(f"{_RUN}/outputs", SubmitOutputsView.as_view(), name="test_run_outputs"),
    path(f"{_RUN}/complete", CompleteTestRunView.as_view(), name="test_run_complete"),
    path(f"{_RUN}/cancel", CancelTestRunView.as_view(), name="test_run_cancel"),
    path(f"{_RUN}/rescore", RescoreTestRunView.as_view(), name="test_run_rescore"),
    path(f"{_SET}/runs", StartTestRunView.as_view(), name="test_set_runs"),
    path("test-sets", TestSetsView.as_view(), name="test_sets"),
    path(_SET, TestSetView.as_view(), name="test_set"),
    path(f"{_SET}/versions", VersionsView.as_view(), name="test_set_versions"),
    path(f"{_SET}/versions/from-corrections", BuildView.as_view(), name="test_set_build"),
    path(_VERSION, VersionView.as_view(), name="test_set_version"),
    path(f"{_VERSION}/cases", CasesView.as_view(), name="test_set_cases"),
    path(f"{_VERSION}/unregister", UnregisterVersionView.as_view(), name="test_set_unregister"),
    path(f"{_VERSION}/reinstate", ReinstateVersionView.as_view(), name="test_set_reinstate"),
]
