"""The words about a symbol: where comments and documentation speak of it, and how sure that is."""
