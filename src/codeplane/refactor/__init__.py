"""Renames, moves and deletes, planned from facts and applied as one mutation."""
