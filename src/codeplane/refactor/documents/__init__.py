"""Mentions of a symbol in comments and documentation, and how certain they are."""
