"""Accepting and limiting connections, for every surface that listens."""
