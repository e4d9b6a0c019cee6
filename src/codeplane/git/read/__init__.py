"""Git as it is asked: libgit2 and the command line, without locks, hooks or network."""
