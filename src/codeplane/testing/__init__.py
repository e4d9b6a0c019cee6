"""The tests of the repository: which there are, which are reached by a change, and how they went."""
