"""What a person decides: actions, the answers that are remembered, and running what was approved exactly once."""
