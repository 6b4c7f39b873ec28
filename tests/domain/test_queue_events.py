"""Random lives of queued runs: after every event an item stands where the contract's words put it (18.4)."""

from dataclasses import dataclass, field
from random import Random
from uuid import UUID

import pytest

from corrections.drafts import CorrectionDraft
from corrections.models import CorrectingItem, Correction
from corrections.services.queue import dismiss_item, erase_items, reopen_item
from corrections.services.recording import record_correction
from corrections.services.status import remove_correction
from corrections.vocabulary import Verdict
from kindgi_site.errors import ConflictError
from tests.factories import caller_of, person_with
from tests.queueing import finish_run, project_group, write_rule

EVENTS = ("record", "record", "record", "remove", "remove", "dismiss", "reopen")


@dataclass
class Told:
    """What should be so: the groups wanted (None: anybody's), who spoke last for which, and the state."""

    wanted: set[UUID | None]
    state: str = "open"
    spoken: dict[str, UUID | None] = field(default_factory=dict)

    @property
    def is_met(self) -> bool:
        groups = set(self.spoken.values())
        return all(bool(self.spoken) if group is None else group in groups for group in self.wanted)

    def record(self, who: str, group: UUID | None) -> None:
        self.spoken[who] = group
        if self.state in ("open", "corrected"):
            self.state = "corrected" if self.is_met else "open"

    def remove(self, who: str) -> None:
        del self.spoken[who]
        if self.state == "corrected" and not self.is_met:
            self.state = "open"

    def move(self, from_state: str, to_state: str) -> bool:
        if self.state != from_state:
            return False
        self.state = to_state
        return True


@pytest.mark.parametrize("seed", range(12))
def test_whatever_happens_an_item_stands_where_it_should(project, seed):
    chance = Random(seed)  # noqa: S311 - a repeatable story, not a secret
    makers = [caller_of(person_with(project)) for _number in range(3)]
    groups = [None, *(project_group(project).id for _number in range(2))]
    wanted = set(chance.sample(groups, chance.randint(1, 3)))
    for group in wanted:
        write_rule(makers[0], project, group_id=str(group) if group else None)
    run = finish_run(makers[0], project)
    told = Told(wanted)

    for _step in range(25):
        event, maker = chance.choice(EVENTS), chance.choice(makers)
        happen(event, maker, project, run, told, chance.choice(groups))

        item = CorrectingItem.objects.get()
        assert (item.state, item.closed_at is None) == (told.state, told.state == "open"), (event, wanted, told.spoken)

    erase_items(project.workspace_id, [run.run_id])
    assert CorrectingItem.objects.get().state == "erased"


def happen(event, maker, project, run, told, group):
    where = {"caller": maker, "project": project, "run_id": str(run.run_id)}
    if event == "record":
        said = CorrectionDraft(answer=Verdict.RIGHT, corrector_group_id=str(group) if group else None)
        record_correction(caller=maker, run_id=run.run_id, draft=said)
        told.record(maker.id, group)
    elif event == "remove" and maker.id in told.spoken:
        live = Correction.objects.get(made_by_id=maker.id, unregistered_at=None)
        remove_correction(caller=maker, correction_id=str(live.id))
        told.remove(maker.id)
    elif event == "dismiss":
        moved(lambda: dismiss_item(**where), allowed=told.move("open", "dismissed"))
    elif event == "reopen":
        moved(lambda: reopen_item(**where), allowed=told.move("dismissed", "open"))


def moved(move, *, allowed):
    if allowed:
        move()
        return
    with pytest.raises(ConflictError):
        move()
