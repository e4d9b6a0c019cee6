"""Readers of test reports, one format per file."""
