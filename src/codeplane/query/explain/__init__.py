"""A symbol with all that is worth knowing of it."""
