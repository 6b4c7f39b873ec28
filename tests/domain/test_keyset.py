"""Pages cut by key of lists that stand in order of a name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kindgi_site.exact_json import is_storable
from kindgi_site.keyset import Page, Place, by_name, page_at, page_of
from kindgi_site.workspaces.models import Project
from tests.factories import ProjectFactory, ServiceAccountFactory, WorkspaceFactory

BY_NAME = by_name("name")


@pytest.fixture
def five(db: None) -> list[Project]:
    """Five by name, two of them of one name."""
    projects = [ProjectFactory(name=name) for name in ("a & b", "c#1", "c#1", "d_e", "é+f")]
    return sorted(projects, key=lambda project: (project.name, project.id))


def page(**places: Place | None) -> Page[Project]:
    return page_of(Project.objects.order_by("name", "id"), size=2, order=BY_NAME, **places)


def test_pages_to_the_end_and_back_show_every_row_once(five: list[Project]):
    pages = [page()]
    while pages[-1].next:
        pages.append(page(after=pages[-1].next))
    back = [pages[-1]]
    while back[-1].previous:
        back.append(page(before=back[-1].previous))

    assert [shown.rows for shown in pages] == [five[:2], five[2:4], five[4:]]
    assert [shown.previous is None for shown in pages] == [True, False, False]
    assert [shown.rows for shown in reversed(back)] == [shown.rows for shown in pages]


def test_a_row_before_the_page_moves_nothing(five: list[Project]):
    second = page().next

    ProjectFactory(name="a")

    assert page(after=second).rows == five[2:4]


def test_rows_are_found_by_the_name_of_what_they_belong_to(db: None):
    order = by_name("workspace__slug")
    services = [ServiceAccountFactory(workspace=WorkspaceFactory(slug=slug)) for slug in ("a", "b", "c")]
    rows = type(services[0]).objects.select_related("workspace").order_by("workspace__slug", "id")

    first = page_of(rows, size=1, order=order)

    assert page_of(rows, size=1, after=first.next, order=order).rows == [services[1]]


@given(st.text(max_size=300).filter(is_storable), st.uuids())
def test_a_place_is_read_as_it_was_written(name: str, key: object):
    place = Place(name, key)

    assert BY_NAME.read(str(place)) == place


@pytest.mark.parametrize("text", ["", "_", "name", "name_nobody", "\0_5f1c4c9e-0000-4000-8000-000000000000"])
def test_what_is_no_place_counts_as_left_out(five: list[Project], text: str):
    rows = Project.objects.order_by("name", "id")

    assert page_at({"after": text}, rows, 2, BY_NAME) == page()
