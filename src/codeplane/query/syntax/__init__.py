"""How a file is built: what can be folded and selected, what is broken, and what its names are."""
