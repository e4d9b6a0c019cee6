"""Child processes, and what they print."""
