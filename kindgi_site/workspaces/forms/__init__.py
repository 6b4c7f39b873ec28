"""HTML input of a workspace's pages. Shape only."""
