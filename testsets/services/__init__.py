"""Writes: building and freezing test sets, moving what is live, grading."""
