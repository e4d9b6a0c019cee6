"""What a compiler's indexer said of the files, taken as authority while they are as it saw them. Opt-in."""
