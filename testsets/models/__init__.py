"""Tables of test sets and their cases, of live versions, and of test runs."""

from testsets.models.cases import HandCase
from testsets.models.live import LiveChange, LiveVersion
from testsets.models.sets import TestCase, TestSet, TestSetVersion
from testsets.models.test_runs import TestRun, TestRunCase, TestRunOutput

__all__ = [
    "HandCase",
    "LiveChange",
    "LiveVersion",
    "TestCase",
    "TestRun",
    "TestRunCase",
    "TestRunOutput",
    "TestSet",
    "TestSetVersion",
]
