"""One step for one or several corrections, from the desk and from a correction's own page."""

from typing import Any

import pytest
from django.test import Client

from corrections.models import Correction, CorrectionEvent
from corrections.vocabulary import LinkKind, SortedTo, Status
from kindgi_site.callers import Role
from kindgi_site.workspaces.models import Person, Project
from tests.factories import ProjectFactory, caller_of, person_with
from tests.life import ADDRESS, LONG_AGO, correction_in
from tests.pages.conftest import HTMX, root_of, text_of

SAID = {"note": "", "link_kind": "pull-request", "link_target": ""}


@pytest.fixture
def owner_client(admin: Person, client: Client) -> Client:
    """A browser of the project's administrator, who decides for every agent."""
    client.force_login(admin)
    return client


def take(client: Client, step: str, *corrections: Correction, htmx: bool = False, **said: str) -> Any:
    keys = [str(correction.id) for correction in corrections]
    data = SAID | {"step": step, "correction": keys} | said
    return client.post("/corrections/steps/?desk=with-owner", data, headers=HTMX if htmx else {})


def state(correction: Correction) -> tuple[str, str, str, str]:
    found = Correction.objects.get(id=correction.id)
    return (found.status, found.sorted_to, found.link_target, found.note_text)


STEPS = [
    ("link", {"link_target": ADDRESS}, (Status.BEING_FIXED, SortedTo.OWNER, ADDRESS, "")),
    ("being-fixed", {"note": "In the next one."}, (Status.BEING_FIXED, SortedTo.OWNER, "", "In the next one.")),
    ("wont-fix", {"note": "As meant."}, (Status.WONT_FIX, SortedTo.OWNER, "", "As meant.")),
    ("sort-developer", {"note": "Needs code."}, (Status.OPEN, SortedTo.DEVELOPER, "", "")),
    ("sort-improve", {}, (Status.OPEN, SortedTo.IMPROVE, "", "")),
]


@pytest.mark.parametrize("htmx", [False, True], ids=["page", "htmx"])
@pytest.mark.parametrize(("step", "said", "expected"), STEPS)
def test_a_step_for_several(
    owner_client: Client, project: Project, htmx: bool, step: str, said: dict[str, str], expected: tuple[str, ...]
):
    ticked = [correction_in(project, Status.WITH_OWNER) for _number in range(2)]
    other = correction_in(project, Status.WITH_OWNER)

    response = take(owner_client, step, *ticked, htmx=htmx, **said)

    assert [state(one) for one in ticked] == [expected, expected]
    assert state(other) == (Status.WITH_OWNER, SortedTo.OWNER, "", "")
    assert CorrectionEvent.objects.count() == 2
    if htmx:
        assert response.status_code == 200
        assert root_of(response.content.decode()) == "correction-table"
        assert "2 corrections: " in text_of(response.content.decode())
        assert [row.correction.id for row in response.context["rows"]] == [other.id]
    else:
        assert (response.status_code, response["Location"]) == (302, "/corrections/?desk=with-owner")
        assert "2 corrections: " in text_of(owner_client.get(response["Location"]).content.decode())


def test_a_note_stands_in_the_history(owner_client: Client, admin: Person, project: Project):
    correction = correction_in(project, Status.WITH_OWNER)

    take(owner_client, "wont-fix", correction, note="As meant.")

    event = CorrectionEvent.objects.get()
    assert (event.action, event.from_status, event.to_status) == ("status", "with-owner", "wont-fix")
    assert (event.note, event.by_id) == ("As meant.", str(admin.id))


@pytest.mark.parametrize(
    ("step", "linked", "expected"),
    [("link", "", (Status.BEING_FIXED, ADDRESS)), ("unlink", ADDRESS, (Status.OPEN, ""))],
)
def test_a_note_beside_a_link_stands_in_the_history_too(
    owner_client: Client, project: Project, step: str, linked: str, expected: tuple[str, str]
):
    link = {"link_kind": LinkKind.PULL_REQUEST, "link_target": linked} if linked else {}
    correction = correction_in(project, Status.BEING_FIXED, SortedTo.DEVELOPER, **link)
    said = SAID | {"step": step, "link_target": ADDRESS, "note": "Merged on Friday."}

    page = owner_client.post(f"/corrections/{correction.id}/steps/", said, headers=HTMX)

    event = CorrectionEvent.objects.get()
    assert (event.action, event.note) == (step, "Merged on Friday.")
    assert "Merged on Friday." in text_of(page.content.decode())
    assert state(correction) == (expected[0], SortedTo.DEVELOPER, expected[1], "")


@pytest.mark.parametrize("htmx", [False, True], ids=["page", "htmx"])
def test_what_is_refused_says_why_beside_its_row(owner_client: Client, project: Project, htmx: bool):
    takes = correction_in(project, Status.OPEN, SortedTo.DEVELOPER)
    refuses = correction_in(project, Status.OPEN)

    data = SAID | {"step": "being-fixed", "note": "Soon.", "correction": [str(takes.id), str(refuses.id)]}
    response = owner_client.post("/corrections/steps/?desk=all", data, headers=HTMX if htmx else {})

    assert response.status_code == 422
    assert state(takes)[0] == Status.BEING_FIXED
    assert state(refuses) == (Status.OPEN, "", "", "")
    rows = {row.correction.id: row for row in response.context["rows"]}
    assert rows[refuses.id].refusal == "A correction that is open cannot become being-fixed this way."
    assert (rows[refuses.id].is_chosen, rows[takes.id].is_chosen) == (True, False)
    said = text_of(response.content.decode())
    assert "1 correction: being fixed." in said
    assert ">\nSoon.</textarea>" in response.content.decode()


REFUSED = [
    ({"step": "link", "link_target": ""}, "Give the address of the pull request"),
    ({"step": "link", "link_target": "not an address"}, "Give the whole address of the pull request"),
    ({"step": "link", "link_target": "javascript:alert(1)"}, "Give the whole address of the pull request"),
    ({"step": "link", "link_target": "https:// no host"}, "url is an absolute http or https address"),
    ({"step": "link", "link_kind": "improve-run", "link_target": "x" * 201}, "id has 1 to 200 characters."),
    ({"step": "wont-fix", "note": "x" * 2001}, "at most 2000 characters"),
    ({"step": "nonsense"}, "Select a valid choice"),
    ({}, "This field is required"),
]


@pytest.mark.parametrize(("said", "words"), REFUSED)
def test_a_step_that_makes_no_sense_changes_nothing(
    owner_client: Client, project: Project, said: dict[str, str], words: str
):
    correction = correction_in(project, Status.WITH_OWNER)
    data = SAID | {"correction": [str(correction.id)]} | said

    response = owner_client.post("/corrections/steps/", data)

    assert response.status_code == 422
    assert words in text_of(response.content.decode())
    assert response.context["rows"][0].is_chosen
    assert Correction.objects.get().updated_at == LONG_AGO
    assert not CorrectionEvent.objects.exists()


def test_nothing_ticked_changes_nothing(owner_client: Client, project: Project):
    correction_in(project, Status.WITH_OWNER)

    response = take(owner_client, "wont-fix")

    assert response.status_code == 422
    assert "Tick the corrections it is for." in text_of(response.content.decode())
    assert not CorrectionEvent.objects.exists()


def test_who_is_no_owner_is_refused(reviewer_client: Client, project: Project):
    correction = correction_in(project, Status.WITH_OWNER)

    response = take(reviewer_client, "wont-fix", correction)

    assert response.status_code == 422
    assert "Only the agent's owner or an administrator of the project decides on this." in text_of(
        response.content.decode()
    )
    assert state(correction)[0] == Status.WITH_OWNER


def test_who_only_reads_is_refused(client: Client, project: Project):
    correction = correction_in(project, Status.OPEN)
    client.force_login(person_with(project, Role.VIEWER))

    assert take(client, "sort-improve", correction).status_code == 422
    assert state(correction) == (Status.OPEN, "", "", "")


@pytest.mark.parametrize("known", [True, False])
def test_another_workspaces_and_none_are_refused_alike(owner_client: Client, known: bool):
    correction = correction_in(ProjectFactory(), Status.OPEN)
    if not known:
        correction.id = correction.workspace_id

    response = take(owner_client, "sort-improve", correction)

    assert response.status_code == 422
    assert response.context["lost"] == ["There is no such correction."]
    assert not CorrectionEvent.objects.exists()


@pytest.mark.parametrize("address", ["/corrections/steps/"])
def test_a_step_is_never_a_get(owner_client: Client, address: str):
    assert owner_client.get(address).status_code == 405


@pytest.mark.parametrize("htmx", [False, True], ids=["page", "htmx"])
def test_a_step_on_a_corrections_own_page(owner_client: Client, project: Project, htmx: bool):
    correction = correction_in(project, Status.WITH_OWNER)
    url = f"/corrections/{correction.id}/"

    response = owner_client.post(
        f"{url}steps/", SAID | {"step": "link", "link_target": ADDRESS}, headers=HTMX if htmx else {}
    )

    assert state(correction) == (Status.BEING_FIXED, SortedTo.OWNER, ADDRESS, "")
    if htmx:
        assert response.status_code == 200
        assert root_of(response.content.decode()) == "correction-panel"
        assert "Being fixed" in text_of(response.content.decode())
    else:
        assert (response.status_code, response["Location"]) == (302, url)


@pytest.mark.parametrize("htmx", [False, True], ids=["page", "htmx"])
def test_a_refusal_on_its_own_page_keeps_what_was_typed(owner_client: Client, project: Project, htmx: bool):
    correction = correction_in(project, Status.FIXED)

    response = owner_client.post(
        f"/corrections/{correction.id}/steps/",
        SAID | {"step": "wont-fix", "note": "No."},
        headers=HTMX if htmx else {},
    )

    assert response.status_code == 422
    assert "A correction that is fixed cannot become wont-fix this way." in text_of(response.content.decode())
    assert ">\nNo.</textarea>" in response.content.decode()
    assert not CorrectionEvent.objects.exists()


def own(project: Project, person: Person) -> Correction:
    caller = caller_of(person)
    return correction_in(project, Status.OPEN, made_by_kind=caller.kind, made_by_id=caller.id)


@pytest.mark.parametrize("htmx", [False, True], ids=["page", "htmx"])
def test_taking_ones_own_back(reviewer_client: Client, reviewer: Person, project: Project, htmx: bool):
    correction = own(project, reviewer)

    response = reviewer_client.post(f"/corrections/{correction.id}/remove/", headers=HTMX if htmx else {})

    assert state(correction)[0] == Status.REMOVED
    assert CorrectionEvent.objects.get().action == "unregister"
    if htmx:
        assert "It was taken back" in text_of(response.content.decode())
    else:
        assert response["Location"] == f"/corrections/{correction.id}/"


def test_somebody_elses_is_not_taken_back(owner_client: Client, reviewer: Person, project: Project):
    correction = own(project, reviewer)

    assert owner_client.post(f"/corrections/{correction.id}/remove/").status_code == 404
    assert state(correction)[0] == Status.OPEN
