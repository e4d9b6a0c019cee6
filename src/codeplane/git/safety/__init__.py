"""Safe use of git: the sandboxed command line, losses that a call would cause, and recovery refs."""
