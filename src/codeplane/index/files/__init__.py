"""Which files belong to the repository, and whether what we know of them still holds."""
