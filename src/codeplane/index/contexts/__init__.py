"""Which part of the repository a file belongs to: one context per language family and package root."""
