"""Reads, with who may see what."""
