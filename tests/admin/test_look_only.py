"""Every table opens in the admin site, and only people, keys and groups can be written there."""

from uuid import uuid4

import pytest
from django.apps import apps
from django.contrib import admin
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from corrections.models import AgentOwner, CorrectionEvent, Erasure, Run, RunContent, RunTool
from kindgi_site import clock
from kindgi_site.look_only import COUNTED_AT_MOST, SHOWN_AT_MOST, BoundedPaginator, LookOnlyAdmin
from kindgi_site.stored_json import JsonText
from kindgi_site.workspaces.models import (
    ApiKey,
    AuditSeal,
    IdempotencyRecord,
    Membership,
    Person,
    RateWindow,
    Workspace,
)
from kindgi_site.workspaces.services.audit import record_write
from kindgi_site.workspaces.services.keys import store_key
from tests.factories import (
    CorrectionFactory,
    CorrectorGroupFactory,
    PersonFactory,
    RunFactory,
    RunToolFactory,
    caller_of,
    service_with,
)
from testsets.models import TestCase as FrozenCase
from testsets.models import TestSet as NamedSet
from testsets.models import TestSetVersion as SetVersion

LOOKED_AT = sorted(
    (model for model, page in admin.site._registry.items() if isinstance(page, LookOnlyAdmin)),
    key=lambda model: model._meta.label,
)
REGISTERED = sorted(admin.site._registry, key=lambda model: model._meta.label)


def address(model, page, *args):
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=args)


@pytest.fixture
def everything(project, reviewer):
    """A row in each table that has a page of its own."""
    workspace = project.workspace
    run = RunFactory(project=project)
    RunToolFactory(run=run)
    correction = CorrectionFactory(
        copy__project=project, copy__run_id=run.run_id, group=CorrectorGroupFactory(workspace=workspace)
    )
    CorrectionEvent.objects.create(correction=correction, action="note")
    Erasure.objects.create(workspace=workspace, selector_kind="run", status="completed")
    AgentOwner.objects.create(project=project, agent_id="support", owner_kind="user", owner_id="someone")
    record_write(caller_of(reviewer), "runs.put", "run", run.run_id)
    AuditSeal.objects.create(entries=1, digest="d" * 64)
    store_key(workspace=workspace, principal=service_with(project))
    RateWindow.objects.create(workspace=workspace, opened_at=clock.now(), requests=3)
    IdempotencyRecord.objects.create(
        scope="s" * 64, workspace=workspace, holder=uuid4(), body=b"kgi_secret", expires_at=clock.now()
    )
    named = NamedSet.objects.create(workspace=workspace, project=project, name="smoke")
    version = SetVersion.objects.create(
        test_set=named, version="1.0.0", major=1, minor=0, patch=0, kind="corrections", spec=JsonText("{}")
    )
    FrozenCase.objects.create(version=version, position=0, case_id="c1", wire=JsonText('{"caseId": "c1"}'))


def test_the_tables_that_are_written():
    assert {model._meta.label for model in set(REGISTERED) - set(LOOKED_AT)} == {
        "corrections.CorrectorGroup",
        "workspaces.ApiKey",
        "workspaces.Membership",
        "workspaces.Person",
        "workspaces.ProjectRole",
        "workspaces.Reviewer",
        "workspaces.ServiceAccount",
        "workspaces.Workspace",
    }


def test_every_table_is_shown():
    ours = {
        model for app in ("corrections", "testsets", "workspaces") for model in apps.get_app_config(app).get_models()
    }

    assert ours - set(REGISTERED) == {RunContent, RunTool}  # they are on the page of their run


@pytest.mark.parametrize("model", REGISTERED, ids=lambda model: model._meta.label)
def test_list_and_row_open(everything, admin_client, model):
    assert admin_client.get(address(model, "changelist")).status_code == 200
    for row in model.objects.all()[:1]:
        assert admin_client.get(address(model, "change", row.pk)).status_code == 200


@pytest.mark.parametrize("model", LOOKED_AT, ids=lambda model: model._meta.label)
def test_nothing_is_written(everything, admin_client, model):
    before = list(model.objects.values())

    answers = [admin_client.get(address(model, "add")), admin_client.post(address(model, "add"), {})]
    for row in model.objects.all()[:1]:
        answers.append(admin_client.post(address(model, "change", row.pk), {"name": "x", "_save": "Save"}))
        answers.append(admin_client.post(address(model, "delete", row.pk), {"post": "yes"}))

    assert {answer.status_code for answer in answers} == {403}
    assert list(model.objects.values()) == before


@pytest.mark.parametrize("model", LOOKED_AT, ids=lambda model: model._meta.label)
def test_no_action_deletes_from_the_list(everything, admin_client, model):
    before = set(model.objects.values_list("pk", flat=True))
    chosen = {"action": "delete_selected", "_selected_action": list(map(str, before)), "post": "yes"}

    admin_client.post(address(model, "changelist"), chosen)

    assert set(model.objects.values_list("pk", flat=True)) == before


@pytest.mark.parametrize("model", [Workspace, Person, ApiKey, Membership], ids=lambda model: model._meta.label)
def test_rows_that_others_point_at_are_not_deleted(everything, admin_client, model):
    kept = model is not Membership
    row = model.objects.order_by("-pk").first()

    answer = admin_client.post(address(model, "delete", row.pk), {"post": "yes"})

    assert (answer.status_code == 403) == kept
    assert model.objects.filter(pk=row.pk).exists() == kept


def test_people_who_are_not_staff_are_sent_to_sign_in(reviewer_client):
    answer = reviewer_client.get(reverse("admin:index"))

    assert answer.status_code == 302
    assert answer["Location"].startswith(reverse("admin:login"))


def test_staff_see_only_what_they_were_allowed(everything, client):
    client.force_login(PersonFactory(is_staff=True))

    assert client.get(reverse("admin:index")).status_code == 200
    assert {client.get(address(model, "changelist")).status_code for model in REGISTERED} == {403}


def test_stored_words_are_text_and_a_very_long_one_is_cut(admin_client, project):
    run = RunFactory(project=project)
    long = '"' + "y" * (SHOWN_AT_MOST + 5) + '"'
    RunContent.objects.update(input=JsonText('{"say": "<script>alert(1)</script>", "n": 1.0}'), output=JsonText(long))

    page = admin_client.get(address(Run, "change", run.pk)).content.decode()

    assert "<pre>{&quot;say&quot;: &quot;&lt;script&gt;alert(1)&lt;/script&gt;&quot;, &quot;n&quot;: 1.0}</pre>" in page
    assert "… and 7 more characters" in page
    assert "y" * (SHOWN_AT_MOST + 1) not in page


def test_the_stored_answers_of_idempotent_requests_are_not_shown(everything, admin_client):
    page = admin_client.get(address(IdempotencyRecord, "change", "s" * 64)).content.decode()

    assert "kgi_secret" not in page
    assert "Scope" in page


def test_a_key_s_digest_is_not_shown(everything, admin_client):
    key = ApiKey.objects.get()

    for page in (address(ApiKey, "changelist"), address(ApiKey, "change", key.pk)):
        assert key.digest not in admin_client.get(page).content.decode()


def test_search_takes_ids_and_words_whole(admin_client, project):
    wanted, _other = RunFactory(project=project), RunFactory(project=project, subject_id="other")

    def found(word):
        return list(admin_client.get(address(Run, "changelist"), {"q": word}).context["cl"].result_list)

    assert found(str(wanted.run_id)) == [wanted]
    assert found(" support ") == [wanted]
    assert found("supp") == []
    assert found(str(uuid4())) == []


@pytest.mark.parametrize("model", LOOKED_AT, ids=lambda model: model._meta.label)
def test_search_finds_nothing_for_a_word_that_is_nowhere(everything, admin_client, model):
    answer = admin_client.get(address(model, "changelist"), {"q": "nowhere"})

    assert answer.status_code == 200


def test_a_list_asks_the_same_number_of_questions_for_one_and_for_many_and_reads_no_words(admin_client, project):
    def statements():
        with CaptureQueriesContext(
            connection,
        ) as captured:
            admin_client.get(address(Run, "changelist"))
        return [query["sql"] for query in captured.captured_queries]

    RunFactory(project=project)
    one = statements()
    RunFactory.create_batch(5, project=project)
    many = statements()

    assert len(many) == len(one)
    assert not [sql for sql in many if '"segments"' in sql]


def test_a_long_list_is_counted_no_further_than_it_is_paged(project):
    RunFactory.create_batch(3, project=project)
    pages = BoundedPaginator(Run.objects.order_by("-id"), 2)

    with CaptureQueriesContext(connection) as captured:
        assert pages.count == 3

    assert f"LIMIT {COUNTED_AT_MOST}" in captured.captured_queries[0]["sql"]
