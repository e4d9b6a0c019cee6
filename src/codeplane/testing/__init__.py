"""The tests of the repository: discovery, selection by impact, runs and their results."""
