"""Addresses of /v1 for runs and corrections."""

from django.urls import path

from corrections.api.correcting_rules import (
    CorrectingRulePreviewView,
    CorrectingRuleResultsView,
    CorrectingRulesView,
    CorrectingRuleVersionsView,
    CorrectingRuleView,
    StopCorrectingRuleView,
)
from corrections.api.erasure import ErasuresView, ErasureView, RunErasureView
from corrections.api.groups import GroupsView, GroupView, UnregisterGroupView
from corrections.api.queue import CorrectingQueueView, DismissItemView, ReopenItemView
from corrections.api.views import (
    CorrectionHistoryView,
    CorrectionLinkView,
    CorrectionSortView,
    CorrectionStatusView,
    CorrectionsView,
    CorrectionUnlinkView,
    CorrectionView,
    RunsView,
    RunView,
    UnregisterCorrectionView,
)

_RULES = "projects/<str:project_id>/correcting-rules"
_QUEUE = "projects/<str:project_id>/correcting-queue"

urlpatterns = [
    path(_RULES, CorrectingRulesView.as_view(), name="correcting_rules"),
    path(f"{_RULES}/preview", CorrectingRulePreviewView.as_view(), name="correcting_rule_preview"),
    path(f"{_RULES}/<str:rule_id>", CorrectingRuleView.as_view(), name="correcting_rule"),
    path(f"{_RULES}/<str:rule_id>/unregister", StopCorrectingRuleView.as_view(), name="correcting_rule_unregister"),
    path(f"{_RULES}/<str:rule_id>/versions", CorrectingRuleVersionsView.as_view(), name="correcting_rule_versions"),
    path(f"{_RULES}/<str:rule_id>/results", CorrectingRuleResultsView.as_view(), name="correcting_rule_results"),
    path(_QUEUE, CorrectingQueueView.as_view(), name="correcting_queue"),
    path(f"{_QUEUE}/<str:run_id>/dismiss", DismissItemView.as_view(), name="correcting_item_dismiss"),
    path(f"{_QUEUE}/<str:run_id>/reopen", ReopenItemView.as_view(), name="correcting_item_reopen"),
    path("corrector-groups", GroupsView.as_view(), name="groups"),
    path("corrector-groups/<str:group_id>", GroupView.as_view(), name="group"),
    path("corrector-groups/<str:group_id>/unregister", UnregisterGroupView.as_view(), name="group_unregister"),
    path("memory/erasures", ErasuresView.as_view(), name="erasures"),
    path("memory/erasures/<str:erasure_id>", ErasureView.as_view(), name="erasure"),
    path("runs/<str:run_id>/erase", RunErasureView.as_view(), name="run_erase"),
    path("runs", RunsView.as_view(), name="runs"),
    path("runs/<str:run_id>", RunView.as_view(), name="run"),
    path("corrections", CorrectionsView.as_view(), name="corrections"),
    path("corrections/<str:correction_id>", CorrectionView.as_view(), name="correction"),
    path("corrections/<str:correction_id>/history", CorrectionHistoryView.as_view(), name="correction_history"),
    path(
        "corrections/<str:correction_id>/unregister", UnregisterCorrectionView.as_view(), name="correction_unregister"
    ),
    path("corrections/<str:correction_id>/status", CorrectionStatusView.as_view(), name="correction_status"),
    path("corrections/<str:correction_id>/sort", CorrectionSortView.as_view(), name="correction_sort"),
    path("corrections/<str:correction_id>/link", CorrectionLinkView.as_view(), name="correction_link"),
    path("corrections/<str:correction_id>/unlink", CorrectionUnlinkView.as_view(), name="correction_unlink"),
]
