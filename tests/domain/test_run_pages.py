"""What the pages of runs read: pages cut by key, neighbours, evidence, names and suggestions."""

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corrections.models import Run
from corrections.queries.run_pages import (
    corrections_of_run,
    evidence_of,
    live_corrections_of,
    names_of_makers,
    runs_for_list,
    subjects_seen,
    tools_seen,
)
from kindgi_site.callers import Role
from kindgi_site.clock import milliseconds
from kindgi_site.errors import ForbiddenError, NotFoundError
from kindgi_site.exact_json import JsonText
from kindgi_site.keyset import Page, Place, neighbours
from kindgi_site.keyset import page_of as sized_page_of
from tests.factories import (
    INPUT,
    CorrectionFactory,
    PersonFactory,
    ProjectFactory,
    RunCopyFactory,
    RunFactory,
    RunToolFactory,
    ServiceAccountFactory,
    caller_of,
    person_with,
)

AT = datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)


def page_of(runs, **place) -> Page[Run]:
    return sized_page_of(runs, size=2, **place)


@pytest.fixture
def seven(project) -> list[Run]:
    """Seven runs, newest first, three of them of one moment; a page shows two."""
    moments = [AT, AT, AT, *(AT - timedelta(milliseconds=n) for n in range(1, 5))]
    runs = [RunFactory(project=project, created_at=moment) for moment in moments]
    return sorted(runs, key=lambda run: (run.created_at, run.id), reverse=True)


def test_pages_to_the_older_end_and_back_show_every_run_once(caller, seven):
    runs = runs_for_list(caller)

    pages = [page_of(runs)]
    while pages[-1].next:
        pages.append(page_of(runs, before=pages[-1].next))
    back = [pages[-1]]
    while back[-1].previous:
        back.append(page_of(runs, after=back[-1].previous))

    assert [page.rows for page in pages] == [seven[:2], seven[2:4], seven[4:6], seven[6:]]
    assert [page.previous is None for page in pages] == [True, False, False, False]
    assert [run for page in reversed(back) for run in page.rows] == seven


def test_a_new_run_moves_no_page(caller, project, seven):
    second = page_of(runs_for_list(caller)).next

    RunFactory(project=project)

    assert page_of(runs_for_list(caller), before=second).rows == seven[2:4]


def test_a_page_past_the_end_is_empty(caller, seven):
    page = page_of(runs_for_list(caller), before=Place.of(seven[-1]))

    assert (page.rows, page.next) == ([], None)


def test_a_page_costs_two_statements_and_knows_the_first_words(caller, seven, django_assert_num_queries):
    with django_assert_num_queries(2):
        shown = [(run.project.name, run.input_head) for run in page_of(runs_for_list(caller)).rows]

    assert shown == [("Default", JsonText.of(INPUT).text)] * 2


def test_neighbours_are_the_next_of_the_list(caller, seven):
    runs = runs_for_list(caller)

    found = [neighbours(runs, run) for run in seven]

    assert found == list(zip([None, *seven[:-1]], [*seven[1:], None], strict=True))


def test_neighbours_of_a_run_that_is_not_in_the_list(caller, seven):
    narrowed = runs_for_list(caller).exclude(id=seven[3].id)

    assert neighbours(narrowed, seven[3]) == (seven[2], seven[4])


@given(st.datetimes(datetime(1970, 1, 1), datetime(2400, 1, 1), timezones=st.just(UTC)), st.uuids())  # noqa: DTZ001
def test_a_place_is_read_as_it_was_written(moment, key):
    place = Place(milliseconds(moment), key)

    assert Place.read(str(place)) == place


@pytest.mark.parametrize(
    "text", ["", "_", "1", f"_{UUID(int=1)}", f"-1_{UUID(int=1)}", f"1.5_{UUID(int=1)}", "1_x", "9" * 30]
)
def test_anything_else_is_no_place(text):
    assert Place.read(text) is None


def test_evidence_is_the_copy_once_there_is_one_and_outlives_the_run(caller, run):
    first = evidence_of(caller, run.run_id)
    copy = RunCopyFactory(project=run.project, run_id=run.run_id, output=JsonText.of("kept"))
    second = evidence_of(caller, run.run_id)
    Run.objects.all().delete()
    third = evidence_of(caller, copy.run_id)

    assert (first.run, first.copy, first.output) == (run, None, first.content.output)
    assert (second.copy, second.output, third.output) == (copy, JsonText.of("kept"), JsonText.of("kept"))
    assert (third.run, third.source, third.project) == (None, copy, copy.project)


def test_evidence_of_an_unknown_or_unreadable_run(caller, run):
    elsewhere, next_door = RunFactory(), RunCopyFactory(project=ProjectFactory(workspace=run.workspace))

    for run_id in (uuid4(), elsewhere.run_id):
        with pytest.raises(NotFoundError):
            evidence_of(caller, run_id)
    with pytest.raises(ForbiddenError):
        evidence_of(caller, next_door.run_id)


@pytest.mark.parametrize("count", [1, 3])
def test_live_corrections_of_a_list_cost_one_statement(caller, project, count, django_assert_num_queries):
    runs = RunFactory.create_batch(count, project=project)
    for run in runs:
        copy = RunCopyFactory(project=project, run_id=run.run_id)
        CorrectionFactory(copy=copy)
        CorrectionFactory(copy=copy, removed=True)
    CorrectionFactory()

    with django_assert_num_queries(1):
        found = live_corrections_of(caller, runs)
        verdicts = {run_id: [(c.has_right, c.has_wrong, c.expert) for c in live] for run_id, live in found.items()}

    assert verdicts == {run.run_id: [(False, True, False)] for run in runs}


def test_the_history_of_a_run_has_removed_ones_too_newest_first(caller, run):
    copy = RunCopyFactory(project=run.project, run_id=run.run_id)
    older = CorrectionFactory(copy=copy, removed=True, created_at=AT)
    newer = CorrectionFactory(copy=copy)
    CorrectionFactory(copy=RunCopyFactory(project=run.project))

    assert corrections_of_run(caller, run.run_id) == [newer, older]


def test_makers_are_named_in_one_statement(django_assert_num_queries, db):
    ana, owen = PersonFactory(username="ana", first_name="Ana", last_name="Sol"), PersonFactory(username="owen")
    robot = ServiceAccountFactory(name="robot")
    ids = [str(ana.id), str(owen.id), str(robot.id), str(uuid4()), "session-7"]
    corrections = [CorrectionFactory(made_by_id=made_by_id) for made_by_id in ids]

    with django_assert_num_queries(1):
        names = names_of_makers(corrections)

    assert names == {str(ana.id): "Ana Sol", str(owen.id): "owen", str(robot.id): "robot"}


def test_suggestions_come_from_readable_runs(caller, project):
    support, other = RunFactory(project=project), RunFactory(project=project, subject_id="other")
    for run, tool in [(support, "b"), (support, "a"), (other, "c"), (RunFactory(), "hidden"), (other, "a")]:
        RunToolFactory(run=run, tool=tool)

    assert tools_seen(caller) == ["a", "b", "c"]
    assert tools_seen(caller, "support") == ["a", "b"]
    assert subjects_seen(caller) == [("other", "1.2.0"), ("support", "1.2.0")]
    assert tools_seen(caller_of(person_with(ProjectFactory(), Role.OWNER))) == []
