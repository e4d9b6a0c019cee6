"""Read git through libgit2 and the command line, without locks, hooks or network."""
