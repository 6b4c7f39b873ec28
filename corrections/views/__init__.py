"""Pages and their fragments."""
