"""The dashboard's operations: calls, figures, tasks and settings, from the log and its tables."""
