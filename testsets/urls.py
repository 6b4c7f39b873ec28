"""The pages of test sets, of agents' own sets and of test runs."""

from django.urls import path, register_converter
from django.urls.converters import StringConverter

from testsets.views.agents import agent_detail, agent_freeze, agent_list, case_draft, case_promote, case_remove
from testsets.views.building import test_set_build
from testsets.views.downloads import cases_download, corrections_download, test_run_cases_download
from testsets.views.live import live_change, live_change_detail
from testsets.views.owners import agent_owner
from testsets.views.sets import (
    case_detail,
    case_raw,
    test_set_detail,
    test_set_list,
    version_detail,
    version_reinstate,
    version_unregister,
)
from testsets.views.test_run_steps import (
    test_run_cancel,
    test_run_complete,
    test_run_rescore,
    test_run_start,
    test_run_submit,
)
from testsets.views.test_runs import test_run_detail, test_run_list

app_name = "testsets"


class FormConverter(StringConverter):
    """What a download is written as."""

    regex = "csv|jsonl"


class AgentConverter(StringConverter):
    """An agent's id may hold anything: slashes and ends of lines too."""

    regex = r"[\s\S]+"


register_converter(FormConverter, "download")
register_converter(AgentConverter, "agent")

AGENT = "agents/<uuid:project_id>/<agent:agent_id>/"
VERSION = "test-sets/<str:set_name>/<str:version>/"

urlpatterns = [
    path("test-sets/", test_set_list, name="test_set_list"),
    path("test-sets/build/", test_set_build, name="test_set_build"),
    path("test-sets/<str:set_name>/", test_set_detail, name="test_set_detail"),
    path(VERSION, version_detail, name="version_detail"),
    path(f"{VERSION}unregister/", version_unregister, name="version_unregister"),
    path(f"{VERSION}reinstate/", version_reinstate, name="version_reinstate"),
    path(f"{VERSION}grade/", test_run_start, name="test_run_start"),
    path(f"{VERSION}cases.<download:form>", cases_download, name="cases_download"),
    path(f"{VERSION}cases/<str:case_id>/", case_detail, name="case_detail"),
    path(f"{VERSION}cases/<str:case_id>/raw/", case_raw, name="case_raw"),
    path("test-runs/", test_run_list, name="test_run_list"),
    path("test-runs/<uuid:run_id>/", test_run_detail, name="test_run_detail"),
    path("test-runs/<uuid:run_id>/cases.jsonl", test_run_cases_download, name="test_run_cases_download"),
    path("test-runs/<uuid:run_id>/outputs/", test_run_submit, name="test_run_submit"),
    path("test-runs/<uuid:run_id>/complete/", test_run_complete, name="test_run_complete"),
    path("test-runs/<uuid:run_id>/cancel/", test_run_cancel, name="test_run_cancel"),
    path("test-runs/<uuid:run_id>/rescore/", test_run_rescore, name="test_run_rescore"),
    path("agents/", agent_list, name="agent_list"),
    path(f"{AGENT}freeze/", agent_freeze, name="agent_freeze"),
    path(f"{AGENT}owner/", agent_owner, name="agent_owner"),
    path(f"{AGENT}live/", live_change, name="live_change"),
    path(f"{AGENT}changes/<uuid:change_id>/", live_change_detail, name="live_change_detail"),
    path(f"{AGENT}cases/from-run/", case_promote, name="case_promote"),
    path(f"{AGENT}cases/draft/", case_draft, name="case_draft"),
    path(f"{AGENT}cases/<str:case_id>/remove/", case_remove, name="case_remove"),
    path(f"{AGENT}corrections.<download:form>", corrections_download, name="corrections_download"),
    path(AGENT, agent_detail, name="agent_detail"),
]
