"""Undo and redo of mutations."""
