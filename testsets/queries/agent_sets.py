"""An agent's live test set: its corrections and hand cases, in the order they would be frozen (contract 15)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q, QuerySet

from corrections.models import Correction
from corrections.rules.agents import check_agent_id, known_id
from corrections.vocabulary import Status, SubjectKind
from kindgi_site.callers import Action, Caller
from kindgi_site.workspaces.models import Project
from kindgi_site.workspaces.permissions import check_project_action
from kindgi_site.workspaces.queries.projects import project_readable_by
from testsets.models import HandCase, TestSetVersion


@dataclass(frozen=True, slots=True)
class AgentSet:
    """One agent's live set in one project; an agent nobody has heard of has an empty one."""

    project: Project
    agent_id: str

    def every_correction(self) -> QuerySet[Correction]:
        """Of the agent, those too that are out of the set or were taken back."""
        return Correction.objects.filter(
            project=self.project, subject_kind=SubjectKind.AGENT, subject_id=known_id(self.agent_id)
        )

    def corrections(self) -> QuerySet[Correction]:
        """The live corrections in the set, newest corrected run first, without their copies.

        The agent is asked of the copies, whose index has this order. Asked of the corrections as well, which are of the
        same one, PostgreSQL would take them for few and compare each with each.
        """
        inside = Correction.objects.filter(
            unregistered_at__isnull=True,
            copy__project=self.project,
            copy__subject_kind=SubjectKind.AGENT,
            copy__subject_id=known_id(self.agent_id),
            copy__is_replay=False,
            copy__erased_at__isnull=True,
        )
        of_end_user = ~Q(participant_id="") | ~Q(participant_slot="")
        inside = inside.exclude(status=Status.WONT_FIX).exclude(of_end_user, sorted_to="")
        return inside.order_by("-copy__captured_at", "-id")

    def hand_cases(self) -> QuerySet[HandCase]:
        """Newest first; those that say nothing yet too."""
        cases = HandCase.objects.filter(project=self.project, agent_id=known_id(self.agent_id))
        return cases.filter(unregistered_at__isnull=True).order_by("-created_at", "-id")

    def latest_frozen(self) -> TestSetVersion | None:
        if not known_id(self.agent_id):
            return None
        frozen = TestSetVersion.objects.filter(
            test_set__project=self.project, frozen_agent_id=known_id(self.agent_id), unregistered_at__isnull=True
        )
        return frozen.select_related("test_set").order_by("-created_at", "-id").first()


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A case's place in the set; the set goes from the greatest to the least."""

    at: datetime
    is_hand: bool
    id: UUID


Member = Correction | HandCase


def agent_set_for(caller: Caller, action: Action, project_id: UUID, agent_id: str) -> AgentSet:
    """NotFoundError unless the project is readable, then ForbiddenError without `action` on it.

    An id that no agent can have has an empty set to read, and takes nothing in: InvalidError.
    """
    project = project_readable_by(caller, project_id)
    check_project_action(caller, action, project.id)
    if action != Action.READ:
        check_agent_id(agent_id)
    return AgentSet(project, agent_id)


def place_of(member: Member) -> Place:
    if isinstance(member, HandCase):
        return Place(member.created_at, True, member.id)  # noqa: FBT003 - a place is a plain tuple
    return Place(member.copy.captured_at, False, member.id)  # noqa: FBT003


def members_after(agent_set: AgentSet, after: Place | None, most: int) -> list[Member]:
    """Up to `most` members of the set from a place on, with their copies joined, in two statements."""
    corrections = agent_set.corrections().select_related("copy")
    hand_cases = agent_set.hand_cases()
    if after is not None:
        # The first condition is what the index is walked by; the second takes off what comes before the place.
        corrections = corrections.filter(copy__captured_at__lte=after.at)
        if not after.is_hand:
            corrections = corrections.exclude(copy__captured_at=after.at, id__gte=after.id)
        ahead = Q(created_at=after.at, id__gte=after.id) if after.is_hand else Q(created_at=after.at)
        hand_cases = hand_cases.filter(created_at__lte=after.at).exclude(ahead)
    members: list[Member] = [*corrections[:most], *hand_cases[:most]]
    return sorted(members, key=place_of, reverse=True)[:most]


def frozen_places(agent_set: AgentSet, most: int) -> list[Place]:
    """The places of the set's complete members in order, at most so many: what a freezing takes in."""
    corrections = agent_set.corrections().values_list("copy__captured_at", "id")[:most]
    hand_cases = agent_set.hand_cases().filter(is_incomplete=False).values_list("created_at", "id")[:most]
    places = [Place(at, False, key) for at, key in corrections]  # noqa: FBT003
    places += [Place(at, True, key) for at, key in hand_cases]  # noqa: FBT003
    return sorted(places, reverse=True)[:most]


def members_at(places: Sequence[Place]) -> list[Member]:
    """The members at some places, in their order, with their copies joined, in two statements."""
    corrections = Correction.objects.select_related("copy").in_bulk([place.id for place in places if not place.is_hand])
    hand_cases = HandCase.objects.in_bulk([place.id for place in places if place.is_hand])
    return [hand_cases[place.id] if place.is_hand else corrections[place.id] for place in places]
