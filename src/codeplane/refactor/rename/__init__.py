"""Planning a rename: which places say the name, how sure that is, and what stands in the way."""
