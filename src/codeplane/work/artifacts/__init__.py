"""Artifacts: what work leaves behind for people and later turns to look at."""
