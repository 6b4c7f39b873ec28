"""`GET /v1/test-sets` (contract 14.2)."""

import pytest

from tests.api.expect import assert_refused
from tests.api.set_bodies import PATH, publish, set_record, unregister
from tests.factories import ProjectFactory
from tests.loop import Loop
from testsets.models import TestSetVersion


def listed(client, query=""):
    response = client.get(f"{PATH}{query}")
    assert response.status_code == 200, response.content
    return [(row["id"], row["version"]) for row in response.json()["data"]]


def test_each_set_once_at_its_latest_version(loop):
    """1.10.0 is above 1.9.0: parts are numbers."""
    for version in ("1.9.0", "1.10.0", "1.2.0"):
        publish(loop, version=version)
    publish(loop, "other", description="Another.")

    body = loop.ask("GET", PATH)

    assert body == {
        "data": [set_record(loop, version="1.10.0"), set_record(loop, "other", description="Another.")],
        "hasMore": False,
    }


def test_none(loop):
    assert loop.ask("GET", PATH) == {"data": [], "hasMore": False}


def test_ids_go_by_code_point_on_every_page(loop):
    names = ["b", "a", "B", "A", "a-b", "a.b", "a_b", "ab", "Z", "10", "9", "1"]
    for name in names:
        publish(loop, name)

    seen, cursor = [], ""
    while cursor is not None:
        page = loop.ask("GET", f"{PATH}?limit=5{cursor}")
        seen += [row["id"] for row in page["data"]]
        assert ("nextCursor" in page) == page["hasMore"]
        cursor = f"&cursor={page['nextCursor']}" if page["hasMore"] else None

    assert seen == sorted(names) == ["1", "10", "9", "A", "B", "Z", "a", "a-b", "a.b", "a_b", "ab", "b"]


@pytest.mark.parametrize(
    ("beginning", "names"),
    [
        ("al", ["alpha"]),
        ("Al", ["Alpha"]),
        ("a_", ["a_b"]),
        ("pha", []),
        ("alpha", ["alpha"]),
        ("alphabet", []),
        ("%", []),
        ("%00", []),
        ("", ["Alpha", "a_b", "alpha", "axb"]),
    ],
)
def test_name_is_the_beginning_of_the_id_letter_for_letter(loop, beginning, names):
    for name in ("alpha", "Alpha", "a_b", "axb"):
        publish(loop, name)

    assert [name for name, _version in listed(loop.client, f"?name={beginning}")] == names


def test_kind(loop):
    publish(loop, "one", kind="accuracy")
    publish(loop, "two", kind="pairwise")

    assert listed(loop.client, "?kind=pairwise") == [("two", "1.0.0")]
    assert listed(loop.client, "?kind=corrections") == []
    assert_refused(loop.client.get(f"{PATH}?kind=other"), 400, "bad-input", field="kind")


def test_kind_is_that_of_the_latest_version(loop):
    publish(loop, version="1.0.0", kind="accuracy")
    publish(loop, version="2.0.0", kind="pairwise")

    assert listed(loop.client, "?kind=accuracy") == []
    assert listed(loop.client, "?kind=pairwise") == [("basics", "2.0.0")]


def test_retired_sets_only_when_asked_for(loop):
    publish(loop, "kept")
    publish(loop, "retired", "1.2.0")
    publish(loop, "retired", "1.10.0")
    for version in ("1.2.0", "1.10.0"):
        unregister(loop, "retired", version)

    assert listed(loop.client) == [("kept", "1.0.0")]
    assert listed(loop.client, "?includeRetired=TRUE") == [("kept", "1.0.0")]
    kept, retired = loop.ask("GET", f"{PATH}?includeRetired=true")["data"]
    assert kept == set_record(loop, "kept")
    at = retired.pop("unregisteredAt")
    assert retired == set_record(loop, "retired", "1.10.0")
    assert at == loop.ask("GET", f"{PATH}/retired/versions/1.10.0")["unregisteredAt"]


@pytest.mark.parametrize("inherit", ["true", "false"])
def test_scope_and_inherit(loop, root_client, inherit):
    other = Loop(root_client, ProjectFactory(workspace=loop.project.workspace))
    publish(loop, "here")
    publish(other, "there")

    query = f"?scopeKind=project&scopeId={other.project.id}&inherit={inherit}"
    assert listed(root_client, query) == [("there", "1.0.0")]
    assert listed(root_client) == [("here", "1.0.0"), ("there", "1.0.0")]
    assert_refused(root_client.get(f"{PATH}?scopeKind=project"), 400, "scope-invalid", field="scopeKind")
    assert_refused(root_client.get(f"{PATH}?scopeKind=galaxy&scopeId=x"), 400, "scope-invalid", field="scopeKind")


def test_only_sets_of_projects_that_the_caller_may_read(loop, root_client, foreign_client):
    publish(loop, "mine")
    publish(Loop(root_client, ProjectFactory(workspace=loop.project.workspace)), "theirs")

    assert listed(loop.client) == [("mine", "1.0.0")]
    assert listed(foreign_client) == []


@pytest.mark.parametrize("count", [1, 3])
def test_statements_do_not_grow_with_the_sets(loop, count, django_assert_num_queries):
    for number in range(count):
        publish(loop, f"set-{number}")
        publish(loop, f"set-{number}", "2.0.0")
    loop.client.get(PATH)

    with django_assert_num_queries(3):
        assert len(listed(loop.client)) == count
    assert TestSetVersion.objects.count() == 2 * count
