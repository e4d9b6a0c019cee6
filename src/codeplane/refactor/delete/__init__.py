"""Planning of deletions: symbols, files and folders."""
