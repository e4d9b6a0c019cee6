"""Skills that assistants are given when they are chosen."""
