"""The audit: who changed or was refused what, as a table over the log."""
