"""Git operations that change something; each is answered with its delta and kept for undo."""
