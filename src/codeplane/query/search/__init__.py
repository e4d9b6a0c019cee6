"""Search: exact, by symbols, ranked and by meaning."""
