"""Tables of runs under review and what people said of them."""

from corrections.models.agents import AgentOwner
from corrections.models.corrections import Correction
from corrections.models.erasures import Erasure
from corrections.models.groups import CorrectorGroup
from corrections.models.history import CorrectionEvent
from corrections.models.runs import Run, RunContent, RunCopy, RunTool

__all__ = [
    "AgentOwner",
    "Correction",
    "CorrectionEvent",
    "CorrectorGroup",
    "Erasure",
    "Run",
    "RunContent",
    "RunCopy",
    "RunTool",
]
