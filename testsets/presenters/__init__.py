"""What the pages of test sets say, in words made here; no queries, no HTTP."""
