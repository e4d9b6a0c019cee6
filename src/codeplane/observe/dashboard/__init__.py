"""What the dashboard asks: calls, figures, boards and settings, from the log and its tables."""
