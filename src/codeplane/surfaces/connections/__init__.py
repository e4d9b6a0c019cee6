"""Accepting connections and bounding them, for every surface that listens."""
