import json
import re
import stat

import pytest
from django.core.management.base import CommandError

from corrections.demo import PASSWORD
from corrections.models import AgentOwner, CorrectingItem, Correction, CorrectorGroup, Run, RunCopy
from kindgi_site.callers import Role
from kindgi_site.workspaces.models import ApiKey, Person, ProjectRole, Reviewer, ServiceAccount, Workspace
from tests.factories import PersonFactory, caller_behind
from tests.wire import WireClient
from testsets.models import LiveVersion, TestRun


@pytest.fixture
def key_file(tmp_path):
    return tmp_path / "kept" / "demo_key"


@pytest.fixture
def load(manage, key_file, settings):
    settings.DEMO = True
    return lambda: manage("load_demo", "--key-file", key_file)


def counts():
    tables = (Workspace, Person, Reviewer, CorrectorGroup, Run, RunCopy, Correction, ServiceAccount, ApiKey)
    return {table.__name__: table.objects.count() for table in tables}


def test_loads_everything(load):
    load()

    assert counts() == {
        "Workspace": 1,
        "Person": 4,
        "Reviewer": 3,
        "CorrectorGroup": 3,
        "Run": 36,
        "RunCopy": 11,
        "Correction": 12,
        "ServiceAccount": 1,
        "ApiKey": 1,
    }
    assert dict(ProjectRole.objects.filter(person__isnull=False).values_list("person__username", "role")) == {
        "ana": "editor",
        "ben": "editor",
        "owen": "admin",
    }
    assert dict(Reviewer.objects.values_list("person__username", "role")) == {
        "ana": "standard",
        "ben": "senior",
        "owen": "standard",
    }


def test_corrections_are_of_the_people_who_made_them(load):
    load()

    names = {str(person.id): person.username for person in Person.objects.all()}
    said = [
        (names[correction.made_by_id], correction.group and correction.group.name, correction.expert)
        for correction in Correction.objects.select_related("group").order_by("created_at", "id")
    ]
    assert said == [
        ("ana", None, False),
        ("owen", "Support leads", False),
        ("ana", None, False),
        ("ben", "Claims experts", True),
        ("owen", None, False),
        ("ben", None, False),
        ("ana", None, False),
        ("ana", None, False),
        ("ben", "Claims experts", True),
        ("ana", None, False),
        ("ana", None, False),
        ("ben", None, False),
    ]
    assert Correction.objects.filter(superseded_by__isnull=False).count() == 1


@pytest.mark.parametrize("name", ["ana", "ben", "owen", "admin"])
def test_everybody_can_sign_in_and_admin_reaches_the_admin_site(load, client, name):
    load()

    assert client.post("/login/", {"username": name, "password": PASSWORD})["Location"] == "/runs/"
    assert (client.get("/admin/").status_code == 200) == (name == "admin")


def test_loading_again_changes_nothing_and_prints_the_same(load):
    first, before = load(), counts()

    assert load() == first
    assert counts() == before


def test_says_how_to_get_in(load, monkeypatch, key_file):
    monkeypatch.setenv("PORT", "8123")

    said = load().out

    assert "http://127.0.0.1:8123/" in said
    assert all(name in said for name in ("ana", "ben", "owen", "admin", PASSWORD))
    assert key_file.read_text() in said


def test_the_key_is_an_editor_s_and_kept_for_nobody_else(load, key_file):
    load()

    caller = caller_behind(key_file.read_text())
    assert (caller.name, set(caller.project_roles.values())) == ("demo-program", {Role.EDITOR})
    assert stat.S_IMODE(key_file.stat().st_mode) == 0o600


@pytest.mark.parametrize("kept", [None, "", "kgi_of_a_database_that_is_gone"])
def test_a_key_that_is_lost_or_opens_nothing_is_made_anew(load, key_file, kept):
    load()
    if kept is None:
        key_file.unlink()
    else:
        key_file.write_text(kept)

    said = load().out

    assert caller_behind(key_file.read_text()).name == "demo-program"
    assert key_file.read_text() in said
    assert ServiceAccount.objects.count() == 1


def test_a_key_that_was_revoked_is_made_anew(load, key_file):
    load()
    old = key_file.read_text()
    ApiKey.objects.update(revoked_at="2026-01-01T00:00:00Z")

    load()

    assert key_file.read_text() != old


def test_the_example_works_as_it_is_printed(load):
    said = load().out
    key = re.search(r"Bearer (\S+)'", said)[1]
    body = re.search(r"-d '(.+)'", said)[1]

    answer = WireClient(key).request("POST", "/v1/corrections", body, content_type="application/json")

    assert answer.status_code == 201
    assert answer.json()["runId"] == json.loads(body)["runId"]


def test_refuses_where_it_is_no_demo(manage, key_file):
    with pytest.raises(CommandError, match="KINDGI_DEMO=1"):
        manage("load_demo", "--key-file", key_file)

    assert not Workspace.objects.exists()
    assert not key_file.exists()


def test_a_file_that_no_key_can_be_kept_in_is_named(load, key_file):
    key_file.mkdir(parents=True)

    with pytest.raises(CommandError) as refusal:
        load()

    assert str(refusal.value) == f"The key cannot be kept in {key_file}: Is a directory. Name another --key-file."
    assert not ApiKey.objects.exists()


def test_force_loads_it_all_the_same(manage, key_file):
    manage("load_demo", "--key-file", key_file, "--force")

    assert Workspace.objects.get().slug == "demo"


def test_gives_nobody_rights_for_their_name(load):
    PersonFactory(username="admin")

    with pytest.raises(CommandError, match="people of these names already: admin"):
        load()

    assert not Workspace.objects.exists()
    assert not Person.objects.get().is_superuser


def test_an_owner_finds_what_was_graded_and_a_rule_its_queue(load):
    load()

    told = {run.subject_version: json.loads(run.summary.text)["outcomes"] for run in TestRun.objects.all()}
    assert {version: counts["ungraded"] for version, counts in told.items()} == {"2.3.0": 0, "2.4.0": 0}
    assert told["2.3.0"]["wrong"] > told["2.4.0"]["wrong"]
    assert set(LiveVersion.objects.values_list("agent_id", "latest")) == {
        ("orders.support", "2.3.0"),
        ("claims.intake", "1.1.0"),
    }
    assert set(AgentOwner.objects.values_list("agent_id", flat=True)) == {"orders.support", "claims.intake"}
    assert CorrectingItem.objects.filter(state="open").exists()
