"""What people say on the pages of test sets, as drafts."""
