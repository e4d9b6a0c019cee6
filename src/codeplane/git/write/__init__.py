"""Git as it is changed: each mutation is answered in full and kept for undo."""
