"""The audit: who changed what, who was refused what, as a table over the log."""
