"""`GET /v1/corrections/{correctionId}/history`: every step, newest first, paged (decision 16)."""

from uuid import uuid4

import pytest

from corrections.drafts import CorrectionDraft
from corrections.models import Correction
from corrections.rules.transitions import Event
from corrections.services.recording import record_correction
from corrections.vocabulary import SortedTo, Status, Verdict
from kindgi_site.callers import Role
from kindgi_site.clock import wire_time
from kindgi_site.workspaces.services.keys import store_key
from tests.api.expect import assert_refused
from tests.factories import ProjectFactory, person_with
from tests.life import ADDRESS, by_server, correction_in
from tests.wire import WireClient


def path(correction_id: object) -> str:
    return f"/v1/corrections/{correction_id}/history"


@pytest.fixture
def decider(workspace, project):
    """(an administrator of the project, their client)"""
    person = person_with(project, Role.ADMIN)
    return person, WireClient(store_key(workspace=workspace, principal=person)[1])


def test_every_step_with_who_when_from_to_note_and_cause(viewer_client, decider, project):
    person, client = decider
    key = correction_in(project, Status.WITH_OWNER).id
    own = f"/v1/corrections/{key}"
    times = []
    for verb, body in (
        ("sort", {"to": "improve", "reason": "Sounds wrong."}),
        ("link", {"kind": "pull-request", "url": ADDRESS}),
        ("status", {"status": "being-fixed"}),
        ("status", {"status": "being-fixed", "note": "Tomorrow."}),
        ("unlink", b""),
    ):
        answer = client.post(f"{own}/{verb}", body)
        assert answer.status_code == 200
        times.append(answer.json()["updatedAt"])
    by_server(Event.GRADED_RIGHT, Correction.objects.get())
    times.append(wire_time(Correction.objects.get().updated_at))
    client.post(f"{own}/unregister")
    times.append(wire_time(Correction.objects.get().updated_at))

    response = viewer_client.get(path(key))

    by = {"kind": "user", "id": str(person.id)}
    steps = [
        {"at": times[0], "by": by, "action": "sort", "from": "with-owner", "to": "open", "note": "Sounds wrong."},
        {"at": times[1], "by": by, "action": "link", "from": "open", "to": "being-fixed"},
        # Setting the state it is in, without a note, changed nothing.
        {"at": times[3], "by": by, "action": "status", "from": "being-fixed", "to": "being-fixed", "note": "Tomorrow."},
        {"at": times[4], "by": by, "action": "unlink", "from": "being-fixed", "to": "open"},
        {"at": times[5], "action": "fixed", "from": "open", "to": "fixed", "cause": "live-change:1"},
        {"at": times[6], "by": by, "action": "unregister", "from": "fixed", "to": "removed"},
    ]
    assert (response.status_code, response.json()) == (200, {"data": steps[::-1], "hasMore": False})


def test_being_superseded_is_a_step(api_client, caller, reviewer, run):
    draft = CorrectionDraft(answer=Verdict.RIGHT)
    first, second = (record_correction(caller=caller, run_id=run.run_id, draft=draft) for _time in range(2))

    step = {
        "at": wire_time(second.created_at),
        "by": {"kind": "user", "id": str(reviewer.id)},
        "action": "superseded",
        "from": "fixed",
        "to": "removed",
        "cause": f"correction:{second.id}",
    }
    assert api_client.get(path(first.id)).json() == {"data": [step], "hasMore": False}
    assert api_client.get(path(second.id)).json() == {"data": [], "hasMore": False}


def test_pages(api_client, project):
    key = correction_in(project, Status.OPEN, SortedTo.IMPROVE).id
    for number in range(5):
        api_client.post(f"/v1/corrections/{key}/status", {"status": "open", "note": f"{number}"})
    seen, query = [], "?limit=2"
    while query:
        page = api_client.get(path(key) + query).json()
        seen += [step["note"] for step in page["data"]]
        query = f"?limit=2&cursor={page['nextCursor']}" if page["hasMore"] else ""

    assert seen == ["4", "3", "2", "1", "0"]


def test_not_there(api_client, foreign_client, workspace, project):
    mine = correction_in(project, Status.OPEN)
    unreadable = correction_in(ProjectFactory(workspace=workspace), Status.OPEN)
    for client, key in (
        (api_client, uuid4()),
        (api_client, "x"),
        (api_client, unreadable.id),
        (foreign_client, mine.id),
    ):
        assert_refused(client.get(path(key)), 404, "correction-not-found", correctionId=str(key))


@pytest.mark.parametrize("count", [1, 3])
def test_statements_do_not_grow_with_the_steps(api_client, project, count, django_assert_num_queries):
    key = correction_in(project, Status.OPEN).id
    for number in range(count):
        api_client.post(f"/v1/corrections/{key}/status", {"status": "open", "note": f"{number}"})
    with django_assert_num_queries(4):
        assert len(api_client.get(path(key)).json()["data"]) == count
