"""Addresses of /v1 for runs and corrections."""

from django.urls import path

from corrections.api.erasure import ErasuresView, ErasureView, RunErasureView
from corrections.api.groups import GroupsView, GroupView, UnregisterGroupView
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

urlpatterns = [
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
