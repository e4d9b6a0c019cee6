"""One call from a change to a commit: linted, tested, committed, and told in full."""
