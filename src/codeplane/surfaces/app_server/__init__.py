"""Codex's thread, turn and item protocol, for clients of its app server."""
