"""HTML input of the correction form, read into a draft. Shape only."""

from corrections.forms.corrections import Correctable, CorrectionForm
from corrections.forms.steps import after_step

__all__ = ["Correctable", "CorrectionForm", "after_step"]
