"""A correction's own page: what was said, how it stands, what may be done, what happened."""

from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from corrections.models import AgentOwner, Correction
from corrections.rules.transitions import Event
from corrections.services.status import set_status, sort_correction
from corrections.vocabulary import SortedTo, Status
from kindgi_site import clock
from kindgi_site.callers import Role
from kindgi_site.exact_json import JsonText
from kindgi_site.workspaces.models import Person, Project
from tests.factories import CorrectionFactory, ProjectFactory, RunCopyFactory, caller_of, person_with
from tests.life import ADDRESS, by_server, correction_in
from tests.pages.conftest import HTMX, VARY, root_of, text_of


def test_page_and_fragment(reviewer_client: Client, project: Project):
    url = f"/corrections/{correction_in(project, Status.OPEN).id}/"

    page = reviewer_client.get(url)
    fragment = reviewer_client.get(url, headers=HTMX)

    assert page.templates[0].name == "corrections/correction_detail.html"
    assert fragment.templates[0].name == "corrections/_correction_panel.html"
    assert root_of(fragment.content.decode()) == "correction-panel"
    assert set(page["Vary"].split(", ")) >= VARY


def test_it_shows_what_was_said_and_links_the_run(reviewer_client: Client, project: Project):
    correction = correction_in(project, Status.OPEN, should_say="On Tuesday.", note_text="Look again.")

    page = reviewer_client.get(f"/corrections/{correction.id}/").content.decode()

    said = text_of(page)
    assert "It said ✗ wrong It arrives on Monday. It should have said On Tuesday." in said
    assert "It is late." in said
    assert "Look again." in said
    assert f'href="/runs/{correction.run_id}/"' in page


def test_it_lists_the_items_it_marks_in_the_order_of_the_run(reviewer_client: Client, project: Project):
    listed = [{"id": "tea", "title": "Green <b>tea</b>", "price": 9}, {"id": "mug"}, {"id": "beans", "title": "Beans"}]
    marks = [
        {"key": "beans", "verdict": "right"},
        {"key": "gone", "verdict": "wrong", "rank": 7},
        {"key": "tea", "verdict": "wrong"},
    ]
    copy = RunCopyFactory(project=project, output=JsonText.of({"content": "Look.", "sources": listed}))
    correction = CorrectionFactory(copy=copy, answer="", items=JsonText.of(marks))

    page = reviewer_client.get(f"/corrections/{correction.id}/").content.decode()

    assert "1 Green <b>tea</b> tea price 9 ✗ wrong 3 Beans beans ✓ right 8 gone ✗ wrong" in text_of(page)
    assert "Green &lt;b&gt;tea&lt;/b&gt;" in page


def test_an_item_whose_key_stands_in_two_lists_is_the_one_that_was_marked(reviewer_client: Client, project: Project):
    lists = {"near": [{"id": "tea", "title": "Near"}], "wide": [{"id": "mug"}, {"id": "tea", "title": "Wide"}]}
    copy = RunCopyFactory(project=project, output=JsonText.of(lists))
    marks = [{"key": "tea", "verdict": "wrong", "pointer": "/near/0", "rank": 0}]
    near = CorrectionFactory(copy=copy, answer="", items=JsonText.of(marks))
    both = [marks[0] | {"pointer": "/wide/1", "rank": 1}, {"key": "mug", "verdict": "right"}]
    wide = CorrectionFactory(copy=copy, answer="", items=JsonText.of(both))
    anywhere = CorrectionFactory(copy=copy, answer="", items=JsonText.of([{"key": "tea", "verdict": "wrong"}]))

    pages = [text_of(reviewer_client.get(f"/corrections/{c.id}/").content.decode()) for c in (near, wide, anywhere)]

    shown = [("1 Near tea ✗ wrong" in page, "1 mug ✓ right 2 Wide tea ✗ wrong" in page) for page in pages]
    assert shown == [(True, False), (False, True), (True, False)]


def test_of_an_erased_run_it_lists_keys_and_verdicts(reviewer_client: Client, project: Project):
    copy = RunCopyFactory(project=project, output=None, erased_at=clock.now())
    correction = CorrectionFactory(
        copy=copy, answer="", items=JsonText.of([{"key": "tea", "verdict": "right", "rank": 0}])
    )

    assert "1 tea ✓ right" in text_of(reviewer_client.get(f"/corrections/{correction.id}/").content.decode())


def test_it_leads_back_to_the_desk_it_was_opened_from(reviewer_client: Client, project: Project):
    correction = correction_in(project, Status.OPEN)
    address = f"/corrections/{correction.id}/"
    desk = "desk=all&subject=support"

    listed = unescape(reviewer_client.get(f"/corrections/?{desk}&version=").content.decode())
    opened = unescape(reviewer_client.get(f"{address}?{desk}").content.decode())
    straight = unescape(reviewer_client.get(address).content.decode())

    assert f'href="{address}?{desk}"' in listed
    assert (f'href="/corrections/?{desk}"' in opened, "Back to the desk" in opened) == (True, True)
    assert f'action="{address}steps/?{desk}"' in opened
    assert ("Back to the desk" in straight, f'action="{address}steps/"' in straight) == (False, True)


def test_a_step_goes_on_leading_back_to_the_desk(client: Client, project: Project):
    correction = correction_in(project, Status.OPEN)
    client.force_login(person_with(project, Role.ADMIN))

    moved = client.post(f"/corrections/{correction.id}/steps/?desk=all", {"step": "wont-fix"})

    assert (moved.status_code, moved["Location"]) == (302, f"/corrections/{correction.id}/?desk=all")


def test_history_newest_first(reviewer_client: Client, reviewer: Person, project: Project):
    correction = correction_in(project, Status.OPEN)
    by = caller_of(reviewer)
    sort_correction(caller=by, correction_id=str(correction.id), to=SortedTo.DEVELOPER, reason="Needs code.")
    set_status(caller=by, correction_id=str(correction.id), status=Status.BEING_FIXED)

    events = reviewer_client.get(f"/corrections/{correction.id}/").context["events"]

    assert [(event.who, event.words, event.note) for event in events] == [
        (reviewer.username, "set the status: open → being fixed", ""),
        (reviewer.username, "sorted it", "Needs code."),
    ]


def test_the_servers_own_steps_say_what_made_it_look(reviewer_client: Client, project: Project):
    correction = correction_in(project, Status.BEING_FIXED, SortedTo.DEVELOPER)
    by_server(Event.GRADED_RIGHT, correction)

    said = text_of(reviewer_client.get(f"/corrections/{correction.id}/").content.decode())

    assert "✓ Fixed in 2.0.0" in said
    assert "The server just now found it fixed: being fixed → fixed live-change:1" in said


STEPS = {
    (Status.WITH_OWNER, "admin"): ["link", "being-fixed", "wont-fix", "sort-developer", "sort-improve"],
    (Status.WITH_OWNER, "owner"): ["link", "being-fixed", "wont-fix", "sort-developer", "sort-improve"],
    (Status.WITH_OWNER, "editor"): [],
    (Status.OPEN, "editor"): ["link", "wont-fix", "sort-owner", "sort-developer", "sort-improve"],
    (Status.OPEN, "viewer"): [],
    (Status.FIXED, "editor"): ["open"],
    (Status.WONT_FIX, "editor"): ["open"],
    (Status.REMOVED, "admin"): [],
}


@pytest.mark.parametrize(("status", "who"), STEPS)
def test_only_steps_that_are_possible_are_offered(client: Client, project: Project, status: Status, who: str):
    roles = {"admin": Role.ADMIN, "owner": Role.EDITOR, "editor": Role.EDITOR, "viewer": Role.VIEWER}
    person = person_with(project, roles[who])
    if who == "owner":
        AgentOwner.objects.create(project=project, agent_id="support", owner_kind="user", owner_id=str(person.id))
    correction = correction_in(project, status)
    client.force_login(person)

    response = client.get(f"/corrections/{correction.id}/")

    assert [step.name for step in response.context["steps"]] == STEPS[status, who]
    page = response.content.decode()
    assert [name for name in STEPS[status, who] if f'value="{name}"' not in page] == []


def test_a_linked_one_may_lose_its_link(reviewer_client: Client, project: Project):
    linked = {"link_kind": "pull-request", "link_target": ADDRESS}
    correction = correction_in(project, Status.BEING_FIXED, SortedTo.DEVELOPER, **linked)

    response = reviewer_client.get(f"/corrections/{correction.id}/")

    assert "unlink" in [step.name for step in response.context["steps"]]
    assert f'href="{ADDRESS}"' in response.content.decode()


def test_what_superseded_what(reviewer_client: Client, project: Project):
    copy = RunCopyFactory(project=project)
    after = correction_in(project, Status.OPEN, copy=copy)
    before = correction_in(project, Status.REMOVED, copy=copy, superseded_by=after)

    earlier = reviewer_client.get(f"/corrections/{before.id}/").content.decode()
    later = reviewer_client.get(f"/corrections/{after.id}/").content.decode()

    assert f'href="/corrections/{after.id}/"' in earlier
    assert "Its maker corrected the run again" in earlier
    assert f'href="/corrections/{before.id}/"' in later
    assert "It took the place of an earlier one" in later


@pytest.mark.parametrize("is_mine", [True, False])
def test_only_ones_own_can_be_taken_back(reviewer_client: Client, reviewer: Person, project: Project, is_mine: bool):
    made_by = {"made_by_kind": "user", "made_by_id": str(reviewer.id)} if is_mine else {}
    correction = correction_in(project, Status.OPEN, **made_by)

    page = reviewer_client.get(f"/corrections/{correction.id}/").content.decode()

    assert (f"/corrections/{correction.id}/remove/" in page) is is_mine


def test_another_workspaces_is_not_there(reviewer_client: Client, project: Project):
    foreign = CorrectionFactory(copy=RunCopyFactory(project=ProjectFactory()))
    closed = CorrectionFactory(copy=RunCopyFactory(project=ProjectFactory(workspace=project.workspace)))

    for correction in (foreign, closed):
        response = reviewer_client.get(f"/corrections/{correction.id}/")
        assert response.status_code == 404
        assert "There is no such correction." in text_of(response.content.decode())
        assert reviewer_client.post(f"/corrections/{correction.id}/steps/", {"step": "open"}).status_code == 404


def test_statements_do_not_grow_with_the_history(reviewer_client: Client, reviewer: Person, project: Project):
    correction = correction_in(project, Status.OPEN, SortedTo.DEVELOPER)

    def statements() -> int:
        with CaptureQueriesContext(connection) as seen:
            assert reviewer_client.get(f"/corrections/{correction.id}/").status_code == 200
        return len(seen)

    set_status(caller=caller_of(reviewer), correction_id=str(correction.id), status=Status.BEING_FIXED)
    for_one = statements()
    for number in range(15):
        for status in (Status.OPEN, Status.BEING_FIXED):
            set_status(caller=caller_of(reviewer), correction_id=str(correction.id), status=status, note=str(number))
    assert Correction.objects.get().events.count() == 31

    assert statements() == for_one <= 12
