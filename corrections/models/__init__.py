"""Tables of runs under review and what people said of them."""

from corrections.models.agents import AgentOwner
from corrections.models.corrections import Correction
from corrections.models.erasures import Erasure
from corrections.models.groups import CorrectorGroup
from corrections.models.history import CorrectionEvent
from corrections.models.queue import CorrectingItem, CorrectingRule, CorrectingRuleVersion, RuleMatch, RuleSkip
from corrections.models.runs import Run, RunContent, RunCopy, RunTool

__all__ = [
    "AgentOwner",
    "CorrectingItem",
    "CorrectingRule",
    "CorrectingRuleVersion",
    "Correction",
    "CorrectionEvent",
    "CorrectorGroup",
    "Erasure",
    "RuleMatch",
    "RuleSkip",
    "Run",
    "RunContent",
    "RunCopy",
    "RunTool",
]
