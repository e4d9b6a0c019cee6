"""Planning of renames: the places to change, how certain they are, and what prevents it."""
