"""Decisions about refactorings that count again for the same question."""
