"""Checkpoints: lint, test and commit changed files in one call."""
