"""What a request says a correction is, in Python words: no Django, nothing stored."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from uuid import UUID

from corrections.vocabulary import RunStatus, ScopeKind, SubjectKind, Verdict
from kindgi_site.callers import ReviewerRole
from kindgi_site.exact_json import JsonText, canonical


@dataclass(frozen=True, slots=True)
class ExpectedCall:
    """A call that should have been made. `args_text` is the JSON object as sent; `{}` asks only for the call."""

    tool: str
    args: dict[str, object] = field(default_factory=dict)
    args_text: str = "{}"

    @property
    def args_canonical(self) -> str:
        return canonical(self.args)


@dataclass(frozen=True, slots=True)
class CorrectedItem:
    key: str
    verdict: Verdict
    pointer: str | None = None
    rank: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectionDraft:
    """Somebody's verdicts on one run; None or empty means not said (contract 7.2)."""

    decisions: Verdict | None = None
    should_call: tuple[ExpectedCall, ...] = ()
    must_not_call: tuple[str, ...] = ()
    answer: Verdict | None = None
    should_say: str | None = None
    why: str | None = None
    items: tuple[CorrectedItem, ...] = ()
    corrector_group_id: str | None = None
    participant_id: str | None = None

    @property
    def verdicts(self) -> set[Verdict]:
        said = {self.decisions, self.answer, *(item.verdict for item in self.items)}
        return {verdict for verdict in said if verdict is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDraft:
    """A run as handed in (contract 11.2). JSON parts are the texts that were sent; None means not sent."""

    run_id: UUID
    project_id: UUID
    subject_kind: SubjectKind
    subject_id: str
    subject_version: str
    status: RunStatus
    input: JsonText
    output: JsonText | None = None
    context: JsonText | None = None
    calls: JsonText | None = None
    segments: JsonText | None = None
    conversation_id: UUID | None = None
    via: str = ""
    failure_message: str | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    dry_run: bool = False
    parent_run_id: str = ""
    parent_node_id: str = ""
    replay_of: str = ""
    test_run_id: str = ""
    participant_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertableBy:
    """Who may speak for a restricted group: every part that is there must hold; one is always there."""

    min_reviewer_role: ReviewerRole | None = None
    principal_kinds: tuple[str, ...] = ()
    principal_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDraft:
    """A new group; what its scope does not have is None or empty."""

    name: str
    weight: float
    scope_kind: ScopeKind
    project_id: UUID | None = None
    agent_id: str = ""
    description: str = ""
    assertable_by: AssertableBy | None = None


class Unsaid(Enum):
    """Left out, where None says something."""

    UNSAID = "unsaid"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupChange:
    """What becomes different in a group. `assertable_by` None lifts the restriction."""

    weight: float | None = None
    description: str | None = None
    assertable_by: AssertableBy | Unsaid | None = Unsaid.UNSAID


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleWhen:
    """Which runs a correcting rule matches (contract 18.1); what is empty or None does not narrow."""

    agent_ids: tuple[str, ...] = ()
    flow_ids: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    status: tuple[str, ...] = ()
    include_dry_runs: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleDraft:
    """A correcting rule as it is to be. `max_open` None: no cap; `group_id` None: anybody's correction will do."""

    name: str
    when: RuleWhen = RuleWhen()
    sample: float = 1.0
    max_open: int | None = None
    group_id: str | None = None
    enabled: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleChange:
    """What becomes different in a rule; `when` is replaced whole. `max_open` or `group_id` None takes it away."""

    name: str | None = None
    when: RuleWhen | None = None
    sample: float | None = None
    max_open: int | Unsaid | None = Unsaid.UNSAID
    group_id: str | Unsaid | None = Unsaid.UNSAID
    enabled: bool | None = None
