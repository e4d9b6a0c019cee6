"""Stored decisions about refactorings, which answer the same question again."""
