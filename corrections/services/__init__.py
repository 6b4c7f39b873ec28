"""Writes: the order of steps, locks and transactions."""
