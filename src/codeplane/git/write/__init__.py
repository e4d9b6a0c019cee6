"""Git as it is changed: each mutation told in full and kept for undo."""
