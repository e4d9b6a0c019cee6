"""Records of mutations, from which they can be undone."""
