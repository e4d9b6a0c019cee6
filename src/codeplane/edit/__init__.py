"""Changing files: all of a batch or none of it, whatever happens meanwhile."""
