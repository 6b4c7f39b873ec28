"""Pages of a workspace's administrators."""
