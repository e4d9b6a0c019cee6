"""Child processes and their pipes."""
