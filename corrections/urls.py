"""The pages of runs and of what people said of them."""

from django.urls import path

from corrections.views.corrections import correction_check, correction_create
from corrections.views.life import (
    correction_detail,
    correction_list,
    correction_remove,
    correction_step,
    correction_steps,
)
from corrections.views.runs import run_detail, run_list, run_part, run_raw

app_name = "corrections"

urlpatterns = [
    path("corrections/", correction_list, name="correction_list"),
    path("corrections/steps/", correction_steps, name="correction_steps"),
    path("corrections/<uuid:correction_id>/", correction_detail, name="correction_detail"),
    path("corrections/<uuid:correction_id>/steps/", correction_step, name="correction_step"),
    path("corrections/<uuid:correction_id>/remove/", correction_remove, name="correction_remove"),
    path("runs/", run_list, name="run_list"),
    path("runs/<uuid:run_id>/", run_detail, name="run_detail"),
    path("runs/<uuid:run_id>/parts/<slug:part>/", run_part, name="run_part"),
    path("runs/<uuid:run_id>/raw/<slug:part>/", run_raw, name="run_raw"),
    path("runs/<uuid:run_id>/corrections/", correction_create, name="correction_create"),
    path("runs/<uuid:run_id>/corrections/check/", correction_check, name="correction_check"),
]
