"""Addresses of /v1 for runs and corrections."""

from django.urls import path

from corrections.api.views import CorrectionsView, CorrectionView, RunsView, RunView

urlpatterns = [
    path("runs", RunsView.as_view(), name="runs"),
    path("runs/<str:run_id>", RunView.as_view(), name="run"),
    path("corrections", CorrectionsView.as_view(), name="corrections"),
    path("corrections/<str:correction_id>", CorrectionView.as_view(), name="correction"),
]
