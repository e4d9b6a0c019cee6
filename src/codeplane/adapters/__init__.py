"""One outside technology per file."""
