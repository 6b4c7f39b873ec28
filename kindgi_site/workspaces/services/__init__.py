"""Writes to workspaces, people and keys."""
