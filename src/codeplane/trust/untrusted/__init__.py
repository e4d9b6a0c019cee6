"""Untrusted content: which agents have read it, and how that affects their outward calls."""
