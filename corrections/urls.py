"""The pages of runs and of what people said of them."""

from django.urls import path

from corrections.views.corrections import correction_check, correction_create
from corrections.views.erasures import erasure_create, erasure_detail, erasure_list, run_erase
from corrections.views.groups import group_change, group_create, group_list, group_retire
from corrections.views.life import (
    correction_detail,
    correction_list,
    correction_remove,
    correction_step,
    correction_steps,
)
from corrections.views.rules import rule_change, rule_create, rule_detail, rule_list, rule_stop
from corrections.views.runs import run_detail, run_list, run_part, run_raw

app_name = "corrections"

urlpatterns = [
    path("corrections/", correction_list, name="correction_list"),
    path("corrections/steps/", correction_steps, name="correction_steps"),
    path("corrections/<uuid:correction_id>/", correction_detail, name="correction_detail"),
    path("corrections/<uuid:correction_id>/steps/", correction_step, name="correction_step"),
    path("corrections/<uuid:correction_id>/remove/", correction_remove, name="correction_remove"),
    path("erasures/", erasure_list, name="erasure_list"),
    path("erasures/new/", erasure_create, name="erasure_create"),
    path("erasures/<uuid:erasure_id>/", erasure_detail, name="erasure_detail"),
    path("groups/", group_list, name="group_list"),
    path("groups/new/", group_create, name="group_create"),
    path("groups/<uuid:group_id>/", group_change, name="group_change"),
    path("groups/<uuid:group_id>/retire/", group_retire, name="group_retire"),
    path("projects/<uuid:project_id>/rules/new/", rule_create, name="rule_create"),
    path("rules/", rule_list, name="rule_list"),
    path("rules/<uuid:rule_id>/", rule_detail, name="rule_detail"),
    path("rules/<uuid:rule_id>/change/", rule_change, name="rule_change"),
    path("rules/<uuid:rule_id>/stop/", rule_stop, name="rule_stop"),
    path("runs/", run_list, name="run_list"),
    path("runs/<uuid:run_id>/", run_detail, name="run_detail"),
    path("runs/<uuid:run_id>/erase/", run_erase, name="run_erase"),
    path("runs/<uuid:run_id>/parts/<slug:part>/", run_part, name="run_part"),
    path("runs/<uuid:run_id>/raw/<slug:part>/", run_raw, name="run_raw"),
    path("runs/<uuid:run_id>/corrections/", correction_create, name="correction_create"),
    path("runs/<uuid:run_id>/corrections/check/", correction_check, name="correction_check"),
]
