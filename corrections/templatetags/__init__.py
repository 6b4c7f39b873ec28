"""Tags that print what the presenters made; none of them queries."""
