"""Reads of test sets, live versions and test runs, with who may see them."""
