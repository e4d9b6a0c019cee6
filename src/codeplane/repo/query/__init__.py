"""Questions about the repository."""
