"""What is kept of the repository so that questions are answered fast."""
