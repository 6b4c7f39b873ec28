"""Query parameters that narrow lists of test runs."""

from django.db.models import QuerySet

from corrections.filters import ExactTextFilter, MomentFilter, WireFilterSet, WordsFilter
from corrections.vocabulary import SubjectKind
from testsets.models import TestRun

STATUSES = ("pending", "running", "completed", "failed", "cancelled")


class TestRunFilter(WireFilterSet):
    """The filters of `GET /v1/test-runs` (contract 17.3); `from` and `to` are inclusive."""

    __test__ = False

    testSetId = ExactTextFilter(field_name="version__test_set__name")
    status = WordsFilter(field_name="status", choices=[(word, word) for word in STATUSES])
    agentId = ExactTextFilter(method="of_agent")
    flowId = ExactTextFilter(method="of_flow")
    vars()["from"] = MomentFilter(field_name="started_at", lookup_expr="gte")  # a word of Python's
    to = MomentFilter(field_name="started_at", lookup_expr="lte")

    class Meta:
        model = TestRun
        fields: list[str] = []

    def of_agent(self, runs: QuerySet[TestRun], _name: str, agent_id: str) -> QuerySet[TestRun]:
        return runs.filter(subject_kind=SubjectKind.AGENT, subject_id=agent_id)

    def of_flow(self, runs: QuerySet[TestRun], _name: str, flow_id: str) -> QuerySet[TestRun]:
        return runs.filter(subject_kind=SubjectKind.FLOW, subject_id=flow_id)
