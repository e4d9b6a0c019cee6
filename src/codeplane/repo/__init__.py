"""The repository plane: what is in the repository, and answers about it."""
