"""Definitions and files that go away."""
