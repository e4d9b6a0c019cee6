"""Composition: how the planes become a running CodePlane, and what is served around them."""
