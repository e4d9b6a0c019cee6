"""What to read next: the public cases of Agent Retrieval Bench, for `context_for` and for baselines."""
