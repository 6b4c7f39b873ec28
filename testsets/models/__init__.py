"""Tables of test sets, their versions and cases."""

from testsets.models.sets import TestCase, TestSet, TestSetVersion

__all__ = ["TestCase", "TestSet", "TestSetVersion"]
