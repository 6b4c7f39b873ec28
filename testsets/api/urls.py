"""Addresses of /v1 for test sets."""

from django.urls import path

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

_SET = "test-sets/<str:test_set_id>"
_VERSION = f"{_SET}/versions/<str:version>"

urlpatterns = [
    path("test-sets", TestSetsView.as_view(), name="test_sets"),
    path(_SET, TestSetView.as_view(), name="test_set"),
    path(f"{_SET}/versions", VersionsView.as_view(), name="test_set_versions"),
    path(f"{_SET}/versions/from-corrections", BuildView.as_view(), name="test_set_build"),
    path(_VERSION, VersionView.as_view(), name="test_set_version"),
    path(f"{_VERSION}/cases", CasesView.as_view(), name="test_set_cases"),
    path(f"{_VERSION}/unregister", UnregisterVersionView.as_view(), name="test_set_unregister"),
    path(f"{_VERSION}/reinstate", ReinstateVersionView.as_view(), name="test_set_reinstate"),
]
