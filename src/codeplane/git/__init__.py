"""Git without a terminal: libgit2 reads, git itself writes."""
