"""Vectors of meaning: what makes them, what they are made of, and where they are kept."""
