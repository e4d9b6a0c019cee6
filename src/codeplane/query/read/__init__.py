"""Files and folders as they are read."""
