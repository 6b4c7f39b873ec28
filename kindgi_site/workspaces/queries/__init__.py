"""Reads: who is asking, and what they may see of workspaces."""
