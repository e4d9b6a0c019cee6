"""How the reports of test runners are read: one format a file."""
