"""What to read next for a diff, a failure, a review comment or a task."""
