"""Explorations: one call, and a caller has a first understanding of a repository, streamed and replayable."""
