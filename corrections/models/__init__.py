"""Tables of runs under review and what people said of them."""

from corrections.models.corrections import Correction
from corrections.models.groups import CorrectorGroup
from corrections.models.runs import Run, RunContent, RunCopy, RunTool

__all__ = ["Correction", "CorrectorGroup", "Run", "RunContent", "RunCopy", "RunTool"]
