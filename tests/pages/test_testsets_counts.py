"""How many are in an agent's set: counted as far as people care, told as far as it was counted."""

from copy import copy
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client

from corrections.models import Correction, RunCopy
from kindgi_site.keys import new_id
from kindgi_site.workspaces.models import Person, Project
from tests.factories import CorrectionFactory, RunCopyFactory
from tests.loop import Loop
from tests.pages.conftest import text_of


@pytest.fixture
def admin_client(admin: Person, client: Client) -> Client:
    client.force_login(admin)
    return client


def correct_many(project: Project, count: int) -> None:
    """Alike but for their ids, as building each costs more than storing it."""
    kept = RunCopyFactory.build(project=project)
    said = CorrectionFactory.build(copy=kept)
    copies, corrections = [], []
    for _number in range(count):
        copies.append(copy(kept))
        copies[-1].id, copies[-1].run_id = new_id(), uuid4()
        corrections.append(copy(said))
        corrections[-1].id, corrections[-1].copy_id, corrections[-1].run_id = new_id(), copies[-1].id, copies[-1].run_id
    RunCopy.objects.bulk_create(copies)
    Correction.objects.bulk_create(corrections)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")  # what a database does by itself after a while; until then its plans are guesses


@pytest.mark.parametrize(
    ("count", "told", "frozen"),
    [
        (
            999,
            "1,000 cases 999 from corrections, 1 by hand",
            "Exactly these 1000 cases will be frozen, in this order.",
        ),
        (1001, "1,002 cases 1,001 from corrections, 1 by hand", "The oldest 2 do not fit in a version."),
        (10_001, "10,000+ cases 10,000+ from corrections, 1 by hand", "The oldest 9,000+ do not fit in a version."),
    ],
)
def test_the_set_is_counted_to_ten_thousand(
    admin_client: Client, loop: Loop, project: Project, count: int, told: str, frozen: str
):
    correct_many(project, count)
    address = f"/v1/projects/{project.id}/agents/support/test-set/cases/from-draft"
    loop.ask("POST", address, {"query": "Where?", "expectedOutput": "Here.", "agentVersion": "1.0.0"}, status=201)

    page = text_of(admin_client.get(f"/agents/{project.id}/support/").content.decode())
    preview = text_of(admin_client.get(f"/agents/{project.id}/support/freeze/").content.decode())

    assert told in page
    assert frozen in preview
    assert ("not fit" in preview) is (count > 999)
